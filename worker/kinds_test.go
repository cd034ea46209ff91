package worker_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// The kinds of sources of numbers. The first three draw, and the other two choose.
const (
	aRegistry = "Registry"
	aLeaser   = "Leaser"
	aForeign  = "another language's Registry"
	aRange    = "range"
	anOrdinal = "Assigner"
)

// kind returns a source of a kind on the tables of s.
func (s *store) kind(name string, db *gorm.DB, more ...option) uid.WorkerSource {
	opts := append([]option{quiet}, more...)
	switch name {
	case aRegistry:
		return s.registry(db, opts...)
	case aForeign:
		return foreign{db, s.prefix + "WORKER_NODE"}
	case aRange:
		opts = append(opts, lease.Config{Numbers: &lease.Range{From: 1, To: 9}})
	case anOrdinal:
		opts = append(opts, lease.Config{Assigner: lease.NewStatic(1)})
	}
	return s.leaser(db, opts...)
}

// chooses reports whether a kind chooses its numbers.
func chooses(kind string) bool { return kind == aRange || kind == anOrdinal }

// foreign is a Registry in another language. It inserts rows as uid-generator does, and reads nothing.
type foreign struct {
	db    *gorm.DB
	table string
}

const foreignInsert = " (HOST_NAME, PORT, TYPE, LAUNCH_DATE, MODIFIED, CREATED) VALUES ('java', '1463725200000-7', 2, CURRENT_DATE, CURRENT_TIMESTAMP, CURRENT_TIMESTAMP)"

func (f foreign) Lease(ctx context.Context, r lease.Request) (lease.Lease, error) {
	var key int64
	err := f.db.WithContext(ctx).Connection(func(tx *gorm.DB) error {
		switch f.db.Name() {
		case "postgres":
			return tx.Raw("INSERT INTO " + strings.ToLower(f.table) + foreignInsert + " RETURNING id").Scan(&key).Error
		case "mysql":
			return errors.Join(tx.Exec("INSERT INTO "+f.table+foreignInsert).Error, tx.Raw("SELECT LAST_INSERT_ID()").Scan(&key).Error)
		}
		return errors.Join(tx.Exec("INSERT INTO "+f.table+foreignInsert).Error, tx.Raw("SELECT LAST_INSERT_ROWID()").Scan(&key).Error)
	})
	if err != nil {
		return nil, err
	}
	return lease.NewPermanent(lease.NewStatic(key)).Lease(ctx, r)
}

// draw takes a number as another language's Registry does.
func (s *store) draw(t *testing.T) int64 {
	t.Helper()
	return assign(t, s.kind(aForeign, s.DB))
}

// wantKind fails unless a start is refused because the database's numbers are taken in another way.
func wantKind(t *testing.T, err error, divided bool) {
	t.Helper()
	var kind *worker.KindError
	if !errors.As(err, &kind) || !errors.Is(err, worker.ErrMixed) || kind.Divided != divided {
		t.Errorf("%v; want a KindError, divided %t", err, divided)
	}
}
