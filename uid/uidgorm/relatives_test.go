package uidgorm_test

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidgorm"
)

type (
	Town struct {
		ID      uid.ID
		Name    string  `gorm:"size:64;uniqueIndex"`
		Alias   *string `gorm:"size:64"` // has a unique index that no tag declares
		Deleted gorm.DeletedAt
	}
	Tag struct {
		ID   uid.ID
		Name string `gorm:"size:64;uniqueIndex:,composite:name_lang"`
		Lang string `gorm:"size:8;uniqueIndex:,composite:name_lang"`
	}
	Toy struct {
		ID        uid.ID
		Name      string
		OwnerID   uid.ID
		OwnerType string
	}
	Pet struct {
		ID      uid.ID
		OwnerID uid.ID
		Name    string `gorm:"size:64;unique"`
		Toys    []Toy  `gorm:"polymorphic:Owner"`
	}
	Person struct {
		ID     uid.ID
		Name   string `gorm:"size:64;uniqueIndex"`
		Rank   int
		TownID uid.ID
		Town   *Town
		Pet    *Pet   `gorm:"foreignKey:OwnerID"`
		Pets   []*Pet `gorm:"foreignKey:OwnerID"`
		Toys   []Toy  `gorm:"polymorphic:Owner"`
		Tags   []Tag  `gorm:"many2many:person_tags;joinForeignKey:PersonID;joinReferences:TagID"`
	}
)

// handles open databases. A minus stands for no RETURNING, which MySQL never has.
var handles = map[string]func(s *dbtest.Store, t *testing.T) gorm.Dialector{
	"sqlite":   func(s *dbtest.Store, _ *testing.T) gorm.Dialector { return s.DB.Dialector },
	"mysql":    func(s *dbtest.Store, _ *testing.T) gorm.Dialector { return s.DB.Dialector },
	"postgres": func(s *dbtest.Store, _ *testing.T) gorm.Dialector { return s.DB.Dialector },
	"mysql-": func(s *dbtest.Store, _ *testing.T) gorm.Dialector {
		return mysql.New(mysql.Config{Conn: s.DB.ConnPool, DisableWithReturning: true})
	},
	"mysql-found": func(s *dbtest.Store, t *testing.T) gorm.Dialector {
		return mysql.New(mysql.Config{Conn: s.Open(t, s.With("clientFoundRows=true")).ConnPool, DisableWithReturning: true})
	},
	"postgres-": func(s *dbtest.Store, _ *testing.T) gorm.Dialector {
		return postgres.New(postgres.Config{Conn: s.DB.ConnPool, WithoutReturning: true})
	},
}

// relation is one way in which rows refer to each other. Of the numbers, 1 has a row already.
type relation struct {
	name  string
	db    func(db *gorm.DB) *gorm.DB
	row   func(n int) Person
	links string // a query of foreign keys and of the keys that they should be
}

