package clitest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/cmd/internal/workers"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// ReadIDs reads what gen prints: one decimal number a line and nothing else.
func ReadIDs(t *testing.T, text string) []int64 {
	t.Helper()
	var ids []int64
	for line := range strings.Lines(text) {
		digits, whole := strings.CutSuffix(line, "\n")
		id, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || !whole || strconv.FormatInt(id, 10) != digits {
			t.Fatalf("line %d is %q, want an id", len(ids)+1, line)
		}
		ids = append(ids, id)
	}
	return ids
}

// WithoutWarnings is Succeed for what the log may warn about.
func (c Command) WithoutWarnings(t *testing.T, args ...string) string {
	t.Helper()
	got := c.Invoke(t, "", args...)
	for line := range strings.Lines(WithoutCreated(got.Stderr)) {
		if !strings.Contains(line, "level=WARN") {
			t.Errorf("%q: standard error: %s", args, line)
		}
	}
	if got.Code != 0 {
		t.Fatalf("%q: %+v", args, got)
	}
	return got.Stdout
}

// ParsedJSON is what a line of --json holds.
type ParsedJSON struct {
	ID       int64     `json:"id,string"`
	Time     time.Time `json:"time"`
	Worker   int64     `json:"worker"`
	Sequence int64     `json:"sequence"`
}

// Decode reads a line of JSON that has no other fields than T.
func Decode[T any](t *testing.T, line string) (got T) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&got); err != nil || strings.Count(line, "\n") != 1 {
		t.Fatalf("%q: %v", line, err)
	}
	return got
}

// Register adds a row for each host to a database.
func Register(t *testing.T, dsn string, hosts ...string) {
	t.Helper()
	db := Open(t, dsn)
	for _, host := range hosts {
		node := lease.Node{Host: host, Port: "8080", Type: lease.NodeContainer}
		if _, err := worker.NewRegistry(db.DB, worker.RegistryConfig{Node: node, Alone: true}).Assign(t.Context(), 1<<20); err != nil {
			t.Fatal(err)
		}
	}
}

// Workers is what workers says of a database.
func (c Command) Workers(t *testing.T, dsn string) workers.Listing {
	t.Helper()
	return Decode[workers.Listing](t, c.Succeed(t, "workers", "--json", "--limit", "0", "--dsn", dsn))
}

// FillLeases fills WORKER_LEASE with a number for each state, from 0 on. Nobody is
// behind them: what is held is so for a minute.
func FillLeases(t *testing.T, dsn string, states ...lease.State) {
	t.Helper()
	db := Open(t, dsn)
	node := lease.Node{Host: "bill\x1bing", Port: "80\x1b80", Type: lease.NodeContainer}
	var taken []lease.Lease
	for range states {
		held, err := worker.NewLeaser(db.DB, lease.Config{Node: node}).Lease(t.Context(), lease.Request{Limit: 1 << 20, Clock: time.Now, Granted: func(lease.Grant) {}})
		if err != nil {
			t.Fatal(err)
		}
		taken = append(taken, held)
	}
	for _, held := range taken {
		if err := held.Release(t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	for number, state := range states {
		heartbeat := map[lease.State]string{lease.StateFree: "0", lease.StateHeld: "created", lease.StateExpired: "created - 3600000"}[state]
		if err := db.Exec(fmt.Sprintf("UPDATE WORKER_LEASE SET heartbeat_at = %s WHERE worker_id = %d", heartbeat, number)).Error; err != nil {
			t.Fatal(err)
		}
	}
}
