package workers_test

import (
	"strings"
	"testing"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/worker/lease"
)

func TestRelease(t *testing.T) {
	clitest.Elsewhere(t)
	clitest.FillLeases(t, database.Default, lease.StateFree, lease.StateExpired, lease.StateHeld, lease.StateHeld)
	for _, tt := range []struct {
		args, stdout string
		stderr       []string
	}{
		{"0", "number 0 is free\n", nil}, // it was
		{"1", "number 1 is free\n", nil},
		{"2", "", []string{"number 2 is held", "within the last 1m0s", "--force", "takes another", "no id repeats"}},
		{"2 --force", "number 2 is free\n", nil},
		{"2", "number 2 is free\n", nil},
		{"--dsn sqlite:" + database.Default + " 03", "", []string{"(--dsn): number 3 is held"}},
		{"4", "", []string{"number 4 has no lease: nobody"}},
		{"4 --force", "", []string{"number 4 has no lease: nobody"}},
		{"9223372036854775807", "", []string{"number 9223372036854775807 has no lease"}},
	} {
		got := uidring.Invoke(t, "", strings.Fields("workers release "+tt.args)...)
		code := 0
		if tt.stderr != nil {
			code = 1
		}
		if got.Code != code || got.Stdout != tt.stdout || strings.Count(got.Stderr, "\n") != code {
			t.Errorf("release %s: %+v; want exit code %d, %q", tt.args, got, code, tt.stdout)
		}
		for _, part := range tt.stderr {
			if !strings.Contains(got.Stderr, part) {
				t.Errorf("release %s: %q, want %q in it", tt.args, got.Stderr, part)
			}
		}
	}
	list := uidring.Workers(t, database.Default)
	for i, want := range []lease.State{lease.StateHeld, lease.StateFree, lease.StateFree, lease.StateFree} {
		if row := list.Leases[i]; row.Number != int64(3-i) || row.State != want {
			t.Errorf("%+v, want number %d %s", row, 3-i, want)
		}
	}
}

// A registered number is not one to be released.
func TestReleaseRegistered(t *testing.T) {
	clitest.Elsewhere(t)
	clitest.Register(t, database.Default, "one")
	got := uidring.Invoke(t, "", "workers", "release", "1", "--force")
	if got.Code != 1 || !strings.Contains(got.Stderr, "no table WORKER_LEASE") {
		t.Errorf("%+v", got)
	}
	if got := uidring.Succeed(t, "workers"); strings.Contains(got, "LEASE") {
		t.Errorf("release made a table: %s", got)
	}
}
