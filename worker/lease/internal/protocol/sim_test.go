package protocol

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

const (
	steps = 400 // of one run
	tail  = 40  // how much of a trace is shown
)

// play has a run of one seed take place. It ends early with a breach of the kinds
// that are wanted, nil for all.
func play(seed uint64, m mode, s seams, wanted []breach, traced bool) *world {
	w := newWorld(seed, m, s, wanted, traced)
	for range steps {
		if w.broken != nil {
			return w
		}
		w.step()
	}
	if w.broken == nil {
		w.settle()
	}
	return w
}

// TestSimulator runs processes with wrong clocks and with lost, late and
// doubled messages, and pauses, kills and closes them. After each event it
// checks that no process stamps what another owns. Outside the promise, where
// processes are cloned, and the store is restored from a backup or loses rows,
// it checks what is promised of that.
//
// UIDRING_SEEDS is how many runs, UIDRING_SEED shows one of them.
func TestSimulator(t *testing.T) {
	for _, c := range []struct {
		mode  mode
		seeds uint64
	}{{promise, 4000}, {clones, 2000}, {restores, 2000}, {deletions, 1000}} {
		m, seeds := c.mode, c.seeds
		t.Run(string(m), func(t *testing.T) {
			if seed, set := variable(t, "UIDRING_SEED"); set {
				w := play(seed, m, seams{}, nil, true)
				t.Logf("seed %d\n%s%v", seed, strings.Join(w.trace, "\n"), w.tally)
				if w.broken != nil {
					t.Errorf("%s: %s", w.broken.breach, w.broken.text)
				}
				return
			}
			if testing.Short() {
				seeds /= 5
			}
			n, set := variable(t, "UIDRING_SEEDS")
			if set {
				seeds = n
			}
			campaign(t, m, seeds, !set)
		})
	}
}

// campaign plays n seeds. If all is wanted, what can happen has to.
func campaign(t *testing.T, m mode, n uint64, all bool) {
	sum := tally{}
	var noticed, unnoticed int // runs in which a tick was repeated
	for seed := range n {
		w := play(seed, m, seams{}, nil, false)
		if w.broken != nil {
			w = play(seed, m, seams{}, nil, true)
			t.Fatalf("%s; to replay: UIDRING_SEED=%d go test ./worker/lease/internal/protocol -run TestSimulator/%s -v", account(w), seed, m)
		}
		sum.add(w.tally)
		switch {
		case w.tally[repeats] > 0 && w.tally[told] > 0:
			noticed++
		case w.tally[repeats] > 0:
			unnoticed++
		}
	}
	t.Logf("%d seeds of %d steps:%v", n, steps, sum)
	if m == restores {
		// A holder whose row is as it left it cannot know that others had come after it.
		t.Logf("repeats in %d runs that some holder said so of, and %d in which none was left that could", noticed, unnoticed)
		if all && noticed == 0 {
			t.Error("no repeat was noticed")
		}
	}
	for _, h := range expected[m] {
		if all && sum[h] == 0 {
			t.Errorf("it never came to this: %s", h)
		}
	}
}

// account tells how a run came to what it found.
func account(w *world) string {
	setup, shown := w.trace[0], w.trace[1:]
	shown = shown[max(0, len(shown)-tail):]
	return fmt.Sprintf("seed %d, %s: %s\n%s\n%s", w.seed, w.broken.breach, w.broken.text, setup, strings.Join(shown, "\n"))
}

func variable(t *testing.T, name string) (value uint64, set bool) {
	text, set := os.LookupEnv(name)
	if !set {
		return 0, false
	}
	value, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return value, true
}

// TestForgottenDoubts has holders remember the last of their writes in doubt alone. They
// may lose numbers that they could have kept, and no tick is stamped or owned twice.
func TestForgottenDoubts(t *testing.T) {
	safety := []breach{repeated, uncovered, unowned, overlap, disorder, lowered, regrant, silent, endless}
	forgotten := 0
	forget := func(p *process) {
		if d := p.holder.doubts; len(d) > 1 {
			forgotten++
			p.holder.doubts = d[len(d)-1:]
		}
	}
	for seed := range uint64(1000) {
		if w := play(seed, promise, seams{taken: forget}, safety, false); w.broken != nil {
			t.Fatal(account(play(seed, promise, seams{taken: forget}, safety, true)))
		}
	}
	if forgotten == 0 {
		t.Error("no doubt was forgotten")
	}
	t.Logf("%d doubts forgotten", forgotten)
}

// TestReplay holds the simulator to its word: a seed always tells one story.
func TestReplay(t *testing.T) {
	for seed := range uint64(20) {
		for _, m := range []mode{promise, clones, restores, deletions} {
			first, second := play(seed, m, seams{}, nil, true), play(seed, m, seams{}, nil, true)
			if a, b := strings.Join(first.trace, "\n"), strings.Join(second.trace, "\n"); a != b || len(a) == 0 {
				t.Fatalf("%s seed %d differs when it is played again", m, seed)
			}
		}
	}
}