func relations() (all []relation) {
	name := func(kind string, n int) string { return fmt.Sprint(kind, n) }
	plain := func(db *gorm.DB) *gorm.DB { return db }
	all = []relation{
		{"belongs-to", plain, func(n int) Person {
			return Person{Name: name("new", n), Town: &Town{Name: name("town", n)}}
		}, "SELECT p.town_id, r.id FROM people p, towns r WHERE p.name = 'new%[1]d' AND r.name = 'town%[1]d'"},
		{"belongs-to-untagged", plain, func(n int) Person {
			return Person{Name: name("new", n), Town: &Town{Name: name("other", n), Alias: new(name("alias", n))}}
		}, "SELECT p.town_id, r.id FROM people p, towns r WHERE p.name = 'new%[1]d' AND r.alias = 'alias%[1]d'"},
		{"many-to-many-there", plain, func(n int) Person {
			return Person{Name: name("new", n), Tags: []Tag{{Name: name("tag", n), Lang: "en"}, {Name: name("tag", n), Lang: "de"}}}
		}, "SELECT j.tag_id, r.id FROM people p JOIN person_tags j ON p.id = person_id, tags r " +
			"WHERE p.name = 'new%[1]d' AND r.name = 'tag%[1]d' ORDER BY j.tag_id = r.id DESC LIMIT 2"}, // of 4 pairs
		{"has-many-there", plain, func(n int) Person {
			return Person{Name: name("new", n), Pets: []*Pet{{Name: name("pet", n), Toys: []Toy{{Name: name("toy", n)}}}}}
		}, "SELECT t.owner_id, r.id FROM toys t, pets r WHERE t.name = 'toy%[1]d' AND r.name = 'pet%[1]d'"},
	}
	for clauses, upsert := range map[string]clause.OnConflict{
		"nothing": none,
		"on-name": {Columns: onName, DoNothing: true},
		"update":  {Columns: onName, DoUpdates: clause.AssignmentColumns([]string{"rank"})},
		"all":     {Columns: onName, UpdateAll: true},
	} {
		db := func(db *gorm.DB) *gorm.DB { return db.Clauses(upsert) }
		owner := "SELECT r.owner_id, p.id FROM people p, %s r WHERE p.name = 'person%%[1]d' AND r.name = '%s%%[1]d'"
		all = append(all,
			relation{clauses + "/has-one", db, func(n int) Person {
				return Person{Name: name("person", n), Rank: n, Pet: &Pet{Name: name("p", n)}}
			}, fmt.Sprintf(owner, "pets", "p")},
			relation{clauses + "/has-many", db, func(n int) Person {
				return Person{Name: name("person", n), Pets: []*Pet{{Name: name("p", n)}, {Name: name("q", n)}}}
			}, fmt.Sprintf(owner, "pets", "q")},
			relation{clauses + "/polymorphic", db, func(n int) Person {
				return Person{Name: name("person", n), Rank: n, Toys: []Toy{{Name: name("t", n)}}}
			}, fmt.Sprintf(owner, "toys", "t")},
			relation{clauses + "/many-to-many", db, func(n int) Person {
				return Person{Name: name("person", n), Tags: []Tag{{Name: name("x", n)}}}
			}, "SELECT j.person_id, p.id FROM people p, person_tags j JOIN tags r ON r.id = j.tag_id WHERE p.name = 'person%[1]d' AND r.name = 'x%[1]d'"},
		)
	}
	slices.SortFunc(all, func(a, b relation) int { return strings.Compare(a.name, b.name) })
	return all
}

// check compares the foreign keys that a query returns with the keys that they should be.
func (k *kin) check(t *testing.T, query string) string {
	rows, err := k.db.Raw(k.names.ReplaceAllStringFunc(query, func(name string) string {
		return k.db.Statement.Quote(k.Table + "_" + name)
	})).Rows()
	must(t, err)
	defer rows.Close()
	outcome := "none"
	for rows.Next() && (outcome == "none" || outcome == "right") {
		var has, want int64
		must(t, rows.Scan(&has, &want))
		switch has {
		case want:
			outcome = "right"
		case 0:
			outcome = "0"
		default:
			outcome = "wrong"
		}
	}
	must(t, rows.Err())
	return outcome
}

// kin is a database with tables of people, towns and so on.
type kin struct {
	*dbtest.Store
	db    *gorm.DB
	names *regexp.Regexp // of the tables, in queries
}

var kinModels = []any{&Town{}, &Tag{}, &Toy{}, &Pet{}, &Person{}}

func newKin(t *testing.T, handle string, plugin bool) *kin {
	kind, _, _ := strings.Cut(handle, "-")
	k := &kin{Store: dbtest.New(t, kind), names: regexp.MustCompile(`\b(towns|tags|toys|pets|people|person_tags)\b`)}
	names := schema.NamingStrategy{TablePrefix: k.Table + "_", IdentifierMaxLength: 63}
	k.db = k.Reopen(t, func(gorm.Dialector) gorm.Dialector { return handles[handle](k.Store, t) },
		gorm.Config{NamingStrategy: names, DisableForeignKeyConstraintWhenMigrating: true})
	if plugin {
		must(t, k.db.Use(uidgorm.New(&counter{next: first}, uidgorm.Config{})))
	}
	for _, model := range kinModels {
		if stmt := (gorm.Statement{DB: k.db}); !plugin { // as the tag autoIncrement has it
			must(t, stmt.Parse(model))
			id := stmt.Schema.PrioritizedPrimaryField
			id.DataType, id.Size, id.AutoIncrement, id.HasDefaultValue, id.AutoIncrementIncrement = schema.Int, 64, true, true, 1
			stmt.Schema.FieldsWithDefaultDBValue = append(stmt.Schema.FieldsWithDefaultDBValue, id)
		}
	}
	t.Cleanup(func() { must(t, k.db.Migrator().DropTable(append(kinModels, k.Table+"_person_tags")...)) })
	must(t, k.db.AutoMigrate(kinModels...))
	must(t, k.db.Exec("CREATE UNIQUE INDEX ? ON ? (alias)", clause.Table{Name: k.Table + "_alias"}, clause.Table{Name: k.Table + "_towns"}).Error)
	return k
}

