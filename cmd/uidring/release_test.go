package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/database"
	"github.com/uidring/uidring/worker"
)

// lease fills WORKER_LEASE with a number for each state, from 0 on. Nobody is
// behind them: what is held is so for a minute.
func lease(t *testing.T, dsn string, states ...worker.LeaseState) {
	t.Helper()
	db, err := database.Open(dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer database.Close(db)
	node := worker.Node{Host: "billing", Port: "80\x1b80", Type: worker.Container}
	var taken []worker.Lease
	for range states {
		lease, err := worker.NewLeaser(db, worker.WithNode(node)).Lease(t.Context(), 1<<20, time.Now, func(int64, time.Time, time.Time, error) {})
		if err != nil {
			t.Fatal(err)
		}
		taken = append(taken, lease)
	}
	for _, lease := range taken {
		if err := lease.Release(t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	for number, state := range states {
		beat := map[worker.LeaseState]string{worker.Free: "0", worker.Held: "created", worker.Expired: "created - 3600000"}[state]
		if err := db.Exec(fmt.Sprintf("UPDATE WORKER_LEASE SET heartbeat_at = %s WHERE worker_id = %d", beat, number)).Error; err != nil {
			t.Fatal(err)
		}
	}
}

func TestRelease(t *testing.T) {
	elsewhere(t)
	lease(t, dsnDefault, worker.Free, worker.Expired, worker.Held, worker.Held)
	for _, tt := range []struct {
		args, stdout string
		stderr       []string
	}{
		{"0", "number 0 is free\n", nil}, // it was
		{"1", "number 1 is free\n", nil},
		{"2", "", []string{"number 2 is held", "within the last 1m0s", "--force", "takes another", "no id repeats"}},
		{"2 --force", "number 2 is free\n", nil},
		{"2", "number 2 is free\n", nil},
		{"--dsn sqlite:" + dsnDefault + " 03", "", []string{"--dsn: number 3 is held"}},
		{"4", "", []string{"number 4 is not in the table WORKER_LEASE"}},
		{"4 --force", "", []string{"number 4 is not in the table WORKER_LEASE"}},
		{"9223372036854775807", "", []string{"number 9223372036854775807 is not in the table"}},
	} {
		got := invoke(t, "", strings.Fields("workers release "+tt.args)...)
		code := 0
		if tt.stderr != nil {
			code = 1
		}
		if got.code != code || got.stdout != tt.stdout || strings.Count(got.stderr, "\n") != code {
			t.Errorf("release %s: %+v; want exit code %d, %q", tt.args, got, code, tt.stdout)
		}
		for _, part := range tt.stderr {
			if !strings.Contains(got.stderr, part) {
				t.Errorf("release %s: %q, want %q in it", tt.args, got.stderr, part)
			}
		}
	}
	list := workersOf(t, dsnDefault)
	for i, want := range []worker.LeaseState{worker.Held, worker.Free, worker.Free, worker.Free} {
		if row := list.Leases[i]; row.Number != int64(3-i) || row.State != want {
			t.Errorf("%+v, want number %d %s", row, 3-i, want)
		}
	}
}

// A registered number is not one to be released.
func TestReleaseRegistered(t *testing.T) {
	elsewhere(t)
	register(t, dsnDefault, "one")
	got := invoke(t, "", "workers", "release", "1", "--force")
	if got.code != 1 || !strings.Contains(got.stderr, "no table WORKER_LEASE") {
		t.Errorf("%+v", got)
	}
	if got := succeed(t, "workers"); strings.Contains(got, "LEASE") {
		t.Errorf("release made a table: %s", got)
	}
}
