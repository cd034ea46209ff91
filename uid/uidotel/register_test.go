package uidotel

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/figures"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmenttest"
	"github.com/uidring/uidring/uid/uidclient"
	"github.com/uidring/uidring/uid/uidtest"
)

func TestRegisterRefuses(t *testing.T) {
	p, reader := provider(t)
	_, unnamed := Register(p, "", calm())
	_, invalid := Register(p, "\xff", calm())
	_, none := Register[uid.Stats](p, "none", nil)
	_, pointer := Register(p, "pointer", (*uidclient.Client)(nil))
	_, zero := Register(p, "zero", &uid.Default{})
	for want, err := range map[string]error{
		`the name is ""`: unnamed, `the name is "\xff"`: invalid, `"none" is nil`: none, `"pointer" is nil`: pointer, `"zero" was not made`: zero,
	} {
		if !errors.Is(err, ErrGenerator) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want ErrGenerator and %s", err, want)
		}
	}
	if !errors.Is(zero, bits.ErrLayout) {
		t.Errorf("%v, want one that matches bits.ErrLayout", zero)
	}
	if points := collect(t, reader); len(points) != 0 {
		t.Errorf("observed %v, want nothing", points)
	}
}

// refusing is a provider whose meter makes no up-down counter.
type refusing struct{ noop.MeterProvider }

type refusingMeter struct{ noop.Meter }

var errRefused = errors.New("refused")

func (refusing) Meter(string, ...metric.MeterOption) metric.Meter { return refusingMeter{} }

func (refusingMeter) Int64ObservableUpDownCounter(string, ...metric.Int64ObservableUpDownCounterOption) (metric.Int64ObservableUpDownCounter, error) {
	return nil, errRefused
}

func TestProviderFails(t *testing.T) {
	if _, err := Register(refusing{}, "orders", calm()); !errors.Is(err, errRefused) || errors.Is(err, ErrGenerator) {
		t.Errorf("%v, want the provider's error alone", err)
	}
}

// Without a provider, the global one observes.
func TestGlobalProvider(t *testing.T) {
	p, reader := provider(t)
	before := otel.GetMeterProvider()
	otel.SetMeterProvider(p)
	defer otel.SetMeterProvider(before)
	if _, err := Register(nil, "orders", calm()); err != nil {
		t.Fatal(err)
	}
	if got := collect(t, reader)["uidring.id.issued orders"].value; got != 1200 {
		t.Errorf("issued %v, want 1200", got)
	}
}

// Generators come and go, and leave the others as they are.
func TestUnregister(t *testing.T) {
	p, reader := provider(t)
	register(t, p, "orders", calm())
	registration, err := Register(p, "carts", calm())
	if err != nil {
		t.Fatal(err)
	}
	both := collect(t, reader)
	for range 2 {
		if err := registration.Unregister(); err != nil {
			t.Fatal(err)
		}
	}
	one := collect(t, reader)
	if len(both) != 2*len(one) || one["uidring.id.issued orders"].value != 1200 {
		t.Errorf("%d points, and %d after Unregister, want half", len(both), len(one))
	}
	register(t, p, "carts", calm())
	if again := collect(t, reader); len(again) != len(both) {
		t.Errorf("%d points once carts is registered again, want %d", len(again), len(both))
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Every kind of generator is observed.
func TestEveryGenerator(t *testing.T) {
	ctx := t.Context()
	p, reader := provider(t)
	config := segment.Config{Create: true}

	cached := must(uid.NewCached(ctx, uid.StaticWorker(1), uid.CachedConfig{BoostPower: 1}))
	defer cached.Close()
	byClock := must(uid.NewDefault(ctx, uid.StaticWorker(2), uid.DefaultConfig{}))
	defer byClock.Close()
	slots := must(uid.NewSlots(ctx, uid.StaticWorker(3), uid.SlotsConfig{}))
	defer slots.Close()
	backfill := must(uid.NewBackfill(ctx, new(uidtest.Leaser), uid.BackfillConfig{}))
	defer backfill.Close()
	single := must(segment.New(ctx, new(segmenttest.Memory), "invoices", config))
	defer single.Close()
	striped := must(segment.Stripe(ctx, []segment.Store{new(segmenttest.Memory), new(segmenttest.Memory)}, "parcels", segment.StripeConfig{Config: config}))
	defer striped.Close()
	tags := must(segment.NewTags(new(segmenttest.Memory), segment.TagsConfig{Config: config}))
	defer tags.Close()
	fixed := uidtest.Sequence(t, 1000)

	register(t, p, "cached", cached)
	register(t, p, "default", byClock)
	register(t, p, "slots", slots)
	register(t, p, "backfill", backfill)
	register(t, p, "segment", single)
	register(t, p, "striped", striped)
	register(t, p, "tags", tags)
	register(t, p, "fixed", fixed)

	for _, next := range []func() (uid.ID, error){cached.Next, byClock.Next, slots.Next, single.Next, striped.Next, fixed.Next,
		func() (uid.ID, error) { return tags.Next(ctx, "tenant-1") },
		func() (uid.ID, error) { return tags.Next(ctx, "tenant-2") },
		func() (uid.ID, error) { return backfill.At(time.Now().Add(-time.Hour)) },
	} {
		must(next())
	}
	points := collect(t, reader)
	var stripes float64
	for key, p := range points {
		if strings.HasPrefix(key, "uidring.id.issued striped parcels") {
			stripes += p.value
		}
	}
	if stripes != 1 {
		t.Errorf("striped: issued %v, want 1", stripes)
	}
	for _, key := range []string{"cached", "default", "slots", "backfill", "segment invoices", "tags tenant-1", "tags tenant-2", "fixed"} {
		if got := points["uidring.id.issued "+key].value; got != 1 {
			t.Errorf("%s: issued %v, want 1", key, got)
		}
	}
	if _, ok := points["uidring.layout.end fixed"]; ok {
		t.Error("a generator without a layout has an end of its layout")
	}
}

// Collections and calls do not disturb each other, counters only grow, and a closed
// generator is observed as Close left it.
func TestCollectWhileInUse(t *testing.T) {
	gen, err := uid.NewCached(context.Background(), uid.StaticWorker(1), uid.CachedConfig{BoostPower: 1})
	if err != nil {
		t.Fatal(err)
	}
	p, reader := provider(t)
	register(t, p, "orders", gen)
	const takers, calls, batch = 2, 300, 256
	var working sync.WaitGroup
	for range takers {
		working.Go(func() {
			ids := make([]uid.ID, batch)
			for range calls {
				if _, err := gen.NextN(ids); err != nil {
					t.Error(err)
				}
			}
		})
	}
	working.Go(func() {
		before := map[string]point{}
		for range 30 {
			now := collect(t, reader)
			for key, p := range now {
				if p.kind == figures.Counter && p.value < before[key].value {
					t.Errorf("%s fell from %v to %v", key, before[key].value, p.value)
				}
			}
			before = now
		}
	})
	working.Wait()
	if err := gen.Close(); err != nil {
		t.Fatal(err)
	}
	points := collect(t, reader)
	if closed, issued := points["uidring.generator.closed orders"].value, points["uidring.id.issued orders"].value; closed != 1 || issued != takers*calls*batch {
		t.Errorf("after Close: closed %v, issued %v, want 1 and %d", closed, issued, takers*calls*batch)
	}
}
