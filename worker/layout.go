package worker

import (
	"cmp"
	"context"
	"math"
)

// Each table remembers the layout of its ids in a row of its own, whose key is no number.
const (
	leaseLayout int64 = math.MinInt64 // no range of numbers begins so high that this counts it
	nodeLayout  int64 = -1
)

// layoutText is a layout in two columns, which have 64 characters each.
type layoutText struct {
	Host string `gorm:"column:host"`
	Port string `gorm:"column:port"`
}

func textOf(layout string) layoutText {
	n := min(len(layout), 64)
	return layoutText{layout[:n], layout[n:]}
}

// SwapLayout implements leasestore.Store.
func (s *Store) SwapLayout(ctx context.Context, old, layout string) (string, error) {
	remembered, err := s.swapBoth(ctx, old, layout, func(text layoutText) error {
		return s.insertRow(ctx, "VALUES (?, '-', 0, 0, ?, ?, 0, {now})", leaseLayout, text.Host, text.Port)
	})
	return remembered, s.noTable(err)
}

// swapBoth is SwapLayout for the layout of this table and of the one beside it: their ids meet.
//
// Of two starts with two layouts, one at each table, at least one is refused: each commits its
// layout, then reads the other's, and looks again for a table that was not there before. Each also reads before it
// commits, so a refused start leaves no layout behind, unless the two are at it at the same time.
func (t *table) swapBoth(ctx context.Context, old, layout string, insert func(layoutText) error) (string, error) {
	beside, err := t.there(ctx)
	if err != nil {
		return "", err
	}
	other := ""
	if beside != nil {
		if other, err = beside.swapLayout(ctx, old, layout, nil); err != nil || other != "" && other != layout {
			return other, err
		}
	}
	remembered, err := t.swapLayout(ctx, old, layout, insert)
	if err == nil && remembered == "" && other == layout { // old was remembered beside only
		remembered, err = t.swapLayout(ctx, "", layout, insert)
	}
	if err != nil || remembered != layout {
		return remembered, err
	}
	if beside == nil {
		if beside, err = t.there(ctx); beside == nil || err != nil {
			return remembered, err
		}
	}
	other, err = beside.swapLayout(ctx, "", layout, nil)
	return cmp.Or(other, layout), err
}

// swapLayout is SwapLayout of one table, in a row that insert makes; nil makes no row.
func (t *table) swapLayout(ctx context.Context, old, layout string, insert func(layoutText) error) (string, error) {
	host, row := t.kind.host, t.quoted()+" WHERE "+t.kind.key+" = ?"
	for {
		var rows []layoutText
		if err := t.ask(ctx, &rows, "SELECT "+host+" AS host, port AS port FROM "+row, t.kind.layout); err != nil {
			return "", err
		}
		remembered, text := "", textOf(layout)
		if len(rows) > 0 {
			remembered = rows[0].Host + rows[0].Port
		}
		if remembered != old || remembered == layout || len(rows) == 0 && insert == nil {
			return remembered, nil
		}
		var err error
		done := true // another start may be faster
		if len(rows) == 0 {
			err = insert(text)
		} else {
			var wrote int64
			wrote, err = t.exec(ctx, "UPDATE {table} SET "+host+" = ?, port = ? WHERE "+t.kind.key+" = ? AND "+host+" = ? AND port = ?",
				text.Host, text.Port, t.kind.layout, rows[0].Host, rows[0].Port)
			done = wrote == 1
		}
		switch {
		case err == nil && done:
			return layout, nil
		case err != nil && !t.dialect().Duplicate(err):
			return "", err
		}
	}
}
