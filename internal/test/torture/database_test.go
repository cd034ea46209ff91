//go:build linux

package torture

import (
	"context"

	"gorm.io/gorm"

	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// database is a child's SQL database, for what needs more than a store.
type database struct{ db *gorm.DB }

// kinds returns Leasers' store and a Registry. If they are apart, neither knows of the
// other's numbers.
func (d *database) kinds(apart bool) (lease.Store, *worker.Registry) {
	return worker.NewStore(d.db, worker.StoreConfig{Alone: apart}), worker.NewRegistry(d.db, worker.RegistryConfig{Alone: apart, Logger: silent})
}

// exec runs statements, one after the other.
func (d *database) exec(ctx context.Context, statements ...string) error {
	for _, s := range statements {
		if err := d.db.WithContext(ctx).Exec(s).Error; err != nil {
			return err
		}
	}
	return nil
}

// reserve reserves ids as if what was written were always what is there.
func (d *database) reserve(ctx context.Context, n int64) (first, count int64, err error) {
	err = d.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		if err := tx.Raw("SELECT max_id FROM leaf_alloc WHERE biz_tag = ? FOR UPDATE", tag).Scan(&first).Error; err != nil {
			return err
		}
		return tx.Exec("UPDATE leaf_alloc SET max_id = ? WHERE biz_tag = ?", first+n, tag).Error
	})
	return first, n, err
}
