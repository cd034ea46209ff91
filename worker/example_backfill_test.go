package worker_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// Rows from 2019 on get ids of their own time, in batches, beside live traffic. The command uidring
// backfill does it for most tables.
func ExampleNewLeaser_migration() {
	type Order struct {
		OldID   int64     `gorm:"primaryKey"`
		Created time.Time `gorm:"index"`
		UID     *uid.ID   // nil until the row is migrated
	}
	db, err := dbtest.Open(":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer dbtest.Close(db)
	if err := db.AutoMigrate(&Order{}); err != nil {
		log.Fatal(err)
	}
	oldest := time.Date(2019, time.May, 1, 12, 0, 0, 0, time.UTC)
	for i := range 10 {
		if err := db.Create(&Order{Created: oldest.Add(time.Duration(i/3) * time.Hour)}).Error; err != nil {
			log.Fatal(err)
		}
	}

	// The layout begins before the oldest row. All generators have it.
	layout, err := bits.ParseLayout("31/20/12,epoch=2019-01-01")
	if err != nil {
		log.Fatal(err)
	}
	ctx, leaser := context.Background(), worker.NewLeaser(db, lease.Config{})
	live, err := uid.NewCached(ctx, leaser, uid.CachedConfig{Layout: layout})
	if err != nil {
		log.Fatal(err)
	}
	defer live.Close()
	made, err := live.Next() // new rows get ids meanwhile
	if err != nil {
		log.Fatal(err)
	}

	// migrate gives ids to rows that have none, the oldest first. Each batch begins where the last one
	// ended. After a crash, migrate continues with the rows that have no id yet.
	migrate := func(batches int) error {
		old, err := uid.NewBackfill(ctx, leaser, uid.BackfillConfig{Layout: layout, MaxTicks: 1})
		if err != nil {
			return err
		}
		defer old.Close()
		for last := (Order{}); batches > 0; batches-- {
			var rows []Order
			if err := db.Where("uid IS NULL AND (created, old_id) > (?, ?)", last.Created, last.OldID).Order("created, old_id").Limit(4).Find(&rows).Error; err != nil {
				return err
			}
			for _, last = range rows {
				id, err := old.At(last.Created)
				if err != nil {
					return err
				}
				if err := db.Model(&last).Where("uid IS NULL").Update("uid", id).Error; err != nil {
					return err
				}
			}
		}
		_, err = old.At(oldest.AddDate(-1, 0, 0))
		fmt.Println("2018 has no ids:", errors.Is(err, uid.ErrBackfillTime))
		return nil
	}
	for range 2 { // the second run is after a crash
		if err := migrate(2); err != nil {
			log.Fatal(err)
		}
	}

	var rows []Order
	if err := db.Order("uid").Find(&rows).Error; err != nil {
		log.Fatal(err)
	}
	ordered, unique := true, map[uid.ID]bool{made: true}
	for i, row := range rows {
		parts, err := live.Parse(*row.UID)
		if err != nil {
			log.Fatal(err)
		}
		ordered = ordered && parts.Time.Equal(row.Created) && (i == 0 || !row.Created.Before(rows[i-1].Created)) && *row.UID < made
		unique[*row.UID] = true
	}
	fmt.Println("ids are in order of time:", ordered)
	fmt.Println("different ids:", len(unique))
	// Output:
	// 2018 has no ids: true
	// 2018 has no ids: true
	// ids are in order of time: true
	// different ids: 11
}
