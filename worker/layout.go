package worker

import (
	"context"
	"math"

	"gorm.io/gorm"
)

// Each table remembers the layout of its ids in a row of its own, whose key is no number.
const (
	leaseLayout = math.MinInt64 // no range of numbers begins so high that this counts it
	nodeLayout  = -1
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

// SwapLayout implements lease.Store.
func (s *Store) SwapLayout(ctx context.Context, old, layout string) (string, error) {
	remembered, err := s.swapLayout(ctx, old, layout, func(tx *gorm.DB, text layoutText) error {
		return s.insertMeta(tx, leaseLayout, 0, text)
	})
	return remembered, s.noTable(s.marked(err))
}

// swapLayout is SwapLayout, in a row that insert makes.
func (t *table) swapLayout(ctx context.Context, old, layout string, insert func(*gorm.DB, layoutText) error) (string, error) {
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
		if remembered != old || remembered == layout {
			return remembered, nil
		}
		done := false // another start may be faster
		err := t.primary(ctx, func(tx *gorm.DB) error {
			if len(rows) == 0 {
				err := insert(tx, text)
				done = err == nil
				return err
			}
			result := tx.Exec("UPDATE "+t.quoted()+" SET "+host+" = ?, port = ? WHERE "+t.kind.key+" = ? AND "+host+" = ? AND port = ?",
				text.Host, text.Port, t.kind.layout, rows[0].Host, rows[0].Port)
			done = result.RowsAffected == 1
			return result.Error
		})
		switch {
		case err == nil && done:
			return layout, nil
		case err != nil && !t.dialect().Duplicate(err):
			return "", err
		}
	}
}
