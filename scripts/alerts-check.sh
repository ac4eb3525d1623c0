#!/usr/bin/env bash
# Checks the alerts in deploy/prometheus, and triggers each one. promtool is part of
# Debian's package prometheus. If it is missing, root on Debian takes it from the
# package, without installing the server.
set -euo pipefail
cd "$(dirname "$0")/.."

promtool=$(command -v promtool || true)
if [ -z "$promtool" ]; then
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "alerts-check: install promtool, Debian's package prometheus" >&2
    [ -z "${CI:-}" ]
    exit
  fi
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  chmod 755 "$folder"
  (cd "$folder" && { apt-get download prometheus || { apt-get update && apt-get download prometheus; }; }) </dev/null >&2
  dpkg-deb --fsys-tarfile "$folder"/prometheus_*.deb | tar -x -C "$folder" ./usr/bin/promtool
  promtool=$folder/usr/bin/promtool
fi
"$promtool" check rules deploy/prometheus/hale.rules.yml
"$promtool" test rules deploy/prometheus/hale.test.yml
