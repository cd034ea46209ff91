package leaserow

import (
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/worker/lease/leasestore"
)

// A row reads as it was written: the holder stays that of the last Acquire.
func TestRow(t *testing.T) {
	holder := leasestore.Node{Host: "billing-ä-7", Port: "8080", Type: 2}
	var row Row
	for _, step := range []struct {
		write       leasestore.Write
		alive, dead leasestore.State
	}{
		{leasestore.Write{Token: "a", Until: 1 << 60, Change: leasestore.Acquire, Node: holder}, leasestore.StateHeld, leasestore.StateExpired},
		{leasestore.Write{Token: "b", Until: 1<<60 + 1, Change: leasestore.Extend}, leasestore.StateHeld, leasestore.StateExpired},
		{leasestore.Write{Token: "c", Until: 7, Change: leasestore.Release}, leasestore.StateHeld, leasestore.StateFree},
	} {
		var err error
		if row, err = Parse(row.After(step.write).JSON()); err != nil {
			t.Fatal(err)
		}
		for alive, state := range map[bool]leasestore.State{true: step.alive, false: step.dead} {
			want := leasestore.Row{Number: 5, Token: step.write.Token, Until: step.write.Until, State: state, Node: holder}
			if got := row.Lease(5, alive); got != want {
				t.Errorf("alive %t: %+v, want %+v", alive, got, want)
			}
		}
	}
}

func TestParse(t *testing.T) {
	for _, text := range []string{"", "{}", "7", `{"token":"a","reserved_until":"x"}`} {
		if row, err := Parse([]byte(text)); err == nil || row != (Row{}) || !strings.Contains(err.Error(), "want a row as JSON") {
			t.Errorf("%q: %+v, %v; want no row", text, row, err)
		}
	}
}

// A holder is alive for less than the expiry after its last heartbeat.
func TestState(t *testing.T) {
	for heartbeat, want := range map[int64]leasestore.State{0: leasestore.StateFree, 400: leasestore.StateExpired, 401: leasestore.StateHeld} {
		if got := State(heartbeat, 1000, 600*time.Millisecond); got != want {
			t.Errorf("State(%d) = %s, want %s", heartbeat, got, want)
		}
	}
}
