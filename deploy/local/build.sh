#!/bin/sh
# Builds the binaries of the local control plane into the directory $1, from
# the Go module proxy alone. Nothing is built when the stamp beside them says
# that they came from the same inputs: comparing those takes well under a
# second, where asking the Go tool takes several.
set -eu

out=${1:?usage: build.sh DIRECTORY}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$here"

outputs="etcd kube-apiserver kube-controller-manager kube-scheduler kubectl kwok kwok.x-k8s.io_stages.yaml"
version=$(sed -n "s|^[[:space:]]*k8s.io/kubernetes \(v[0-9.]*\).*|\1|p" go.mod)
kwok_version=$(sed -n "s|^[[:space:]]*sigs.k8s.io/kwok \(v[0-9.]*\).*|\1|p" kwok/go.mod)
major=$(echo "$version" | cut -d. -f1 | tr -d v)
minor=$(echo "$version" | cut -d. -f2)

inputs=$({ go version; go env GOOS GOARCH; cat build.sh go.mod go.sum etcd/main.go kwok/go.mod kwok/go.sum; } | cksum)
missing=""
for f in $outputs; do
	[ -f "$out/$f" ] || missing="$missing $f"
done
if [ -z "$missing" ] && [ "$(cat "$out/.stamp" 2>/dev/null)" = "$inputs" ]; then
	exit 0
fi

echo "building Kubernetes $version and KWOK $kwok_version into $out (about 7 minutes on 2 cores the first time)" >&2
rm -f "$out/.stamp"
stamp=""
for pkg in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
	stamp="$stamp -X $pkg.gitVersion=$version -X $pkg.gitMajor=$major -X $pkg.gitMinor=$minor -X $pkg.gitTreeState=clean"
done
export CGO_ENABLED=0 GOWORK=off
go build -trimpath -buildvcs=false -ldflags "-s -w $stamp" -o "$out/" ./etcd tool
kwok_source=$(cd kwok && go list -m -f '{{.Dir}}' sigs.k8s.io/kwok)
cp -f "$kwok_source/kustomize/crd/bases/kwok.x-k8s.io_stages.yaml" "$out/"
chmod 644 "$out/kwok.x-k8s.io_stages.yaml"
(cd kwok && go build -trimpath -buildvcs=false \
	-ldflags "-s -w -X sigs.k8s.io/kwok/pkg/consts.Version=$kwok_version" -o "$out/" tool)
echo "$inputs" > "$out/.stamp"
