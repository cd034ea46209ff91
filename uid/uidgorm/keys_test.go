package uidgorm_test

import (
	"errors"
	"testing"

	"gorm.io/gorm"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidgorm"
)

type forTicket struct {
	ID   uid.ID
	Text string
	Tags []forTag `gorm:"foreignKey:TicketID"`
}

type forTag struct {
	ID       uid.ID
	TicketID uid.ID
}

// A model of For gets its keys from its own generator, others from the first: alone, in a
// batch, from a map and as an association.
func TestKeys(t *testing.T) {
	each(t, []any{&forTicket{}, &forTag{}}, func(t *testing.T, s *store) {
		tickets := &counter{next: 1}
		db := s.with(t, s.gen, uidgorm.Config{Keys: []uidgorm.Keys{{From: tickets, Models: []any{&forTicket{}}}}})
		must(t, db.Create(&forTicket{Tags: []forTag{{}, {}}}).Error)
		must(t, db.Create([]*forTicket{{}, {}}).Error)
		must(t, db.Model(&forTicket{}).Create(map[string]any{"text": "ink"}).Error)
		must(t, db.Create(&forTag{TicketID: 1}).Error)
		wantIDs(t, "tickets", s.keys(t, &forTicket{}, "id"), []uid.ID{1, 2, 3, 4})
		wantIDs(t, "tags", s.keys(t, &forTag{}, "id"), []uid.ID{first, first + 1, first + 2})
		wantAsked(t, tickets, 1, 2, 1)
		wantAsked(t, s.gen, 2, 1)
	})
}

// What Keys cannot name is an error of db.Use, all of it at once.
func TestKeysRefused(t *testing.T) {
	s := newStore(t, "sqlite")
	gen := &counter{next: 1}
	err := s.Reopen(t, nil, gorm.Config{}).Use(uidgorm.New(gen,
		uidgorm.Config{Keys: []uidgorm.Keys{{nil, []any{forTag{}}}, {gen, nil}, {gen, []any{"orders", nil}}, {gen, []any{&forTicket{}, forTicket{}}}}}))
	if !errors.Is(err, uidgorm.ErrConfig) {
		t.Errorf("%v does not match ErrConfig", err)
	}
	wantAll(t, err,
		"Keys[0].From is nil, want a generator",
		"Keys[1].Models is empty, want one model or more",
		"Keys[2].Models is string, want structs or pointers to structs",
		"Keys[2].Models is <nil>",
		"Keys[3].Models is uidgorm_test.forTicket, want each model once",
	)
}
