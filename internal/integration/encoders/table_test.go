package encoders

import (
	"database/sql"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/google/go-querystring/query"
	forms "github.com/gorilla/schema"
	jsoniter "github.com/json-iterator/go"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"xorm.io/xorm"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
)

// orderID is an embedded id, as the comment of uid.ID advises.
type orderID struct{ uid.ID }

// documented reports whether docs/databases.md has a row for a library that says what it does and what
// to do.
func documented(t *testing.T, library, does, do string) {
	t.Helper()
	page, err := os.ReadFile("../../../docs/databases.md")
	need.Must(t, err)
	for row := range strings.Lines(string(page)) {
		if strings.HasPrefix(row, "| "+library+" |") && strings.Contains(row, does) && strings.Contains(row, do) {
			return
		}
	}
	t.Errorf("docs/databases.md has no row for %s with %q and %q", library, does, do)
}

// Each library does to an id what the table in docs/databases.md says, and what to do helps.
func TestForms(t *testing.T) {
	type row struct {
		ID orderID `schema:"id" url:"id"`
	}
	type plain struct {
		ID uid.ID `schema:"id" url:"id"`
	}
	documented(t, "gorilla/schema", "`ID`", "RegisterEncoder")
	before, after := url.Values{}, url.Values{}
	encoder := forms.NewEncoder()
	need.Must(t, encoder.Encode(row{orderID{7}}, before))
	encoder.RegisterEncoder(orderID{}, func(v reflect.Value) string { return v.Interface().(orderID).String() })
	need.Must(t, encoder.Encode(row{orderID{7}}, after))
	if before.Encode() != "ID=7" || after.Encode() != "id=7" {
		t.Errorf("gorilla/schema writes %s, and %s with an encoder", before.Encode(), after.Encode())
	}
	documented(t, "go-querystring", "`id[ID]`", "declare the field as `uid.ID`")
	before, err1 := query.Values(row{orderID{7}})
	after, err2 := query.Values(plain{7})
	if err1 != nil || err2 != nil || before.Get("id[ID]") != "7" || after.Get("id") != "7" {
		t.Errorf("go-querystring writes %s, and %s of a plain id", before.Encode(), after.Encode())
	}
}

func TestGin(t *testing.T) {
	const tag = "id,parser=encoding.TextUnmarshaler"
	documented(t, "gin's binder", "negative", `form:"`+tag+`"`)
	gin.SetMode(gin.ReleaseMode)
	bind := func(text string, v any) error {
		c, _ := gin.CreateTestContext(httptest.NewRecorder())
		c.Request = httptest.NewRequest(http.MethodGet, "/?id="+text, nil)
		return c.ShouldBindQuery(v)
	}
	var plain struct {
		ID uid.ID `form:"id"`
	}
	var parsed struct {
		ID uid.ID `form:"id,parser=encoding.TextUnmarshaler"`
	}
	var embedded struct {
		ID orderID `form:"id"`
	}
	need.Must(t, bind("-7", &plain))
	if plain.ID != -7 || bind("-7", &parsed) == nil || bind("-7", &embedded) == nil {
		t.Errorf("gin binds %d, and -7 with the parser and to an embedded id", plain.ID)
	}
	need.Must(t, bind("7", &parsed))
	need.Must(t, bind("7", &embedded))
	if parsed.ID != 7 || embedded.ID.ID != 7 {
		t.Errorf("gin binds %d and %v, want 7", parsed.ID, embedded.ID)
	}
}

func TestJsoniter(t *testing.T) {
	documented(t, "jsoniter", "invalid JSON", "omit `string`")
	before, err1 := jsoniter.Marshal(struct {
		ID uid.ID `json:"id,string"`
	}{7})
	after, err2 := jsoniter.Marshal(struct {
		ID uid.ID `json:"id"`
	}{7})
	if err1 != nil || err2 != nil || json.Valid(before) || string(after) != `{"id":"7"}` {
		t.Errorf("jsoniter writes %s, and %s without string", before, after)
	}
}

func TestXorm(t *testing.T) {
	documented(t, "xorm", "`TEXT`", "declare the field as `uid.ID`")
	type Embedded struct {
		Id orderID `xorm:"pk"`
	}
	type Plain struct {
		Id uid.ID `xorm:"pk"`
	}
	db, err := xorm.NewEngine("sqlite", filepath.Join(t.TempDir(), "ids.db"))
	need.Must(t, err)
	defer db.Close()
	need.Must(t, db.Sync(new(Embedded), new(Plain)))
	_, err = db.Insert(&Embedded{orderID{7}}, &Plain{7})
	need.Must(t, err)
	tables, err := db.DBMetas()
	need.Must(t, err)
	for _, table := range tables {
		if name := table.Columns()[0].SQLType.Name; (name == "TEXT") != (table.Name == "embedded") {
			t.Errorf("%s has a key of type %s", table.Name, name)
		}
	}
	if found, _ := db.Where("id = ?", orderID{7}).Get(new(Embedded)); found {
		t.Error("xorm finds rows by an embedded id")
	}
	var read Plain
	if found, err := db.ID(uid.ID(7)).Get(&read); !found || err != nil || read.Id != 7 {
		t.Errorf("xorm finds %v, %t, %v", read, found, err)
	}
}

func TestBun(t *testing.T) {
	documented(t, "bun", "`JSONB`", "type:bigint")
	db := bun.NewDB(new(sql.DB), pgdialect.New())
	before := db.NewCreateTable().Model((*struct {
		bun.BaseModel `bun:"orders"`
		ID            orderID `bun:"id,pk"`
	})(nil)).String()
	after := db.NewCreateTable().Model((*struct {
		bun.BaseModel `bun:"orders"`
		ID            orderID `bun:"id,pk,type:bigint"`
	})(nil)).String()
	if !strings.Contains(before, `"id" JSONB`) || !strings.Contains(after, `"id" bigint`) {
		t.Errorf("bun creates %s, and %s with the type", before, after)
	}
}
