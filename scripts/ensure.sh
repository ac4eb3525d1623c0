#!/usr/bin/env bash
# ensure.sh THING... makes sure that this machine has what the tests use:
#   postgres   initdb and postgres; never a running server, the tests start their own
#   chromium   a browser for the portal's tests
#   sshd       OpenSSH's server, which the tests of SFTP start as their own
#   tesseract  recognises the text of scans, with its English model
#   office     LibreOffice's writer, which prints reports for make report-eval
#   fonts      the Liberation fonts of those reports, because other fonts change the figures
#   gcc        the C compiler that the race detector needs
#   clients    the reference's client libraries and linters, by npm, for the tests in clients/
# Root on Debian installs a missing one with apt. For other users it prints the packages
# to install, and the tests that need them skip with a message. In CI that is a failure.
set -uo pipefail

have() {
  case $1 in
    postgres) have_postgres ;;
    chromium) command -v chromium chromium-browser google-chrome headless-shell >/dev/null ;;
    sshd)     [ -x /usr/sbin/sshd ] ;;
    gcc)      command -v gcc >/dev/null ;;
    tesseract) command -v tesseract >/dev/null && tesseract --list-langs 2>/dev/null | grep -qx eng ;;
    office)   command -v soffice >/dev/null ;;
    fonts)    fc-list 2>/dev/null | grep -q 'Liberation Sans' ;;
    *)        echo "ensure: unknown thing: $1" >&2; exit 2 ;;
  esac
}

have_postgres() {
  [ -x "${HALE_POSTGRES_BIN:-/nonexistent}/initdb" ] && return 0
  compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null && return 0
  compgen -G '/usr/pgsql-*/bin/initdb' >/dev/null && return 0
  compgen -G '/opt/homebrew/opt/postgresql*/bin/initdb' >/dev/null && return 0
  compgen -G '/usr/local/opt/postgresql*/bin/initdb' >/dev/null && return 0
  command -v initdb >/dev/null
}

package() {
  case $1 in
    postgres) echo postgresql ;;
    sshd)     echo openssh-server ;;
    tesseract) echo tesseract-ocr ;;
    office)   echo libreoffice-writer-nogui ;;
    fonts)    echo fonts-liberation ;;
    *)        echo "$1" ;;
  esac
}

install() {
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
  echo "ensure: installing $*" >&2
  {
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" ||
      { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"; }
  } </dev/null >&2
}

# The libraries are not packages of Debian, and their registry may be unreachable. Without
# them the walks skip, in CI too.
clients() {
  local installed=clients/node_modules/.installed-lock.json # a copy: times say nothing about content
  cmp -s clients/package-lock.json "$installed" && return
  if ! command -v npm >/dev/null; then
    echo "ensure: npm is missing; the walks of the reference's client libraries will skip" >&2
    return
  fi
  echo "ensure: installing the reference's client libraries" >&2
  if npm ci --prefix clients --no-audit --no-fund --loglevel=error </dev/null >&2; then
    cp clients/package-lock.json "$installed"
  else
    echo "ensure: npm could not install them; their walks will skip" >&2
  fi
}

things=()
for thing in "$@"; do
  if [ "$thing" = clients ]; then (cd "$(dirname "$0")/.." && clients); else things+=("$thing"); fi
done

missing=()
for thing in "${things[@]}"; do
  have "$thing" || missing+=("$(package "$thing")")
done
[ ${#missing[@]} = 0 ] && exit 0
install "${missing[@]}"

status=0
for thing in "${things[@]}"; do
  if ! have "$thing"; then
    echo "ensure: $thing is missing (Debian: sudo apt-get install $(package "$thing")); tests that need it will skip" >&2
    [ "${CI:-}" = true ] && status=1
  fi
done
exit $status
