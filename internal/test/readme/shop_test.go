package readme

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid"
)

var quiet = slog.New(slog.DiscardHandler)

// The models of a service before the move.
type (
	oldOrder struct {
		ID        int64
		CreatedAt time.Time
		Buyer     string
	}
	oldChild struct {
		ID      int64
		OrderID int64
	}
)

// The models while it writes both keys, as the page has them.
type Order struct {
	ID        int64  // from the database, as before
	UID       uid.ID `gorm:"uid;<-:create"`
	CreatedAt time.Time
	Buyer     string
}

type OrderLine struct {
	ID       int64
	OrderID  int64
	OrderUID *uid.ID
}

// The models afterwards.
type (
	newOrder struct {
		UID       uid.ID `gorm:"primaryKey"`
		CreatedAt time.Time
		Buyer     string
	}
	newChild struct {
		ID       int64
		OrderUID uid.ID
	}
)

// checkModels fails the test unless the page has the models that it tests.
func checkModels(t *testing.T, section string) {
	t.Helper()
	source, err := os.ReadFile("shop_test.go")
	need.Must(t, err)
	found := regexp.MustCompile("(?s)```go\n(.*?)```").FindStringSubmatch(section)
	if found == nil {
		t.Fatal("the section has no models")
	}
	for line := range strings.Lines(found[1]) {
		if !strings.Contains(string(source), "\n"+line) {
			t.Errorf("the page has %q, which the service does not", line)
		}
	}
}

// A version of the service creates an order with a line and a payment, pays an older one once more, and reads both. It
// returns an error unless it reads what must be there.
type version func(db *gorm.DB, buyer, older string) error

// oldOnly is what is deployed at first.
func oldOnly(db *gorm.DB, buyer, older string) error {
	return request(db, buyer, older, func(o *oldOrder) ([]any, string, any) {
		return []any{&oldChild{OrderID: o.ID}, &oldChild{OrderID: o.ID}}, "order_id", o.ID
	}, &oldOrder{Buyer: buyer})
}

// children are those of an order in both keys.
func children(o *Order) []any {
	line, payment := &OrderLine{OrderID: o.ID}, &OrderLine{OrderID: o.ID}
	if o.UID != 0 {
		line.OrderUID, payment.OrderUID = &o.UID, &o.UID
	}
	return []any{line, payment}
}

// both writes both keys, and finds rows by the old one.
func both(db *gorm.DB, buyer, older string) error {
	return request(db, buyer, older, func(o *Order) ([]any, string, any) { return children(o), "order_id", o.ID }, &Order{Buyer: buyer})
}

// byNew writes both keys, and finds rows by the new one.
func byNew(db *gorm.DB, buyer, older string) error {
	return request(db, buyer, older, func(o *Order) ([]any, string, any) { return children(o), "order_uid", o.UID }, &Order{Buyer: buyer})
}

// newOnly knows the new key alone.
func newOnly(db *gorm.DB, buyer, older string) error {
	return request(db, buyer, older, func(o *newOrder) ([]any, string, any) {
		return []any{&newChild{OrderUID: o.UID}, &newChild{OrderUID: o.UID}}, "order_uid", o.UID
	}, &newOrder{Buyer: buyer})
}

// request is a version whose orders are T. With returns an order's line and payment, and how others are found.
func request[T any](db *gorm.DB, buyer, older string, with func(*T) (children []any, column string, key any), made *T) error {
	fresh := *made
	err := retry(func() error {
		*made = fresh // without the keys of a transaction that was rolled back
		return db.Transaction(func(tx *gorm.DB) error {
			if err := tx.Table("orders").Create(made).Error; err != nil {
				return err
			}
			children, _, _ := with(made)
			if err := tx.Table("order_lines").Create(children[0]).Error; err != nil {
				return err
			}
			return tx.Table("payments").Create(children[1]).Error
		})
	})
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	var old T
	if err := db.Table("orders").Take(&old, "buyer = ?", older).Error; err != nil {
		return fmt.Errorf("find: %w", err)
	}
	again, _, _ := with(&old)
	if err := retry(func() error { return db.Table("payments").Create(again[1]).Error }); err != nil {
		return fmt.Errorf("pay: %w", err)
	}
	for _, order := range []*T{made, &old} {
		_, column, key := with(order)
		var lines, payments int64
		err := db.Table("order_lines").Where(column+" = ?", key).Count(&lines).Error
		if err == nil {
			err = db.Table("payments").Where(column+" = ?", key).Count(&payments).Error
		}
		if err != nil || lines != 1 || payments < 1 {
			return fmt.Errorf("read %+v: %d lines and %d payments: %w", *order, lines, payments, err)
		}
	}
	return nil
}

// shop is a service with a few instances, which make requests all the time.
type shop struct {
	db           *gorm.DB
	instances    [3]instance
	old, rounds  int
	orders, paid atomic.Int64 // created, and paid once more
	ended        atomic.Bool
	running      sync.WaitGroup
}

type instance struct {
	version atomic.Pointer[version]
	served  atomic.Int64
}

// open starts the instances.
func (s *shop) open(t *testing.T, v version) {
	t.Helper()
	for i := range s.instances {
		at := &s.instances[i]
		at.version.Store(&v)
		s.running.Go(func() {
			for n := 0; !s.ended.Load(); n++ {
				err := (*at.version.Load())(s.db, fmt.Sprintf("new %d %d", i, n), fmt.Sprintf("old %d", rand.IntN(s.old)))
				if err != nil {
					t.Errorf("request %d of instance %d: %v", n, i, err)
					return
				}
				s.orders.Add(1)
				s.paid.Add(1)
				at.served.Add(1)
			}
		})
	}
}

// retry makes a change again that a deadlock has ended, as the page says. Nothing of it is there.
func retry(change func() error) error {
	err := change()
	for ; err != nil && deadlock.MatchString(err.Error()); err = change() {
		deadlocks.Add(1)
		time.Sleep(time.Duration(rand.IntN(100)) * time.Millisecond)
	}
	return err
}

var (
	deadlock  = regexp.MustCompile(`Error 1213|40P01`)
	deadlocks atomic.Int64
)

// deploy replaces the version of one instance after another, and waits until each has served.
func (s *shop) deploy(t *testing.T, v version) {
	t.Helper()
	for i := range s.instances {
		at := &s.instances[i]
		at.version.Store(&v)
		before := at.served.Load()
		servertest.Eventually(t, "an instance serves", func() bool { return t.Failed() || at.served.Load() > before+3 })
	}
	if t.Failed() {
		t.FailNow()
	}
}

func (s *shop) close() {
	s.ended.Store(true)
	s.running.Wait()
}
