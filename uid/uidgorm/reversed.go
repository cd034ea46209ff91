package uidgorm

import (
	"database/sql/driver"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// Reversed is an id that the database stores with its bits reversed (see [bits.Reverse]), for
// databases that shard by range. [docs/databases.md] explains when to use it, and what you lose. In
// Go and in JSON, the id is unchanged.
//
// Foreign keys to such a key need this type too. In conditions, pass a Reversed: GORM cannot tell
// which field an argument belongs to, so it would send a plain id without reversing it.
//
//	db.First(&order, "id = ?", uidgorm.Reversed{ID: id})
//
// [docs/databases.md]: https://github.com/uidring/uidring/blob/main/docs/databases.md#databases-that-shard-by-range
type Reversed struct{ uid.ID }

// Value returns the reversed id as an int64, for a BIGINT column.
func (r Reversed) Value() (driver.Value, error) { return uid.ID(bits.Reverse(int64(r.ID))).Value() }

// Scan reads a reversed id from any value [uid.ID.Scan] accepts.
func (r *Reversed) Scan(value any) error {
	if err := r.ID.Scan(value); err != nil {
		return err
	}
	r.ID = uid.ID(bits.Reverse(int64(r.ID)))
	return nil
}
