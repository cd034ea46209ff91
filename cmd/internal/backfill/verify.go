package backfill

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// verify reads the whole table, and returns what it has found, or what is wrong.
func (t *table) verify(ctx context.Context, made *filler) (string, error) {
	if err := t.twice(ctx); err != nil {
		return "", err
	}
	rows, own, foreign, farthest := 0, 0, 0, time.Duration(0)
	for last := (*row)(nil); ; {
		found, err := t.full(ctx, last)
		if err != nil {
			return "", err
		}
		if len(found) == 0 {
			break
		}
		for _, r := range found {
			off, err := t.compare(r, made)
			switch {
			case errors.Is(err, bits.ErrForeign):
				foreign++
			case err != nil:
				return "", fmt.Errorf("the row with %s %v: %w", t.key.Name, r.key, err)
			case off == 0:
				own++
			}
			farthest = max(farthest, off.Abs())
		}
		rows, last = rows+len(found), &found[len(found)-1]
	}
	report := fmt.Sprintf("%d rows have got an id%s; of all %d rows, each has an id, no two are equal, and %d carry the tick of %s",
		made.filled, workers(made.workers), rows, own, t.time.Name)
	if own+foreign < rows {
		report += fmt.Sprintf(", the others one at most %v away", farthest)
	}
	if foreign > 0 {
		report += fmt.Sprintf("; %d are not of the layout %s, so nothing is known of their time", foreign, t.ids.Layout())
	}
	return report, nil
}

func workers(of map[int64]bool) string {
	numbers := slices.Sorted(maps.Keys(of))
	switch len(numbers) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(", under worker number %d", numbers[0])
	}
	return fmt.Sprintf(", under worker numbers %d to %d", numbers[0], numbers[len(numbers)-1])
}

// twice returns an error if an id is in two rows. It groups only to find one: to count is faster by an order of magnitude.
func (t *table) twice(ctx context.Context) error {
	var ids []int64
	err := t.retry(ctx, "compare the ids of "+t.name, func(tx *gorm.DB) error {
		var all, distinct int64
		err := tx.Raw(t.sql("SELECT COUNT({column}), COUNT(DISTINCT {column}) FROM {table}")).Row().Scan(&all, &distinct)
		if err != nil || all == distinct {
			return err
		}
		return tx.Raw(t.sql("SELECT {column} FROM {table} WHERE {column} IS NOT NULL GROUP BY {column} HAVING COUNT(*) > 1 LIMIT 1")).Scan(&ids).Error
	})
	if err == nil && len(ids) > 0 {
		err = fmt.Errorf("%s %d is in several rows: another program writes ids that are not of this store", t.column.Name, ids[0])
	}
	return err
}

// compare returns how far the id's time is from the row's, 0 in the same tick. That of a row which the command
// has filled is not before it, and not later than where a full tick had to end.
func (t *table) compare(r row, made *filler) (time.Duration, error) {
	parts, err := t.ids.Parse(*r.id)
	if err != nil {
		return 0, err
	}
	tick, want := t.ids.Tick(parts.Time), t.ids.Tick(r.at)
	if made.workers[parts.Worker] && (tick < want || tick > want+made.spilled) {
		return 0, fmt.Errorf("%s %v carries %s, and %s is %s", t.column.Name, uid.ID(*r.id), parts.Time.Format(time.RFC3339Nano), t.time.Name, r.at.UTC().Format(time.RFC3339Nano))
	}
	return parts.Time.Sub(t.ids.Time(want)), nil
}

// finish has the statements that follow: {index} is a name, {type} that of the column, {primary} the index of
// the primary key.
var finish = map[string]string{
	"mysql": "ALTER TABLE {table} MODIFY {column} {type} NOT NULL, ADD UNIQUE {index} ({column}), ALGORITHM=INPLACE, LOCK=NONE;\n" +
		"-- and to make it the primary key, without AUTO_INCREMENT and once no foreign key refers to {key}:\n" +
		"-- ALTER TABLE {table} DROP PRIMARY KEY, ADD PRIMARY KEY ({column});\n",
	"postgres": "CREATE UNIQUE INDEX CONCURRENTLY {index} ON {table} ({column});\n" +
		"ALTER TABLE {table} ADD CONSTRAINT {check} CHECK ({column} IS NOT NULL) NOT VALID;\n" +
		"ALTER TABLE {table} VALIDATE CONSTRAINT {check};\n" +
		"ALTER TABLE {table} ALTER COLUMN {column} SET NOT NULL;\n" +
		"ALTER TABLE {table} DROP CONSTRAINT {check};\n" +
		"-- and to make it the primary key, once no foreign key refers to {key}:\n" +
		"-- ALTER TABLE {table} DROP CONSTRAINT {primary}, ADD PRIMARY KEY USING INDEX {index};\n",
	"sqlite": "CREATE UNIQUE INDEX {index} ON {table} ({column});\n" +
		"-- SQLite adds neither NOT NULL nor a primary key to a table; copy the rows to a new one for that.\n",
}

// next returns the statements that follow.
func (t *table) next() string {
	name := t.name[strings.LastIndexByte(t.name, '.')+1:] + "_" + t.column.Name
	primary := ""
	for _, i := range t.indexes {
		if i.Primary {
			primary = i.Name
		}
	}
	quote := t.db.Statement.Quote
	return strings.NewReplacer("{index}", quote(name), "{check}", quote(name+"_set"), "{primary}", quote(primary), "{type}", t.column.Type).Replace(t.sql(finish[t.db.Name()]))
}
