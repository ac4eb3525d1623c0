#!/usr/bin/env bash
# release.sh VERSION builds a release into dist/: static stripped binaries for
# Linux and macOS, Debian packages, the Helm chart, an SBOM, checksums and their signature.
# The same commit and Go version give the same binaries.
#
#   SIGNING_KEY=~/.ssh/release scripts/release.sh v1.2.3
set -euo pipefail
cd "$(dirname "$0")/.."
version=${1:?usage: scripts/release.sh v1.2.3}
[[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$ ]] || { echo "release: $version is no version such as v1.2.3" >&2; exit 2; }
number=${version#v}
targets=${TARGETS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64}
command -v jq >/dev/null || { echo "release: needs jq" >&2; exit 2; }
tool() { go tool -modfile=tools/release/go.mod "$@"; }

rm -rf dist
mkdir -p dist
export CGO_ENABLED=0
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for target in $targets; do
  os=${target%/*} arch=${target#*/}
  echo "release: $os/$arch"
  folder=hale_${number}_${os}_${arch}
  mkdir "$work/$folder"
  GOOS=$os GOARCH=$arch go build -trimpath -ldflags "-s -w -X hale/internal/cli.release=$version" -o "$work/$folder/hale" ./cmd/hale
  cp LICENSE NOTICE README.md CHANGELOG.md "$work/$folder/"
  tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$work" -cf - "$folder" | gzip -9n >"dist/$folder.tar.gz"
done

# The packages use the binaries that were just built.
sed 's#/usr/local/bin/hale#/usr/bin/hale#' deploy/hale.service >"$work/hale.service"
host=$(go env GOOS)/$(go env GOARCH)
for target in $targets; do
  [ "${target%/*}" = linux ] || continue
  arch=${target#*/}
  binary=$work/hale_${number}_linux_$arch/hale
  if [ ! -f "$work/completion" ]; then
    if [ "$target" = "$host" ]; then "$binary" completion bash >"$work/completion"; else go run ./cmd/hale completion bash >"$work/completion"; fi
  fi
  echo "release: deb $arch"
  VERSION=$number ARCH=$arch BINARY=$binary UNIT=$work/hale.service COMPLETION=$work/completion \
    tool nfpm package --config deploy/deb/nfpm.yaml --packager deb --target dist/
done

echo "release: chart"
cp -r deploy/helm/hale "$work/chart"
sed -i.bak "s/^version: .*/version: $number/; s/^appVersion: .*/appVersion: $number/" "$work/chart/Chart.yaml" && rm "$work/chart/Chart.yaml.bak"
tool helm package "$work/chart" --destination dist >/dev/null

echo "release: SBOM"
tool cyclonedx-gomod app -json -licenses -packages=false -main cmd/hale -output "$work/modules.cdx.json" . >/dev/null
# The modules embed programs and fonts that cyclonedx-gomod does not see.
jq --slurpfile embedded scripts/sbom-components.json '.components += $embedded[0]' "$work/modules.cdx.json" >"dist/hale_$number.cdx.json"

echo "release: checksums"
(cd dist && sha256sum -- *) >"$work/SHA256SUMS"
mv "$work/SHA256SUMS" dist/SHA256SUMS

if [ -n "${SIGNING_KEY:-}" ]; then
  echo "release: signature"
  ssh-keygen -q -Y sign -n hale-release -f "$SIGNING_KEY" dist/SHA256SUMS
else
  echo "release: NOT SIGNED: SIGNING_KEY names no SSH key" >&2
fi
ls -l dist
