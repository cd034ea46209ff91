package uid_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
)

// remembering is a source that answers with a layout when it is asked for one, and refuses all others
// than the one that its store has when the generator starts.
type remembering struct {
	answer string
	stored bool
	err    error
	has    string // empty accepts any layout

	asked, started int
}

func (r *remembering) Layout(context.Context) (layout string, stored bool, err error) {
	r.asked++
	return r.answer, r.stored, r.err
}

func (r *remembering) Lease(ctx context.Context, request lease.Request) (lease.Lease, error) {
	if r.started++; r.has != "" && request.Layout != r.has {
		return nil, &lease.LayoutError{Layout: request.Layout, Remembered: r.has}
	}
	request.Granted(lease.Grant{Held: true, Number: 1, Fresh: true})
	return lease.NewPermanent(lease.NewStatic(1)).Lease(ctx, lease.Request{Limit: 9, Granted: func(lease.Grant) {}})
}

// A generator without a layout asks its source once, and starts again at most once.
func TestSettledLayout(t *testing.T) {
	long, gone := bits.LongLived().String(), errors.New("gone")
	for _, test := range []struct {
		name           string
		source         remembering
		config         uid.CachedConfig
		layout         bits.Layout
		from           string
		fault          string // in the error; empty is none
		asked, started int
	}{
		{"stated", remembering{answer: long, stored: true}, uid.CachedConfig{Layout: bits.JSSafe()}, bits.JSSafe(), "config", "", 0, 1},
		{"remembered", remembering{answer: long, stored: true, has: long}, uid.CachedConfig{}, bits.LongLived(), "store", "", 1, 1},
		{"the source's own", remembering{answer: long}, uid.CachedConfig{}, bits.LongLived(), "default", "", 1, 1},
		{"new store", remembering{}, uid.CachedConfig{}, bits.Fleet(), "default", "", 1, 1},
		{"another start was faster", remembering{has: long}, uid.CachedConfig{}, bits.LongLived(), "store", "", 1, 2},
		{"changed meanwhile", remembering{answer: bits.JSSafe().String(), stored: true, has: long}, uid.CachedConfig{}, bits.LongLived(), "store", "", 1, 2},
		{"stated beside another", remembering{has: long}, uid.CachedConfig{Layout: bits.Fleet()}, bits.Layout{}, "", "the store's ids have " + long, 0, 1},
		{"wrong config", remembering{answer: long, stored: true}, uid.CachedConfig{PaddingFactor: 100}, bits.Layout{}, "", "PaddingFactor is 100", 0, 0},
		{"store fails", remembering{err: gone}, uid.CachedConfig{}, bits.Layout{}, "", "gone", 1, 0},
		{"unreadable", remembering{answer: "A", stored: true}, uid.CachedConfig{}, bits.Layout{}, "", "state the layout in the config: bits: invalid layout", 1, 0},
		{"unreadable meanwhile", remembering{has: "-"}, uid.CachedConfig{}, bits.Layout{}, "", "state the layout in the config: bits: invalid layout", 1, 1},
	} {
		for kind, open := range kinds {
			if kind != "cached" && test.config.PaddingFactor > 0 {
				continue // which it does not have
			}
			var log logged.Text
			source := test.source
			test.config.Logger = log.Logger()
			gen, err := open(t.Context(), &source, test.config)
			if test.fault != "" {
				if err == nil || !strings.Contains(err.Error(), test.fault) {
					t.Errorf("%s, %s: %v, want %q in the error", test.name, kind, err, test.fault)
				}
			} else if made := opened(t, gen, err).(interface{ Layout() bits.Layout }); made.Layout() != test.layout || log.Count("uid: started", "layout_from="+test.from) != 1 {
				t.Errorf("%s, %s: layout %v, want %v from %s; logged\n%s", test.name, kind, made.Layout(), test.layout, test.from, log.String())
			}
			if source.asked != test.asked || source.started != test.started {
				t.Errorf("%s, %s: asked %d times and started %d times, want %d and %d", test.name, kind, source.asked, source.started, test.asked, test.started)
			}
		}
	}
}
