# The targets a person needs; `make help` lists them.
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT := $(shell git rev-parse HEAD 2>/dev/null)
LDFLAGS := -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)
FUZZTIME ?= 10m
SOAK ?= 30m
TRACES ?= ../shared/traces
# The profile of a load that builds are optimised by; off leaves it out, which
# saves two minutes where nothing was built before.
PGO ?= test/load/cmd/profile/haltd.pgo

.PHONY: help run build release check vet vitest test packages modules verify soak bench pgo quality train reference fuzz screenshots

help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' Makefile | awk -F ':.*## ' '{printf "  make %-11s %s\n", $$1, $$2}'

run: build ## build and start haltd on 127.0.0.1:7070 (gateway) and :7071 (admin)
	exec ./bin/haltd serve

build: web/static/app/index.html ## leave the binary, dashboard included, at bin/haltd
	go build -trimpath -pgo=$(PGO) -ldflags '$(LDFLAGS)' -o bin/haltd ./cmd/haltd

EPOCH := $(shell git log -1 --format=%ct 2>/dev/null || echo 0)

release: web/static/app/index.html ## write dist/: archives for linux and macOS, checksums, SBOM, licences; the same bytes for the same commit
	go run ./test/release -version $(VERSION) -commit "$(COMMIT)" -epoch $(EPOCH) -out dist

# The dashboard takes its types from the API's own description.
DASHBOARD := $(shell find web/src web/public web/index.html web/package-lock.json web/*.ts web/*.json -type f ! -name openapi.json ! -name schema.d.ts 2>/dev/null)
API := $(filter-out %_test.go,$(wildcard *.go internal/admin/*.go))

web/static/app/index.html: $(DASHBOARD) $(API) web/node_modules/.package-lock.json
	go run ./cmd/haltd openapi > web/openapi.json
	cd web && npm run build

web/node_modules/.package-lock.json: web/package-lock.json
	cd web && npm ci --no-audit --no-fund
	@touch $@

# The tests of the whole, which start haltd, are for make test.
WHOLE := test/(e2e|browser|load|nodes|scenarios|soak)$$

check: vet vitest ## the tight inner loop: format, vet, unit tests in Go and of the dashboard
	go test -short $$(go list ./... | grep -vE '$(WHOLE)')

vet:
	@test -z "$$(gofmt -l .)" || { echo "gofmt needed:"; gofmt -l .; exit 1; }
	go vet ./...

vitest: web/node_modules/.package-lock.json
	cd web && npm test

# What a test needs and does not find fails it instead of skipping it. The
# packages that start haltd share one build of it.
test verify: export CI = true
test verify: export HALTD_BIN = $(CURDIR)/bin/race/haltd
test verify: export TMPDIR = $(shell ./test/tmpdir.sh)
# Properties are tried with the same cases every time; make verify draws new ones, many more.
test: export RAPID_SEED = 1
# By default a program with the race detector sleeps a second at its end.
test verify: export GORACE = atexit_sleep_ms=50
# SQLite is C, translated: watched by the race detector it is six times slower,
# and the detector has nothing to find in it. With -trimpath, as bin/haltd is
# built, what is compiled serves every step and every checkout; no debugger
# looks at the programs, of which there are fifty to link.
test verify: export GOFLAGS := $(GOFLAGS) -trimpath -ldflags=-w '-gcflags=modernc.org/...=-race=false -d=checkptr=0'
# Many tests wait for something, and npm for the network: two things at once.
test: ## everything once, with -race, after installing what the tests need: 15 minutes on two cores at most
	./test/install.sh
	$(MAKE) -j2 PGO=off build vitest
	$(MAKE) vet
	go vet -tags pictures,faults ./test/e2e ./test/browser ./test/nodes
	cd test/clients && go vet -tags coding ./...
	cd test/deploy && go vet ./...
	go build -race -o $(HALTD_BIN) ./cmd/haltd
	$(MAKE) -j2 packages modules
	go test -vet=off -count=1 -run 'InTime|Offline|TestMadeUp|TestFamilies|TestGuard' ./internal/detection ./test/scenarios # some measure time, and want the machine for themselves

packages:
	go test -race -vet=off -count=1 -timeout 20m ./...

modules:
	cd test/clients && go test -race -vet=off -count=1 -timeout 20m ./...
	cd test/deploy && go test -vet=off -count=1 -timeout 20m ./...

verify: test ## the long form, two hours and a half or so: test, then crashes, soak, repeats, all sizes, pictures, fuzzers
	./test/verify.sh

soak: build ## load with random faults for SOAK (default 30m), then a ledger; SOAK_SEED plans the same again
	SOAK=$(SOAK) HALTD_BIN=$(CURDIR)/bin/haltd go test -count=1 -timeout 0 -v -run 'TestSoak|TestAClock' ./test/soak

bench: build ## direct, nginx, a pooled ReverseProxy and haltd side by side, then haltd with PostgreSQL and Redis, then how costs grow; writes docs/performance.md, its pictures and docs/scaling.md (BENCH=-quick for a short run)
	go run ./test/load/cmd/bench -haltd bin/haltd -docs docs/performance.md $(BENCH)
	go run ./test/load/cmd/bench -haltd bin/haltd -docs docs/scaling.md -targets direct,haltd,haltd-postgres,haltd-redis -concurrency 16 -largest 100 -only "growing, JSON" $(BENCH)
	go run ./test/load/cmd/bench -haltd bin/haltd -growth -docs docs/performance.md $(BENCH)

# The profile names the files of the program and the program itself: neither where they
# are here.
pgo: ## record the profile that builds are optimised by, from a run of the benchmark (for maintainers)
	go build -trimpath -pgo=off -o /tmp/haltd-profile ./test/load/cmd/profile
	HALTD_PROFILE=$(CURDIR)/test/load/cmd/profile/haltd.pgo go run ./test/load/cmd/bench -haltd /tmp/haltd-profile -targets haltd -concurrency 16 -rate 0 -rounds 1 -seconds 2 -largest 100

quality: ## detection on recorded runs from the folder TRACES, each source judged by weights that never saw it
	go run ./test/train -traces $(TRACES)

train: ## fit the weights of stall anew to the labelled runs in TRACES, and write the tables of docs/detection.md (for maintainers)
	go run ./test/train -traces $(TRACES) -ablate -out internal/detection/weights.json -docs docs/detection.md -date $(shell date +%F)

reference: ## write the sample file and the references of settings, commands, errors and the API anew from their declarations
	go run ./internal/config/reference
	go test ./cmd/haltd -run TestReferenceOf -update

fuzz: ## every fuzzer for FUZZTIME (default 10m)
	./test/fuzz.sh $(FUZZTIME)

screenshots: build ## draw the pictures of docs/images anew, from a running haltd
	./test/install.sh
	HALTD_PICTURES=$(CURDIR)/docs/images go test -tags pictures -count=1 -run TestDraw ./test/e2e ./test/browser
