package browsertest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmenttest"
	"github.com/uidring/uidring/uid/uidstatus"
)

// config has ranges of 1,000 ids.
var config = segment.Config{Create: true, Step: 1000, MaxStep: 1000, Logger: slog.New(slog.DiscardHandler)}

// unavailable is a store that does not answer.
type unavailable struct{ segmenttest.Memory }

func (*unavailable) Reserve(context.Context, string, int64) (first, count int64, err error) {
	return 0, 0, errors.New("dial tcp 10.20.30.40:5432: connect: connection refused")
}

// A segment's page shows both ranges.
func TestSegment(t *testing.T) {
	ctx := browser(t)
	gen, err := segment.New(t.Context(), new(segmenttest.Memory), "orders", config)
	if err != nil {
		t.Fatal(err)
	}
	defer gen.Close()
	server := serve(t, nil, uidstatus.Config{More: func() map[string]uid.Stats {
		return map[string]uid.Stats{"orders": gen.Stats()}
	}})
	complaints(t, ctx)
	show(t, ctx, server.URL+place)
	until(t, ctx, text("in-use")+` === '1,000 of 1,000 ids are left' && `+text("next")+` === 'not loaded'`)
	for range 300 {
		_, _ = gen.Next()
	}
	until(t, ctx, text("in-use")+` === '700 of 1,000 ids are left' && `+text("next")+` === '1,000 ids are ready'`)
	until(t, ctx, `document.querySelector('.range.in-use .track').getAttribute('width') === '300'`)
	until(t, ctx, `document.querySelector('.range.next .ends').textContent === '1,001 2,000'`)
	until(t, ctx, `document.querySelector('[data-rate]').textContent.endsWith(' a second')`)
	if value[bool](t, ctx, `document.querySelector('form') !== null`) {
		t.Error("the page decodes ids, which have no parts")
	}
}

// Many tags stand in a table, and so do the stores of a striped counter, one of which is
// unavailable. The table is kept up to date and leads to the page of each.
func TestSegments(t *testing.T) {
	ctx := browser(t)
	tags, err := segment.NewTags(new(segmenttest.Memory), segment.TagsConfig{Config: config})
	if err != nil {
		t.Fatal(err)
	}
	defer tags.Close()
	for i := range 60 {
		if _, err := tags.Next(t.Context(), fmt.Sprintf("tenant <b>%03d</b>", i)); err != nil {
			t.Fatal(err)
		}
	}
	stores := []segment.Store{new(segmenttest.Memory), new(unavailable)}
	striped, err := segment.Stripe(t.Context(), stores, "orders", segment.StripeConfig{Config: config})
	if err != nil {
		t.Fatal(err)
	}
	defer striped.Close()
	server := serve(t, nil, uidstatus.Config{More: func() map[string]uid.Stats {
		all := map[string]uid.Stats{}
		for _, s := range append(tags.Stats(), striped.Stats()...) {
			all[s.Loads.Tag] = s
		}
		return all
	}})
	complaints(t, ctx)
	show(t, ctx, server.URL+place)
	until(t, ctx, `document.querySelectorAll('tbody tr').length === 62`)
	const row = `document.querySelector('[data-generator="orders %d/2 x1000"]')`
	until(t, ctx, fmt.Sprintf(row, 1)+`.dataset.state === 'ok'`)
	until(t, ctx, fmt.Sprintf(row, 2)+`.dataset.state === 'failing' && `+fmt.Sprintf(row, 2)+`.innerText.includes('connection refused')`)
	if _, err := tags.Next(t.Context(), "tenant <b>059</b>"); err != nil {
		t.Fatal(err)
	}
	until(t, ctx, `document.querySelector('tbody tr:last-child [data-text=issued]').textContent === '2'`)
	run(t, ctx, chromedp.Evaluate[chromedp.Void](`document.querySelector('tbody tr:last-child a').click()`))
	until(t, ctx, `document.querySelector('h2')?.textContent === 'tenant <b>059</b>' && `+text("issued")+` === '2'`)

	screens(t, ctx, "segments", server.URL+place)
	screens(t, ctx, "segment", server.URL+place+"?name=tenant%20%3Cb%3E059%3C/b%3E")
	screens(t, ctx, "segment-unavailable", server.URL+place+"?name=orders%202/2%20x1000")
}
