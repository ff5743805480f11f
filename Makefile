# Truss. `make` lists the targets; each builds what it needs from a fresh clone
# with nothing but Go, git and, for the race detector, a C compiler.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO    ?= go
BIN   := $(CURDIR)/bin
TOOLS := $(BIN)/tools

# Without git (a source archive) the binary reports its build information.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)
LDFLAGS := -s -w $(if $(VERSION),-X github.com/truss-dev/truss/internal/version.stamped=$(VERSION))

# Packages tested at once. Several of them start a control plane of their own.
TEST_PARALLEL ?= 2
TEST_TIMEOUT  ?= 30m
RACE          ?= -race
PKG           ?= ./...
FUZZTIME      ?= 10s

# Every module of the repository; the leaves come after the root.
MODULES := . $(patsubst ./%/go.mod,%,$(shell find . -mindepth 2 -name go.mod -not -path './bin/*' | sort))
LEAVES  := $(filter-out .,$(MODULES))

.PHONY: help
help: ## List the targets.
	@awk -F':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' Makefile

.PHONY: build
build: ## Build bin/truss, a static binary.
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN)/truss ./cmd/truss

.PHONY: local
local: ## Build the local control plane into bin/local (about 7 minutes once).
	@$(MAKE) --no-print-directory -C deploy/local

.PHONY: demo
demo: local ## Run the demonstration on a local control plane.
	@[ -x $(BIN)/truss ] || echo "Building bin/truss, once for a minute or two."
	@$(MAKE) --no-print-directory --silent build
	@CGO_ENABLED=0 $(GO) build -trimpath -o $(BIN)/demo ./internal/demo
	@exec $(BIN)/demo -truss $(BIN)/truss

.PHONY: test
test: local ## Run every test, with the race detector, on a local control plane.
	TRUSS_REQUIRE_LOCAL=1 $(GO) test $(RACE) -p $(TEST_PARALLEL) -timeout $(TEST_TIMEOUT) $(PKG)
	@for m in $(LEAVES); do \
		cd "$(CURDIR)/$$m"; \
		if [ -n "$$($(GO) list ./... 2>/dev/null)" ]; then echo "vet $$m"; CGO_ENABLED=0 $(GO) vet ./...; fi; \
	done

.PHONY: bench
bench: local ## Run the benchmark suite.
	$(GO) run ./bench

.PHONY: bench-quick
bench-quick: local ## Run a short benchmark suite.
	$(GO) run ./bench -quick

.PHONY: lint
lint: $(TOOLS)/golangci-lint ## Run the linters.
	$(TOOLS)/golangci-lint run ./...

.PHONY: fix
fix: $(TOOLS)/golangci-lint ## Apply what the linters can mend by themselves; PKG narrows it.
	$(TOOLS)/golangci-lint run --fix $(PKG)

.PHONY: generate
generate: ## Regenerate deep copies, CRDs and tables in the documentation.
	$(GO) generate ./...

.PHONY: verify
verify: tidy-check ## Check that modules are tidy and that generated files are up to date.
	@state() { git status --porcelain; git diff HEAD | git hash-object --stdin; }; \
	before=$$(state); \
	$(MAKE) --no-print-directory generate; \
	[ "$$before" = "$$(state)" ] || { git status --short; git diff --exit-code; echo "verify: 'make generate' changes files; commit what it writes"; exit 1; }

.PHONY: tidy-check
tidy-check: ## Check that every module is tidy.
	@failed=0; for m in $(MODULES); do \
		echo "tidy $$m"; (cd "$$m" && $(GO) mod tidy -diff) || failed=1; \
	done; exit $$failed

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME (10s).
	@.ci/fuzz $(FUZZTIME)

.PHONY: clean
clean: ## Remove what was built; the module and build caches stay.
	rm -rf $(BIN) bench/out

# Both tools are pinned in internal/tools. controller-gen is run by go generate
# through `go tool -modfile`; golangci-lint is big, and is built once.
$(TOOLS)/golangci-lint: internal/tools/go.mod internal/tools/go.sum
	cd internal/tools && CGO_ENABLED=0 $(GO) build -trimpath -o $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
