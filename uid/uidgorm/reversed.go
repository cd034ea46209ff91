package uidgorm

import (
	"database/sql/driver"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// Reversed is a field for an id whose column holds [bits.Reverse] of it, for databases that
// shard by range. [docs/databases.md] says when to use it, and what is lost. In Go and in JSON, the
// id is as it was made.
//
// Foreign keys of the key have this type too. In conditions, pass a Reversed: GORM knows no
// field there, and sends a plain id as it is.
//
//	db.First(&order, "id = ?", uidgorm.Reversed{ID: id})
//
// [docs/databases.md]: https://github.com/uidring/uidring/blob/main/docs/databases.md#databases-that-shard-by-range
type Reversed struct{ uid.ID }

// Value returns the reversed id as a BIGINT.
func (r Reversed) Value() (driver.Value, error) { return uid.ID(bits.Reverse(int64(r.ID))).Value() }

// Scan reads a reversed id, from what [uid.ID.Scan] reads.
func (r *Reversed) Scan(value any) error {
	if err := r.ID.Scan(value); err != nil {
		return err
	}
	r.ID = uid.ID(bits.Reverse(int64(r.ID)))
	return nil
}