// outcome creates the rows of a relation and says what their foreign keys are: right, 0 or wrong, or
// that the plugin refuses to save relatives, or that the create fails otherwise.
func (k *kin) outcome(t *testing.T, r relation, numbers ...int) string {
	for _, model := range kinModels {
		must(t, k.db.Session(&gorm.Session{AllowGlobalUpdate: true}).Unscoped().Delete(model).Error)
	}
	must(t, k.db.Exec("DELETE FROM ?", clause.Table{Name: k.Table + "_person_tags"}).Error)
	gone := gorm.DeletedAt{Valid: true, Time: time.Unix(1e9, 0)}
	if err := errors.Join(
		k.db.Create(&Town{Name: "town1", Alias: new("alias1"), Deleted: gone}).Error,
		k.db.Create(&Tag{Name: "tag1", Lang: "en"}).Error,
		k.db.Create(&Person{Name: "person1", Rank: 1, Pet: &Pet{Name: "pet1"}}).Error,
	); err != nil {
		return "fails" // PostgreSQL without RETURNING does not tell keys
	}
	var people []Person
	for _, n := range numbers {
		people = append(people, r.row(n))
	}
	value := any(&people)
	if len(people) == 1 {
		value = &people[0]
	}
	switch err := r.db(k.db).Create(value).Error; {
	case errors.Is(err, uidgorm.ErrConflict):
		if saved := count(t, k.db.Model(&Pet{})) + count(t, k.db.Model(&Person{})); saved != 2 {
			t.Errorf("%s: refused, and %d rows are there, want 2", r.name, saved)
		}
		return "refused"
	case err != nil:
		return "fails"
	}
	outcome := "right"
	for i, n := range numbers {
		if outcome == "right" {
			outcome = k.check(t, fmt.Sprintf(r.links, n))
		}
		if kept := k.check(t, fmt.Sprintf("SELECT %d, id FROM people WHERE name = '%s'", people[i].ID, people[i].Name)); outcome == "right" && kept != "right" {
			outcome = "right, not in memory"
		}
	}
	return outcome
}

// Whether a row was inserted or another was kept, those that refer to it have the key of the
// row that stands, or nothing is saved. testdata/relatives.txt has what GORM does with keys that the
// database counts up, then what it does with the plugin.
func TestRelatives(t *testing.T) {
	need.Time(t)
	text, err := os.ReadFile("testdata/relatives.txt")
	must(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	columns := strings.Fields(lines[0])
	for column := 1; column < len(columns); column++ {
		t.Run(columns[column], func(t *testing.T) {
			t.Parallel()
			plain, plugin, column := newKin(t, columns[column], false), newKin(t, columns[column], true), column
			if columns[column] == "mysql" && !plain.MariaDB(t) {
				column = slices.Index(columns, "mysql-")
			}
			for i, r := range relations() {
				for j, numbers := range [][]int{{1}, {0, 1, 2}} {
					name := []string{r.name, r.name + "/batch"}[j]
					got := plain.outcome(t, r, numbers...) + ":" + plugin.outcome(t, r, numbers...)
					line := strings.Fields(lines[1+2*i+j])
					if line[0] != name || line[column] != got {
						t.Errorf("%s: got %s, want %s of %s", name, got, line[column], line[0])
					}
				}
			}
		})
	}
}
