package segmentsql

import (
	"cmp"
	"database/sql"
	"fmt"
	"math"
	"regexp"
	"strings"
)

type column struct {
	kind     string // such as BIGINT
	greatest int64  // that it holds
}

// greatest has what the columns of MySQL and PostgreSQL hold, by the names that MySQL's driver
// and PostgreSQL give the types.
var greatest = map[string]int64{
	"BIGINT": math.MaxInt64, "UNSIGNED BIGINT": math.MaxInt64, "NUMERIC": math.MaxInt64,
	"INT": math.MaxInt32, "UNSIGNED INT": math.MaxUint32, "INTEGER": math.MaxInt32,
	"MEDIUMINT": 1<<23 - 1, "UNSIGNED MEDIUMINT": 1<<24 - 1,
	"SMALLINT": math.MaxInt16, "UNSIGNED SMALLINT": math.MaxUint16,
	"TINYINT": math.MaxInt8, "UNSIGNED TINYINT": math.MaxUint8,
}

// floating matches the types of SQLite that mean a floating-point number. The brackets
// keep the linter from a correction.
var floating = regexp.MustCompile("REAL|FLOA|DOU[B]")

// columnOf returns the column of the counter by its type, whose name is kind if that is not
// empty. A column that does not hold every integer up to a greatest one exactly is an error.
func (s *Store) columnOf(of *sql.ColumnType, kind string) (column, error) {
	c := column{kind: strings.ToUpper(cmp.Or(kind, of.DatabaseTypeName()))}
	c.greatest = greatest[c.kind]
	switch precision, scale, sized := of.DecimalSize(); {
	case s.db.Name() == "sqlite":
		c.greatest = math.MaxInt64 // whatever the type, unless it means a floating-point number
		if !strings.Contains(c.kind, "INT") && floating.MatchString(c.kind) {
			c.greatest = 0
		}
	case c.kind != "DECIMAL":
	case sized && scale > 0:
	case sized && precision < 19:
		c.greatest = int64(math.Pow10(int(precision))) - 1
	default:
		c.greatest = math.MaxInt64
	}
	if c.greatest == 0 {
		return c, unusable("%s of %s is %s, want BIGINT: %s", s.next, s, c.kind, s.widen())
	}
	if c.narrow() && s.narrow.CompareAndSwap(false, true) {
		s.logger.Warn("segmentsql: the column is narrower than BIGINT; ids run out at its greatest value",
			"store", s.String(), "column", s.next, "type", c.kind, "greatest", c.greatest, "do", s.widen())
	}
	return c, nil
}

func (c column) narrow() bool { return c.greatest < math.MaxInt64 }

func (s *Store) tooNarrow(c column, next int64) error {
	return unusable("%s of %s is %s, which cannot hold %d, want BIGINT: %s", s.next, s, c.kind, next, s.widen())
}

func (s *Store) widen() string {
	if how := s.dialect().widen; how != "" {
		return fmt.Sprintf(how, s.quoted(), s.next)
	}
	return "make the table again" // SQLite does not change the type of a column
}
