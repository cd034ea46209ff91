package protocol

import (
	"fmt"
	"strings"
	"testing"
)

// steps are the events of one run.
const steps = 400

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
func TestSimulator(t *testing.T) {
	for m, seeds := range map[mode]uint64{promise: 4000, clones: 2000, restores: 2000, deletions: 1000} {
		t.Run(string(m), func(t *testing.T) {
			if testing.Short() {
				seeds /= 5
			}
			campaign(t, m, seeds)
		})
	}
}

// campaign plays n seeds. What can happen has to.
func campaign(t *testing.T, m mode, n uint64) {
	sum := tally{}
	var noticed, unnoticed int // runs in which a tick was repeated
	for seed := range n {
		w := play(seed, m, seams{}, nil, false)
		if w.broken != nil {
			t.Fatal(account(play(seed, m, seams{}, nil, true)))
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
		if noticed == 0 {
			t.Error("no repeat was noticed")
		}
	}
	for _, h := range expected[m] {
		if sum[h] == 0 {
			t.Errorf("it never came to this: %s", h)
		}
	}
}

// account tells how a run that was traced came to what it found.
func account(w *world) string {
	return fmt.Sprintf("seed %d\n%s", w.seed, strings.Join(w.trace, "\n"))
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
