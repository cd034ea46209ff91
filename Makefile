# `make` lists the targets.

.DEFAULT_GOAL := help
FUZZ_INPUTS ?= 500000
STRESS_IDS ?= 60000000
STRESS_ROUNDS ?= 300
TEST = go list -m -f '{{.Dir}}/...' | xargs go test

help:
	@sed -n 's/^## \(.*\)/\n\1/p; s/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

## Check a change

test: ## run the tests of every module; those on MariaDB and PostgreSQL need UIDRING_TEST_MYSQL and UIDRING_TEST_POSTGRES
	$(TEST)
	@for name in UIDRING_TEST_MYSQL UIDRING_TEST_POSTGRES; do printenv $$name >/dev/null || echo "$$name is not set: the tests on its servers were skipped"; done

race: ## run the tests of every module under the race detector
	$(TEST) -race

lint: ## check formatting, modules, vet, the import rules, the exported API and the list of faults
	bash .ci/steps/lint

ci: ## run every step of CI
	.ci/run

## Write generated files

api: ## write the exported API of every package to testdata/api, as go doc prints it
	.ci/api testdata/api

reference: ## write the pages of docs/reference, as the commands describe themselves
	go run ./cmd/uidring docs docs/reference
	go run ./cmd/uidringd docs docs/reference

pictures: ## make the screenshots of docs (needs chromium as UIDRING_TEST_BROWSER)
	dir=$$(mktemp -d) && UIDRING_TEST_ARTIFACTS=$$dir go test ./internal/integration/browser -run 'TestPage$$' -count=1 && \
		for scheme in light dark; do cp $$dir/orders-$$scheme.png docs/status-$$scheme.png || exit; done && rm -r $$dir

proto: ## generate the code of the server's .proto
	cd cmd/uidringd && GOWORK=off npm exec --yes --package=@bufbuild/buf@1.75.0 -- buf $(or $(BUF),generate)

extras: ## write the pages of the manual and the completions of a release to extras
	mkdir -p extras/completions
	for command in uidring uidringd; do \
		go run ./cmd/$$command docs --man extras/man && \
		for shell in bash zsh fish; do go run ./cmd/$$command completion $$shell >extras/completions/$$command.$$shell || exit; done || exit; \
	done

## Test the tests, and try to break ids (internal/lab/README.md)

faults: ## put each fault of testdata/faults.txt into a scratch clone, and expect a test to fail
	go run ./internal/lab/faults testdata/faults.txt

models: ## check the models, and find the faults that are seeded in them (needs spin and gcc)
	.ci/run $$(git ls-files '*.pml' | sed 's/^/model:/')

fuzz: ## run each fuzz target on FUZZ_INPUTS inputs
	FUZZ_INPUTS=$(FUZZ_INPUTS) .ci/run fuzz

stress-cpu: ## run all tests ten times beside eight busy loops
	@for loop in 1 2 3 4 5 6 7 8; do timeout 4h sh -c 'while :; do :; done' & pids="$$pids $$!"; done; trap "kill $$pids" EXIT; $(TEST) -count=10 -timeout 120m

stress-yields: ## run the tests of races with a random yield before each statement
	YIELDS_ROUNDS=10 .ci/run stress:yields

stress-processes: ## kill, pause and cut off processes and servers of every store, until STRESS_IDS ids are drawn
	UIDRING_TORTURE=1 UIDRING_TORTURE_IDS=$(STRESS_IDS) go test ./internal/lab/torture -run 'TestTorture|TestStyles|TestHerds' -count=1 -parallel 6 -v -timeout 60m

stress-starts: ## start, restart and cut off 30,000 Leasers in virtual time
	UIDRING_FLEET=30000 go test ./worker/lease -run 'TestFleet$$' -count=1 -v

stress-holders: ## hold 10,000 numbers on MariaDB and PostgreSQL, and print the processor time of their servers
	UIDRING_HOLDERS=10000 UIDRING_TORTURE=1 go test ./internal/lab/torture -run 'TestHolders$$' -count=1 -v -timeout 30m

stress-servers: ## kill servers behind a balancer STRESS_ROUNDS times (needs mariadbd and postgres)
	UIDRING_SERVERS_ROUNDS=$(STRESS_ROUNDS) go test ./internal/lab/servers -run TestKilledServers -count=1 -v -timeout 60m

stress-stores: ## test each store on its oldest and newest servers, and print the table of docs/choosing.md (needs Debian, root, 3 GB)
	.ci/stores $(or $(SERVERS),/tmp/servers)

stress-memory: ## fill a server's memory as far as clients can, and expect it to stay below the manifests' limit
	UIDRING_FLOOD=1 go test ./cmd/uidringd/internal/serve -run TestFlood -count=1 -v -timeout 60m

stress-backfill: ## move a live table of 200,000 rows as docs/migrating.md says, and backfill 1,000,000 rows beside a loop and a service
	UIDRING_TEST_ROWS=200000 UIDRING_TEST_ALL=1 go test ./internal/test/readme -run TestLiveTable -count=1 -v -timeout 60m
	UIDRING_TEST_ROWS=1000000 go test ./cmd/internal/backfill -run '^$$' -bench Backfill -benchtime 1x -timeout 60m

stress-volume: ## draw 10,000,000,000 ids from one generator; print the time of the first and the last, and the memory
	UIDRING_GROWTH=10000000000 go test ./uid -run TestGrowth -count=1 -v -timeout 60m

## Release

bench: ## measure generators and server beside floors and peers, write docs/benchmarks.md, and fail if a bar is missed (needs wrk, redis-server, redis-benchmark, taskset)
	cd cmd/internal/peers && go run . ids server

outdated: ## list the direct requirements of every module that have a newer version
	@go list -m -f '{{if not (or .Indirect .Main)}}{{.Path}}{{end}}' all | xargs go list -e -m -u -f '{{if .Update}}{{.}}{{end}}'

rehearsal: ## make a release in a scratch clone, use it on an empty machine, and print the sizes of its files (needs Debian, root, 20 minutes at first)
	OUT=$$(mktemp -d) && export OUT && .ci/run release:whole && cat "$$OUT/release-whole.sizes"

release: ## make the release VERSION, such as v1.2.3, of the present commit; push nothing
	@.ci/release $(VERSION)

.PHONY: help test race lint ci api reference pictures proto extras faults models fuzz stress-cpu stress-yields stress-processes stress-starts stress-holders stress-servers stress-memory stress-backfill stress-volume bench outdated rehearsal release
