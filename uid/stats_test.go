package uid_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/uid"
)

// The age of what is dealt next grows with the clock, and is negative while ids
// are stamped ahead of it.
func TestStatsOldestAge(t *testing.T) {
	c := clockAt(start)
	gen := newCached(t, uid.Config{Layout: small, Now: c.now, BoostPower: 1})
	if age := gen.Stats().OldestAge; age != 0 {
		t.Errorf("a new generator's next id is %v old, want 0", age)
	}
	for range 3 {
		mustNext(t, gen)
	}
	if age := gen.Stats().OldestAge; age != -time.Second {
		t.Errorf("the next id's age is %v, want -1s: it is of the second to come", age)
	}
	c.step(time.Hour)
	if age := gen.Stats().OldestAge; age != time.Hour-time.Second {
		t.Errorf("the next id's age is %v after an hour, want 59m59s", age)
	}
	gen.Close()
	if age := gen.Stats().OldestAge; age != 0 {
		t.Errorf("with no id left the age is %v, want 0", age)
	}
}

// Waits of all calls add up.
func TestStatsWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gen, err := uid.NewDefault(context.Background(), uid.StaticWorker(1), uid.Config{Layout: bubble})
		if err != nil {
			t.Fatal(err)
		}
		defer gen.Close()
		if _, err := gen.NextN(make([]uid.ID, 6)); err != nil { // of 2 each second
			t.Fatal(err)
		}
		if waited := gen.Stats().Waited; waited != 2*time.Second {
			t.Errorf("waited %v for 6 ids, want 2s", waited)
		}
	})
}
