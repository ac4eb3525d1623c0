#!/usr/bin/env bash
# chart-check.sh checks the Helm chart with helm's own lint, and the rendered files for
# both engines.
set -euo pipefail
cd "$(dirname "$0")/.."
helm() { go tool -modfile=tools/release/go.mod helm "$@"; }
chart=deploy/helm/hale
fail() { echo "chart-check: $*" >&2; exit 1; }
has() { grep -qE "$1" <<<"$rendered" || fail "$3: nothing matches $1 ($2)"; }

common=(--set baseURL=https://health.invalid)
helm lint --strict "$chart" "${common[@]}" >/dev/null
rendered=$(helm template one "$chart" "${common[@]}" --set engine=sqlite --set replicas=3)
has 'replicas: 1$' 'one node' sqlite
! grep -q HALE_DATABASE_FILE <<<"$rendered" || fail "sqlite: a database is set"
rendered=$(helm template two "$chart" "${common[@]}" --set engine=postgres --set replicas=3 --set ingress.enabled=true --set ingress.host=health.invalid --set networks.secretName=labs --set networks.port=2575)
has 'replicas: 3$' 'three nodes' postgres
has 'HALE_DATABASE_FILE' 'the database' postgres
has 'kind: PodDisruptionBudget' 'a disruption budget' postgres
has 'kind: Ingress' 'an ingress' postgres
has 'containerPort: 2575' 'the HL7 port' postgres
if helm template bad "$chart" >/dev/null 2>&1; then fail "production without baseURL is accepted"; fi
if helm template bad "$chart" "${common[@]}" --set engine=mysql >/dev/null 2>&1; then fail "an unknown engine is accepted"; fi

# Every environment variable of the chart is a setting.
for name in $(grep -oE 'HALE_[A-Z_]+' "$chart/templates/statefulset.yaml" | sort -u); do
  grep -q "\"${name%_FILE}\"" internal/platform/config/settings.go || fail "$name is no setting"
done
echo "chart-check: ok"
