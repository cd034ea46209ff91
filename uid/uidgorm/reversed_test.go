package uidgorm_test

import (
	"cmp"
	"slices"
	"testing"

	"gorm.io/gorm/clause"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidgorm"
)

type (
	Parcel struct {
		ID    uidgorm.Reversed
		Code  *string `gorm:"size:8;unique"`
		Lines []ParcelLine
	}
	ParcelLine struct {
		ID       uidgorm.Reversed
		ParcelID uidgorm.Reversed
	}
)

// A column of Reversed has the reversed ids, in no order of time. Joins, associations and
// lookups by a Reversed are as those of plain ids.
func TestReversed(t *testing.T) {
	each(t, []any{&Parcel{}, &ParcelLine{}}, func(t *testing.T, s *store) {
		parcels := make([]Parcel, 8)
		for i := range parcels {
			parcels[i].Lines = make([]ParcelLine, 2)
		}
		must(t, s.db.Create(&parcels).Error)
		var stored []int64
		must(t, s.db.Model(&Parcel{}).Order("id").Pluck("id", &stored).Error)
		var ids []uid.ID
		for i, parcel := range parcels {
			ids = append(ids, parcel.ID.ID)
			if !slices.Contains(stored, bits.Reverse(int64(parcel.ID.ID))) || parcel.Lines[1].ParcelID != parcel.ID {
				t.Errorf("parcel %d has id %d and lines %+v; the column has %d", i, parcel.ID, parcel.Lines, stored)
			}
		}
		var back []Parcel
		must(t, s.db.Preload("Lines").Order("id").Find(&back).Error)
		if len(back) != 8 || len(back[7].Lines) != 2 || !slices.IsSorted(ids) ||
			slices.IsSortedFunc(back, func(a, b Parcel) int { return cmp.Compare(a.ID.ID, b.ID.ID) }) {
			t.Errorf("ORDER BY id reads %+v, want all parcels, in another order than that of time", back)
		}
		var joined int64
		must(t, s.db.Model(&ParcelLine{}).Joins("JOIN ? AS p ON p.id = parcel_id", clause.Table{Name: s.schema(t, &Parcel{}).Table}).
			Where("p.id = ?", parcels[3].ID).Count(&joined).Error)
		var found, plain []Parcel
		must(t, s.db.Find(&found, "id = ?", parcels[3].ID).Error)
		must(t, s.db.Find(&plain, "id = ?", parcels[3].ID.ID).Error)
		if joined != 2 || len(found) != 1 || found[0].ID != parcels[3].ID || len(plain) != 0 {
			t.Errorf("%d lines joined, %+v found by a Reversed, %+v by its id", joined, found, plain)
		}
		coded, again := Parcel{Code: new("a")}, Parcel{Code: new("a"), Lines: make([]ParcelLine, 1)}
		must(t, s.db.Create(&coded).Error)
		must(t, s.db.Clauses(none).Create(&again).Error)
		wantIDs(t, "the parcel of a line, where another parcel was kept", []uid.ID{again.Lines[0].ParcelID.ID}, []uid.ID{coded.ID.ID})
		wantError(t, new(uidgorm.Reversed).Scan("x"), uid.ErrSyntax)
	})
}
