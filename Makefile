# What there is to do here. `make` lists it.

.DEFAULT_GOAL := help
FUZZ_INPUTS ?= 500000
TORTURE_IDS ?= 60000000

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 12

test: ## run the tests; those of MariaDB and PostgreSQL need UIDRING_TEST_MYSQL and UIDRING_TEST_POSTGRES
	go test ./...

race: ## run the tests under the race detector
	go test -race ./...

lint: ## check formatting, vet, and the walls between packages
	golangci-lint run

model: ## check the models, and that they find the faults seeded in them (needs spin and gcc)
	.ci/model worker/lease.pml "WRITES=6 FLIGHTS=1 HORIZON=6" NO_FLOOR NO_TOKEN ISSUE_FIRST WALL_CLOCK SETTLE_BY_NAME SETTLE_BY_LAST RELEASE_LATE RELEASE_LAST
	.ci/model ringbuffer/ring.pml "TAKERS=3 TAKES=1" POSITION_BACK NO_END ID_POSITIONS NO_WALK DROP_ADD UNLOCKED CLAIM_FIRST CAS_ONCE REST_SPAN

torture: ## torment processes and databases of its own until TORTURE_IDS ids are collected (needs mariadbd and postgres)
	UIDRING_TORTURE=1 UIDRING_TORTURE_IDS=$(TORTURE_IDS) go test ./internal/torture -run TestTorture -count=1 -v -timeout 60m

fuzz: ## run each fuzz target on FUZZ_INPUTS inputs
	.ci/fuzz $(FUZZ_INPUTS)

bench: ## measure against the floor and the peers, write internal/bench/BENCHMARKS.md and print it
	cd internal/bench && go run ./cmd/table -o BENCHMARKS.md && cat BENCHMARKS.md

ci: ## run all that CI runs
	.ci/run

.PHONY: help test race lint model torture fuzz bench ci
