//go:build linux

package main

import (
	"strings"
	"testing"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/internal/test/servertest"
)

// A counter in Redis, from its making to ids that go on after it was raised.
func TestSegmentsInRedis(t *testing.T) {
	clitest.Elsewhere(t)
	address := servertest.StartRedis(t, append([]string{"--requirepass", "secret"}, servertest.Durable...)...).Address()
	t.Setenv(database.Variable, "redis://:secret@"+address)
	for _, step := range []struct {
		args, want string // want begins standard output, or is in standard error
		code       int
	}{
		{"segments create orders", "orders begins at 1, in redis {uidring}:segments of redis://" + address, 0},
		{"segments create orders", "orders has a counter already", 1},
		{"segments set orders --at-least 1000", "the counter of orders is 1000\n", 0},
		{"gen --segment orders -n 2", "1000\n1001\n", 0},
		{"gen --segment orders -n 1", "1002\n", 0}, // the rest was returned
		{"gen --segment oders", "create it with uidringd segments create oders", 1},
		{"segments", "TAG     NEXT  STEP  UPDATED\norders  1003  1000  ", 0},
		{"segments --table sequence", "--table is for SQL databases", 2},
		{"segments create invoices --gapless", "gapless counters need an SQL database", 1},
		{"segments create orders --dsn redis://" + address + "?prefix=none", "Prefix", 2},
		{"segments --dsn etcd://" + address, "keeps no counters", 2},
	} {
		got := uidringd.Invoke(t, "", strings.Fields(step.args)...)
		if text := got.Stdout + got.Stderr; got.Code != step.code || !strings.Contains(text, step.want) {
			t.Errorf("%s: %+v, want %d and %q", step.args, got, step.code, step.want)
		}
	}
}
