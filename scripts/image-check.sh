#!/usr/bin/env bash
# image-check.sh checks deploy/Dockerfile without a Docker engine. It runs the build
# commands of the first stage here, and copies the files of the last stage to a folder.
# There it starts the service like the image: as the image's user, with its environment,
# and without access to other files.
#
# It cannot check the base image or the registry. Starting the service needs
# root, for chroot; without root it checks the files only.
set -euo pipefail
cd "$(dirname "$0")/.."
dockerfile=deploy/Dockerfile
root=$(mktemp -d) build=$(mktemp -d) server=
trap '[ -z "$server" ] || kill -9 "$server" 2>/dev/null || true; rm -rf "$root" "$build"' EXIT
fail() { echo "image-check: $*" >&2; exit 1; }
say() { echo "image-check: $*"; }

# The base image has the Go version that go.mod asks for.
want=$(awk '$1 == "go" {split($2, v, "."); print v[1] "." v[2]}' go.mod)
grep -q "^FROM golang:$want AS build\$" "$dockerfile" || fail "the first stage must start with golang:$want, as go.mod says"

# Every file that is copied from the context exists, and secrets stay outside.
for file in go.mod go.sum LICENSE NOTICE; do [ -f "$file" ] || fail "$file is missing"; done
for secret in deploy/root.key deploy/database-url deploy/database-password deploy/first-key '*.db'; do
  grep -qxF "$secret" .dockerignore || fail ".dockerignore does not exclude $secret"
done

# The last stage installs the program that reads scans. The check cannot run the command.
sed -n '/^FROM debian:/,$p' "$dockerfile" | grep -q '^RUN apt-get update && apt-get install .* tesseract-ocr ' || fail "the last stage does not install tesseract-ocr"

# First stage: the exact go build command of the Dockerfile.
command=$(sed -n 's/^RUN \(CGO_ENABLED=0 go build .*\)$/\1/p' "$dockerfile")
[ -n "$command" ] || fail "no go build command found"
say "building: $command"
(VERSION=v0.0.0-check; eval "${command/-o \/hale/-o \"$build/hale\"}")
file=$(od -An -tx1 -N4 "$build/hale" | tr -d ' ')
[ "$file" = 7f454c46 ] || fail "the binary is no ELF file"
if command -v readelf >/dev/null; then
  ! readelf -l "$build/hale" | grep -q INTERP || fail "the binary is not static"
  ! readelf -S "$build/hale" | grep -q '\.symtab' || fail "the binary is not stripped"
fi
[ "$("$build/hale" version -o json | tr -d ' \n' | sed 's/.*"version":"\([^"]*\)".*/\1/')" = v0.0.0-check ] || fail "the version is not stamped"

# Last stage: its COPY lines.
mkdir -p "$root/etc/ssl/certs" "$root/data" "$root/tmp"
chmod 700 "$root/data"; chmod 1777 "$root/tmp"
cp "$build/hale" "$root/hale"
mkdir -p "$root/proc/self"; ln -s /hale "$root/proc/self/exe" # hale starts itself to read lab reports
cp LICENSE NOTICE "$root/"
[ -f /etc/ssl/certs/ca-certificates.crt ] && cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
say "content: $(du -sm "$root" | cut -f1) MB"
user=$(awk '$1 == "USER" {print $2}' "$dockerfile")
[[ $user =~ ^[1-9][0-9]*:[1-9][0-9]*$ ]] || fail "USER must name a numeric user that is not root"
[ "$(id -u)" = 0 ] || { say "ok; not root, so the service was not started"; exit 0; }

# The service starts, becomes ready, and stops on the signal of the image.
chown "$user" "$root/data"
chmod 755 "$root"
env=($(awk '$1 == "ENV" {for (i = 2; i <= NF; i++) print $i}' "$dockerfile"))
env+=(HALE_LISTEN=127.0.0.1:0 HALE_METRICS_LISTEN=off) # any free port of this machine
env -i "${env[@]}" "$(command -v chroot)" --userspec="$user" "$root" /hale serve >"$build/out" 2>"$build/log" &
server=$!
for _ in $(seq 100); do
  url=$(grep -ho 'http://127\.0\.0\.1:[0-9]*' "$build/out" "$build/log" | head -1 || true)
  [ -n "$url" ] && [ "$(curl -s -o /dev/null -w '%{http_code}' "$url/readyz" || true)" = 200 ] && break
  kill -0 "$server" 2>/dev/null || { cat "$build/out" "$build/log" >&2; fail "the service ended"; }
  sleep 0.2
done
[ "$(curl -s -o /dev/null -w '%{http_code}' "$url/readyz")" = 200 ] || { cat "$build/log" >&2; fail "the service did not get ready"; }
signal=$(awk '$1 == "STOPSIGNAL" {print $2}' "$dockerfile")
kill -s "${signal#SIG}" "$server"
code=0; wait "$server" || code=$?
server=
[ "$code" = 0 ] || { cat "$build/log" >&2; fail "the service ended with $code on $signal"; }
[ -f "$root/data/hale.db" ] || fail "the database is not in /data"
say "ok"
