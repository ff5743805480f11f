# The image of the manager and of Template Stack Managers: one static binary,
# root certificates to reach registries with, and an unprivileged user. It runs
# with a read-only root file system.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false \
    -ldflags "-s -w ${VERSION:+-X github.com/truss-dev/truss/internal/version.stamped=${VERSION}}" -o /out/truss ./cmd/truss

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/truss /truss
USER 65532:65532
ENTRYPOINT ["/truss"]
CMD ["manager"]
