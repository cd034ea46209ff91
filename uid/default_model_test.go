package uid_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
)

// modelled drives a Default and a model of it side by side. The model is the last
// tick with a count of its sequences that are issued or skipped.
type modelled struct {
	gen     *uid.Default
	lease   *fakeLeaser
	clock   *clock
	ids     *bits.Allocator
	started bool // an id was issued, or a number skipped: used is known
	tick    int64
	used    int64
	stamped int64 // the last tick in which ids were issued or skipped
	worker  int64
	held    bool
	issued  int64
	last    uid.ID
}

func (m *modelled) sequences() int64 { return m.ids.MaxSequence() + 1 }

// draw asks for n ids at once, and compares what comes with the model.
func (m *modelled) draw(t *rapid.T, n int64) {
	ids := make([]uid.ID, n)
	got, err := m.gen.WaitN(ended(), ids)
	now := m.ids.Tick(m.clock.now())
	from := m.used
	switch {
	case !m.held || m.started && now < m.tick:
		if got != 0 || err == nil {
			t.Fatalf("WaitN() = %d, %v at tick %d, after tick %d, with a number held: %v", got, err, now, m.tick, m.held)
		}
		if back := errors.Is(err, uid.ErrClockBackward); m.held && back != (now < m.stamped) {
			t.Fatalf("error %v at tick %d after tick %d", err, now, m.stamped)
		}
		return
	case !m.started: // at a random place below half
		parts, _ := m.gen.Parse(ids[0])
		if from = parts.Sequence; from >= max(m.sequences()/2, 1) {
			t.Fatalf("the first sequence is %d of %d", from, m.sequences())
		}
	case now > m.tick && m.used > m.sequences()/2:
		from = 0
	}
	want := min(n, m.sequences()-from)
	if int64(got) != want || (err != nil) != (want < n) {
		t.Fatalf("WaitN() = %d, %v, want %d", got, err, want)
	}
	for i, id := range ids[:got] {
		wanted, err := m.ids.Compose(now, m.worker, from+int64(i))
		if err != nil || id != uid.ID(wanted) || id <= m.last {
			t.Fatalf("id %d after %d, want %d (%v)", id, m.last, wanted, err)
		}
		m.last = id
	}
	if got > 0 {
		m.started, m.tick, m.used, m.stamped = true, now, from+want, now
	}
	m.issued += want
}

// grant changes the number: the rest of the last tick is skipped, or else one id.
func (m *modelled) grant(number int64) {
	m.lease.granted(number, time.Time{}, small.End(), nil)
	if m.held = true; number == m.worker {
		return
	}
	m.worker = number
	switch {
	case !m.started:
		m.started, m.tick, m.used, m.stamped = true, 0, 1, -1
	case m.used == m.sequences():
		m.tick, m.used = m.tick+1, 1
	case m.stamped < m.tick:
		m.used++
	default:
		m.used = m.sequences()
	}
}

// Sequences go on from tick to tick and restart when more than half are used;
// none wraps within a tick, order holds over a change of number, and the count of
// issued ids is exact.
func TestDefaultLikeModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		layout := small
		layout.SequenceBits = rapid.Uint8Range(0, 5).Draw(t, "sequence bits")
		ids, err := bits.NewAllocator(layout)
		need.Must(t, err)
		m := &modelled{ids: ids, clock: clockAt(start), lease: &fakeLeaser{number: 3, until: small.End()}, worker: 3, held: true}
		m.gen, err = uid.NewDefault(context.Background(), m.lease, uid.DefaultConfig{Layout: layout, Now: m.clock.now, MaxBackward: uid.None})
		need.Must(t, err)
		defer m.gen.Close()
		t.Repeat(map[string]func(*rapid.T){
			"one":  func(t *rapid.T) { m.draw(t, 1) },
			"some": func(t *rapid.T) { m.draw(t, rapid.Int64Range(1, 40).Draw(t, "n")) },
			"tick": func(t *rapid.T) {
				m.clock.step(time.Duration(rapid.IntRange(1, 3000).Draw(t, "ms")) * time.Millisecond)
			},
			"back": func(t *rapid.T) { m.clock.step(-time.Second) },
			"lose": func(*rapid.T) {
				m.lease.granted(-1, time.Time{}, time.Time{}, errors.New("lost"))
				m.held = false
			},
			"grant": func(t *rapid.T) { m.grant(rapid.Int64Range(1, 4).Draw(t, "number")) },
			"": func(t *rapid.T) {
				if got := m.gen.Stats().Issued; got != m.issued {
					t.Fatalf("%d issued, want %d", got, m.issued)
				}
				if m.clock.now().Before(start) {
					m.clock.nanos.Store(start.UnixNano())
				}
			},
		})
		m.gen.Close()
		if got := m.gen.Stats().Issued; got != m.issued {
			t.Fatalf("%d issued after Close, want %d", got, m.issued)
		}
	})
}
