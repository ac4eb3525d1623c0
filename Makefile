# The commands of this repository. `make` alone lists them.

GO       ?= go
TOOL     := $(GO) tool -modfile=tools/go.mod
WITH_PG  := $(GO) run ./internal/platform/store/pgtemp/with-postgres
PACKAGES ?= ./...
TIMEOUT  ?= 20m
# One package more than there are cores is tested at once, because many tests wait.
ATONCE   ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))
FUZZTIME ?= 20s
CYCLES   ?= 200
MESSAGES ?= 10000
CHECKS   ?= 1000
ENGINES  ?= sqlite,postgres
DAYS     ?= 30
RUNS     ?= 1
LENGTH   ?= 10m

# Nothing here needs cgo. With one setting for all targets, tests and binaries share
# compiled packages.
export CGO_ENABLED ?= 0

.DEFAULT_GOAL := help
.PHONY: help run build release image-check chart-check alerts-check test race cover truth fuzz walk hostile crash mirror bench growth report-eval tour check lint vuln fmt vet generate generate-check

help: ## print this list
	@awk 'BEGIN {FS = ":.*## "} \
		/^## / {printf "\n%s\n", substr($$0, 4)} \
		/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo 'With parameters:      make test PACKAGES=./internal/people/users/...   make fuzz FUZZ=formats/ FUZZTIME=10m'
	@echo '                      make crash CYCLES=1000 ENGINES=sqlite     make bench ENGINES=postgres'

## Use
run: ## start the service on this machine, data in ./hale-data
	$(GO) run ./cmd/hale serve

build: ## build one static, stripped binary, bin/hale
	$(GO) build -trimpath -ldflags '-s -w' -o bin/hale ./cmd/hale

tour: build ## run the README's commands in an empty folder and measure their times; write tour.txt; RELEASE=ARCHIVE takes a released binary
	scripts/tour.sh $(or $(RELEASE),bin/hale) tour.txt

## Release
release: ## build VERSION=v1.2.3 in dist/: binaries, deb packages, chart, SBOM and checksums
	scripts/release.sh $(VERSION)

image-check: ## build and run the container image's content without a Docker engine
	scripts/image-check.sh

chart-check: ## lint and render the Helm chart
	scripts/chart-check.sh

alerts-check: ## check the Prometheus alerts and trigger each one, with promtool
	scripts/alerts-check.sh

## Every change
test: ## run all tests, on SQLite and on a PostgreSQL of its own
	@scripts/ensure.sh postgres chromium sshd tesseract clients
	$(WITH_PG) $(GO) test -vet=off -p $(ATONCE) -timeout $(TIMEOUT) $(PACKAGES)

lint: vet ## run gofumpt, goimports, go vet, the language tests, staticcheck and golangci-lint, as pinned in tools/go.mod
	@scripts/unformatted.sh
	$(GO) test -vet=off ./internal -run 'English|TestPackageNames|TestFileNames|TestPackageComments|TestFunctionComments'
	$(TOOL) staticcheck $(PACKAGES)
	$(TOOL) golangci-lint run $(PACKAGES)

vuln: ## find known vulnerabilities in called code, from https://vuln.go.dev
	@scripts/vuln.sh

check: generate-check lint vuln alerts-check test ## run the checks of CI

fmt: ## format the Go files
	$(TOOL) gofumpt -w $$(scripts/go-files.sh)
	$(TOOL) goimports -local hale -w $$(scripts/go-files.sh)

vet:
	$(GO) vet $(PACKAGES)

generate: ## rewrite generated files: openapi.json, order-states.md and resources.md in docs/
	$(GO) generate ./...

generate-check: ## fail if a generated file or go.mod is out of date
	@scripts/generate-check.sh

## Long-running targets
race: ## run all tests with the race detector
	@scripts/ensure.sh postgres chromium sshd gcc clients
	$(WITH_PG) env CGO_ENABLED=1 $(GO) test -race -timeout 90m $(PACKAGES)

cover: ## print the coverage of all tests by function
	@scripts/ensure.sh postgres chromium sshd clients
	$(WITH_PG) $(GO) test -timeout $(TIMEOUT) -coverpkg=./internal/... -coverprofile=cover.out $(PACKAGES)
	$(GO) tool cover -func=cover.out

truth: ## send CHECKS random requests to each operation and check every answer and refusal against the OpenAPI document
	@scripts/ensure.sh postgres
	$(WITH_PG) $(GO) test -timeout 12h ./internal/apitest -run 'TestEveryAnswerIsInTheDocument|TestTheDocumentStatesEveryRefusal' -rapid.checks $(CHECKS)

fuzz: ## run every fuzz target for FUZZTIME
	@FUZZTIME=$(FUZZTIME) scripts/fuzz.sh

walk: ## send a million random triggers to orders on each engine
	@scripts/ensure.sh postgres
	$(WITH_PG) $(GO) test ./internal/labs/orders -run TestRandomWalks -steps 1000000 -timeout 0 -v

hostile: ## read every hostile lab report and print the answers
	@scripts/ensure.sh tesseract
	$(GO) test ./internal/labs/reports/reader/ -run TestHostileFiles -hostile

crash: ## kill the server CYCLES times under load and check every acknowledged write, on each engine
	@scripts/ensure.sh postgres
	$(GO) run ./crash -cycles $(CYCLES) -engines $(ENGINES)
	$(GO) test ./internal/labs/inbox -run TestResultsSurviveKills -messages $(MESSAGES) -kills 40 -timeout 0 -v
	$(GO) test ./internal/labs/reports -run TestUploadsSurviveKills -uploads 3000 -kills 40 -timeout 0 -v

mirror: ## compare copies from feed, webhooks and docs/examples with the API, RUNS times for LENGTH, on each engine
	@scripts/ensure.sh postgres clients
	$(GO) run ./mirror -for $(LENGTH) -runs $(RUNS) -engines $(ENGINES)

bench: ## measure rates and their ratios to baselines, as docs/performance.md describes
	@scripts/ensure.sh postgres
	$(GO) run ./bench -engines $(ENGINES) $(BENCH)

report-eval: ## measure the reading of generated lab reports, scans, photos and faxes, for the tables of docs/reports.md
	@scripts/ensure.sh chromium office fonts tesseract
	$(GO) run ./bench/reports $(REPORTS)

growth: ## measure each call at 1,000 and 64,000 people and at 10,000 and 1,000,000 orders
	@scripts/ensure.sh postgres
	$(GO) run ./bench -growth -engines $(ENGINES) -days $(DAYS) $(BENCH)
