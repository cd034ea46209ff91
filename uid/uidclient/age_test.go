package uidclient

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
)

// The next answer is fetched when half of the last one is used, and not before, however
// many runs it has.
func TestAhead(t *testing.T) {
	for _, runs := range []int64{1, 3, 128} {
		synctest.Test(t, func(t *testing.T) {
			server := newFake("a", 1)
			server.runs = runs
			c := open(t, Config{MaxAge: uid.Unlimited}, server)
			server.set(func(f *fake) { f.takes = time.Second })
			draw := func(n int) {
				t.Helper()
				if got, err := c.NextN(make([]uid.ID, n)); got != n || err != nil {
					t.Fatalf("NextN() = %d, %v, want %d ids", got, err, n)
				}
			}
			draw(63)
			time.Sleep(time.Minute)
			if n := server.requests(); n != 1 {
				t.Errorf("%d requests with more than half of the ids left, want 1", n)
			}
			draw(2)
			time.Sleep(time.Minute)
			began := time.Now()
			draw(70)
			if took := time.Since(began); took != 0 {
				t.Errorf("ids took %v, want none: they were fetched ahead", took)
			}
		})
	}
}

// The age of an id counts from its request, also when the next answer comes at once.
func TestAgeOfSlowAnswer(t *testing.T) {
	for more, takes := range map[int]time.Duration{0: 1500 * time.Millisecond, 66: 90 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			server := newFake("a", 1)
			const maxAge = 6400 * time.Millisecond
			began := time.Now()
			server.takes = takes
			c := open(t, Config{MaxAge: maxAge}, server)
			time.Sleep(5 * time.Millisecond)
			take(t, c, 1, more)
			time.Sleep(time.Until(began.Add(maxAge)))
			if id, err := c.Next(); id <= 128 || err != nil {
				t.Errorf("Next() = %d, %v after %v, want an id of a later answer", id, err, maxAge)
			}
		})
	}
}

// Runs that were too many for the ring grow old outside it.
func TestAgeOfWaitingRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFake("a", 1)
		server.runs = 1 << 20 // of one id each
		c := open(t, Config{MaxAge: time.Second, Ahead: time.Second}, server)
		for c.Stats().Loads.LastSize < 4*ringRuns {
			_, err := c.Next()
			need.Must(t, err)
		}
		var made uid.ID
		server.set(func(f *fake) { made = uid.ID(f.next) })
		time.Sleep(2 * time.Second)
		if id, err := c.Next(); id < made || err != nil {
			t.Errorf("Next() = %d, %v, want an id that was made after %d", id, err, made)
		}
	})
}

// The ids of each answer have an age of their own: those of the second remain when those
// of the first are dropped.
func TestAgeOfEachAnswer(t *testing.T) {
	bubble(t, Config{MaxAge: time.Second, Ahead: time.Second}, 1, func(t *testing.T, c *Client, _ []*fake) {
		time.Sleep(700 * time.Millisecond)
		take(t, c, 1, 66) // more than half, so that the second is fetched
		time.Sleep(500 * time.Millisecond)
		take(t, c, 129, 1) // the first id of the second answer
	})
}

// No id is older than MaxAge when it is issued, and an idle client asks for little.
func TestAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFake("a", 1)
		server.runs = 5
		c := open(t, Config{MaxAge: time.Second, Ahead: time.Second}, server)
		made := []uid.ID{} // greatest id made by the end of each millisecond
		began := time.Now()
		for i := range 20_000 {
			server.set(func(f *fake) { made = append(made, uid.ID(f.next)) })
			if i%7000 < 50 || i > 15_000 && i%100 == 0 {
				id, err := c.Next()
				need.Must(t, err)
				if i > 1000 && id < made[i-1000] {
					t.Fatalf("id %d at %v is older than a second", id, time.Since(began))
				}
			}
			time.Sleep(time.Millisecond)
		}
		before := c.Stats()
		time.Sleep(time.Hour)
		after := c.Stats()
		if drawn := after.Dropped - before.Dropped; drawn > 3600*leastIDs*8/7+1000 || drawn < 3600 {
			t.Errorf("an idle hour drew %d ids", drawn)
		}
	})
}
