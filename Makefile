# `make` lists the targets.

.DEFAULT_GOAL := help
FUZZ_INPUTS ?= 500000
TORTURE_IDS ?= 60000000
FLEET_ROUNDS ?= 300
TEST = go list -m -f '{{.Dir}}/...' | xargs go test

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 12

test: ## run the tests of every module; those on MariaDB and PostgreSQL need UIDRING_TEST_MYSQL and UIDRING_TEST_POSTGRES
	$(TEST)

race: ## run the tests of every module under the race detector
	$(TEST) -race

busy: ## run the tests of every module ten times in a row beside eight busy loops
	@for loop in 1 2 3 4 5 6 7 8; do timeout 4h sh -c 'while :; do :; done' & pids="$$pids $$!"; done; trap "kill $$pids" EXIT; $(TEST) -count=10 -timeout 120m

lint: ## check formatting, modules, vet, the import rules and the exported API
	.ci/run lint

api: ## write the exported API of every package to testdata/api, as go doc prints it
	.ci/api testdata/api

reference: ## write the pages of docs/reference, as the commands describe themselves
	go run ./cmd/uidring docs docs/reference
	go run ./cmd/uidringd docs docs/reference

extras: ## write the pages of the manual and the completions of a release to extras
	mkdir -p extras/completions
	for command in uidring uidringd; do \
		go run ./cmd/$$command docs --man extras/man && \
		for shell in bash zsh fish; do go run ./cmd/$$command completion $$shell >extras/completions/$$command.$$shell || exit; done || exit; \
	done

proto: ## generate the code of the server's .proto
	.ci/buf generate

outdated: ## list the direct requirements of every module that have a newer version
	@go list -m -f '{{if not (or .Indirect .Main)}}{{.Path}}{{end}}' all | xargs go list -e -m -u -f '{{if .Update}}{{.}}{{end}}'

model: ## check the models, and find the faults that are seeded in them (needs spin and gcc)
	.ci/model $$(git ls-files '*.pml')

torture: ## kill and disturb processes and servers of every backend, until TORTURE_IDS ids are collected
	UIDRING_TORTURE=1 UIDRING_TORTURE_IDS=$(TORTURE_IDS) go test ./internal/test/torture -run 'TestTorture|TestStyles|TestHerds' -count=1 -parallel 6 -v -timeout 60m

fleet: ## start, restart and cut off 30,000 Leasers in virtual time; kill servers behind a balancer FLEET_ROUNDS times (needs mariadbd, postgres and redis-server)
	UIDRING_FLEET=30000 go test ./worker/lease -run 'TestFleet$$' -count=1 -v
	UIDRING_FLEET_ROUNDS=$(FLEET_ROUNDS) go test ./cmd/uidringd/internal/fleet -run TestFleet -count=1 -v -timeout 60m

flood: ## hold as much of a server's memory as clients with and without a token can, and expect it to stay below the manifests' limit
	UIDRING_FLOOD=1 go test ./cmd/uidringd/internal/serve -run TestFlood -count=1 -v -timeout 60m

woven: ## stress loss, Close and Shutdown with a random yield before each statement
	WOVEN_ROUNDS=10 .ci/run woven

faults: ## put each fault of testdata/faults.txt into a scratch clone, and expect a test to fail
	go run ./internal/tools/faults testdata/faults.txt

fuzz: ## run each fuzz target on FUZZ_INPUTS inputs
	FUZZ_INPUTS=$(FUZZ_INPUTS) .ci/run fuzz

growth: ## draw 10,000,000,000 ids from one generator, and print the time of the first and the last, and the memory
	UIDRING_GROWTH=10000000000 go test ./uid -run TestGrowth -count=1 -v -timeout 60m

bench: ## measure generators and server beside floors and peers, write BENCHMARKS.md, and fail if a bar is missed (needs wrk, redis-server, redis-benchmark, taskset)
	cd cmd/internal/peers && go run . ids server

release: ## make the release VERSION, such as v1.2.3, of the present commit; push nothing
	@.ci/release $(VERSION)

ci: ## run every step of CI
	.ci/run

.PHONY: woven help test race busy lint api reference extras proto outdated model torture fleet flood faults fuzz growth bench release ci
