# Hale's house. `make` alone lists what can be made.

GO       ?= go
TOOL     := $(GO) tool -modfile=tools/go.mod
WITH_PG  := $(GO) run ./internal/platform/store/pgtemp/with-postgres
PACKAGES ?= ./...
TIMEOUT  ?= 20m
# One package more is tested than there are cores: many wait for time to pass.
ATONCE   ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))
FUZZTIME ?= 20s
CYCLES   ?= 200
MESSAGES ?= 10000
CHECKS   ?= 1000
ENGINES  ?= sqlite,postgres
DAYS     ?= 30
RUNS     ?= 1
LENGTH   ?= 10m

# Nothing here needs cgo. Said once for all, tests and binaries share what was
# compiled.
export CGO_ENABLED ?= 0

.DEFAULT_GOAL := help
.PHONY: help run build release image-check chart-check alerts-check test race cover truth fuzz walk hostile crash mirror bench growth report-eval tour check lint vuln fmt vet generate generate-check

help: ## this list
	@awk 'BEGIN {FS = ":.*## "} \
		/^## / {printf "\n%s\n", substr($$0, 4)} \
		/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo 'Narrow or widen one:  make test PACKAGES=./internal/people/users/...   make fuzz FUZZ=formats/ FUZZTIME=10m'
	@echo '                      make crash CYCLES=1000 ENGINES=sqlite     make bench ENGINES=postgres'

## Use it
run: ## start the service on this machine, data in ./hale-data
	$(GO) run ./cmd/hale serve

build: ## one static, stripped binary, bin/hale
	$(GO) build -trimpath -ldflags '-s -w' -o bin/hale ./cmd/hale

tour: build ## the README's path from an empty folder, timed; the record is tour.txt
	scripts/tour.sh bin/hale tour.txt

## Release it
release: ## VERSION=v1.2.3: binaries, deb packages, chart, SBOM and checksums in dist/
	scripts/release.sh $(VERSION)

image-check: ## build and run the content of the container image without a Docker engine
	scripts/image-check.sh

chart-check: ## lint and render the Helm chart
	scripts/chart-check.sh

alerts-check: ## check the Prometheus alerts and trigger each one, with promtool
	scripts/alerts-check.sh

## Every change
test: ## every test, on SQLite and on a PostgreSQL that it brings along; vet is lint's
	@scripts/ensure.sh postgres chromium sshd tesseract clients
	$(WITH_PG) $(GO) test -vet=off -p $(ATONCE) -timeout $(TIMEOUT) $(PACKAGES)

lint: vet ## gofumpt, goimports, go vet, the rules of English, staticcheck, golangci-lint; the tools are pinned in tools/go.mod
	@scripts/unformatted.sh
	$(GO) test -vet=off ./internal -run 'English|TestPackageNames|TestFileNames|TestPackageComments|TestFunctionComments'
	$(TOOL) staticcheck $(PACKAGES)
	$(TOOL) golangci-lint run $(PACKAGES)

vuln: ## known vulnerabilities in the code that is called, from https://vuln.go.dev
	@scripts/vuln.sh

check: generate-check lint vuln alerts-check test ## all that CI runs

fmt: ## rewrite the Go files in the one format
	$(TOOL) gofumpt -w $$(scripts/go-files.sh)
	$(TOOL) goimports -local hale -w $$(scripts/go-files.sh)

vet:
	$(GO) vet $(PACKAGES)

generate: ## rewrite generated files: docs/openapi.json, docs/order-states.md
	$(GO) generate ./...

generate-check: ## fail when a generated file or go.mod is not what would be generated
	@scripts/generate-check.sh

## The long ones
race: ## every test under the race detector
	@scripts/ensure.sh postgres chromium sshd gcc clients
	$(WITH_PG) env CGO_ENABLED=1 $(GO) test -race -timeout 90m $(PACKAGES)

cover: ## coverage of the whole suite, printed by function
	@scripts/ensure.sh postgres chromium sshd clients
	$(WITH_PG) $(GO) test -timeout $(TIMEOUT) -coverpkg=./internal/... -coverprofile=cover.out $(PACKAGES)
	$(GO) tool cover -func=cover.out

truth: ## CHECKS drawn requests to each operation, every answer held against the OpenAPI document
	@scripts/ensure.sh postgres
	$(WITH_PG) $(GO) test -timeout 12h ./internal/apitest -run TestEveryAnswerIsInTheDocument -rapid.checks $(CHECKS)

fuzz: ## every fuzz target in the tree, FUZZTIME each
	@FUZZTIME=$(FUZZTIME) scripts/fuzz.sh

walk: ## a million random triggers on orders in each database
	@scripts/ensure.sh postgres
	$(WITH_PG) $(GO) test ./internal/labs/orders -run TestRandomWalks -steps 1000000 -timeout 0 -v

hostile: ## read every hostile lab report, each with its answer
	@scripts/ensure.sh tesseract
	$(GO) test ./internal/labs/reports/reader/ -run TestHostileFiles -hostile

crash: ## CYCLES times kill -9 under load, with an oracle outside; on each engine
	@scripts/ensure.sh postgres
	$(GO) run ./crash -cycles $(CYCLES) -engines $(ENGINES)
	$(GO) test ./internal/labs/inbox -run TestResultsSurviveKills -messages $(MESSAGES) -kills 40 -timeout 0 -v
	$(GO) test ./internal/labs/reports -run TestUploadsSurviveKills -uploads 3000 -kills 40 -timeout 0 -v

mirror: ## RUNS runs of LENGTH: copies kept from feed and webhooks, also by docs/examples, equal the API; on each engine
	@scripts/ensure.sh postgres clients
	$(GO) run ./mirror -for $(LENGTH) -runs $(RUNS) -engines $(ENGINES)

bench: ## rates and their ratios to bare loops; the method is in docs/performance.md
	@scripts/ensure.sh postgres
	$(GO) run ./bench -engines $(ENGINES) $(BENCH)

report-eval: ## how well generated lab reports, scans, photos and faxes are read; the tables are in docs/reports.md
	@scripts/ensure.sh chromium office fonts tesseract
	$(GO) run ./bench/reports $(REPORTS)

growth: ## p50 and p99 of each call at 1,000 and 64,000 people and at 10,000 and 1,000,000 orders
	@scripts/ensure.sh postgres
	$(GO) run ./bench -growth -engines $(ENGINES) -days $(DAYS) $(BENCH)
