package segmentsql

import (
	"context"
	"fmt"

	"gorm.io/gorm"
)

// RaiseAbove raises the counter of tag above the greatest key in a column of a table
// in the same database, and returns the counter. It never lowers the counter. It
// quotes names as GORM does. [AUTO_INCREMENT.md] says when to call it.
//
// [AUTO_INCREMENT.md]: https://github.com/uidring/uidring/blob/main/uid/segment/segmentsql/AUTO_INCREMENT.md
func (s *Store) RaiseAbove(ctx context.Context, tag, table, column string) (int64, error) {
	var greatest struct {
		Key int64 `gorm:"column:greatest"`
	}
	err := s.once(ctx, func(tx *gorm.DB) error {
		quote := s.db.Statement.Quote
		return tx.Raw("SELECT COALESCE(MAX(" + quote(column) + "), 0) AS greatest FROM " + quote(table)).Scan(&greatest).Error
	})
	if err != nil {
		return 0, fmt.Errorf("segmentsql: greatest %s of %s: %w", column, table, err)
	}
	return s.Raise(ctx, tag, greatest.Key+1)
}
