#!/usr/bin/env bash
# The long form of the tests: what finds more the longer it runs. make verify
# runs it after make test.
set -euo pipefail
cd "$(dirname "$0")/.."

step() { echo "== $*"; }

step "many crashes"
HALTD_CRASHES=${HALTD_CRASHES:-200} go test -race -count=1 -timeout 60m -run TestCrashesForgetNothing ./test/load

step "many calls"
HALTD_CALLS=${HALTD_CALLS:-200000} go test -race -count=1 -timeout 60m -run TestEveryCallIsPassedOnAndRecorded ./test/load

# The race detector takes memory of its own: what is held here is that of the product.
step "memory of many open streams, and after a million agents and sessions"
HALTD_STREAMS=10000 HALTD_AGENTS=1000000 HALTD_BIN=$PWD/bin/haltd go test -count=1 -timeout 60m -run TakeLittleMemory ./test/load

step "many calls of many agents at three nodes"
HALTD_CALLS=10000 go test -race -count=1 -timeout 60m -run TestThreeNodesWithRedis ./test/nodes

step "nodes whose servers are slow, cut off or lost, whose clocks differ, whose releases differ"
go test -race -tags faults -count=1 -timeout 60m -run 'TestSlowServers|TestClocksDiffer|TestRollingUpgrade|TestANodeThatIs|TestDatabaseLost|TestAKillWhile|TestSpoolIsBounded|TestFailover|TestDoctorOfWhatIsBehind|TestDoctorOfClocks' ./test/nodes

step "soak: load with random faults, and a ledger"
SOAK=${SOAK:-30m} go test -race -count=1 -timeout 0 -v -run TestSoak ./test/soak

step "properties, with many more cases"
mapfile -t packages < <(grep -rl --include='*_test.go' --exclude-dir=node_modules 'pgregory.net/rapid"' . | xargs -n1 dirname | sort -u)
go test -count=1 -timeout 60m "${packages[@]}" -rapid.checks=1000 # go test takes no packages after a test's own flag

step "faults of providers, clients and receivers, again and again"
go test -race -count=5 -timeout 60m ./test/e2e
(cd test/clients && go test -race -count=5 -timeout 60m ./...)
go test -race -count=5 -timeout 60m -run 'TestClients|TestShutdown|TestWhatWasShown' ./test/load

step "bodies as large as the defaults allow, many at once"
HALTD_SIZES=all go test -race -count=1 -timeout 60m -run 'TestBodiesInFlight|TestHTTP2' ./test/e2e

step "streams that are cut at every byte"
HALTD_SIZES=all go test -count=1 -timeout 60m -run TestStreamsReadTheSame ./internal/wire/formats

step "coding clients over two turns: the first is halted, the second goes on"
npm install --prefix test/clients/coding --no-package-lock --no-audit --no-fund --silent
(cd test/clients && go test -race -tags coding -count=1 -timeout 60m -run TestCodingClients .)

step "a release for all platforms, built twice in different folders: the same bytes"
twice=$(mktemp -d)
git clone -q . "$twice/clone" && cp -a web/node_modules web/static "$twice/clone/web/"
go run ./test/release -version v0 -commit "$(git rev-parse HEAD)" -epoch 1 -out "$twice/one"
(cd "$twice/clone" && GOCACHE="$twice/cache" go run ./test/release -version v0 -commit "$(git rev-parse HEAD)" -epoch 1 -out "$twice/two")
cmp "$twice/one/SHA256SUMS" "$twice/two/SHA256SUMS"
(cd "$twice/one" && sha256sum --check --quiet SHA256SUMS)
rm -rf "$twice"

# The browser takes the time here: the race detector has had its turn in make test.
step "every page at every size, and every hostile text on every page"
HALTD_SIZES=all HALTD_BIN=$PWD/bin/haltd go test -count=1 -timeout 30m -run 'TestEveryPage|TestHostileTexts' ./test/browser

step "many agents, events and incidents, and how quick the answers are"
HALTD_SIZES=all HALTD_BIN=$PWD/bin/haltd go test -count=1 -timeout 30m -run TestManyAgentsAndEvents ./test/browser

step "every scenario in every dialect, streamed and whole"
HALTD_PLAYS=all go test -race -count=1 -timeout 60m -run TestGateway ./test/scenarios
HALTD_PLAYS=all go test -count=1 -run TestKnownRoundsChangeNoVerdict ./test/scenarios

step "pictures"
pictures=$(mktemp -d)
trap 'rm -rf "$pictures"' EXIT
HALTD_PICTURES=$pictures go test -tags pictures -count=1 -run TestDraw ./test/e2e ./test/browser

step "fuzzers"
./test/fuzz.sh "${FUZZTIME:-30s}"
