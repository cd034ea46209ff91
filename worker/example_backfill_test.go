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
	db := open(":memory:")
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

	// The oldest rows come first. Each batch begins where the last one ended. After a crash, the next run continues with the
	// rows that have no id yet.
	old, err := uid.NewBackfill(ctx, leaser, uid.BackfillConfig{Layout: layout, MaxTicks: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer old.Close()
	ordered, unique := true, map[uid.ID]bool{made: true}
	for batch, last := make([]Order, 1), (Order{}); len(batch) > 0; {
		batch = nil
		if err := db.Where("uid IS NULL AND (created, old_id) > (?, ?)", last.Created, last.OldID).Order("created, old_id").Limit(4).Find(&batch).Error; err != nil {
			log.Fatal(err)
		}
		for _, row := range batch {
			id, err := old.At(row.Created)
			if err != nil {
				log.Fatal(err)
			}
			if err := db.Model(&row).Where("uid IS NULL").Update("uid", id).Error; err != nil {
				log.Fatal(err)
			}
			ordered = ordered && id < made && (last.UID == nil || *last.UID < id)
			unique[id], last = true, row
		}
	}
	_, err = old.At(oldest.AddDate(-1, 0, 0))
	fmt.Println("2018 has no ids:", errors.Is(err, uid.ErrBackfillTime))
	fmt.Println("ids are in order of time:", ordered)
	fmt.Println("different ids:", len(unique))
	// Output:
	// 2018 has no ids: true
	// ids are in order of time: true
	// different ids: 11
}
