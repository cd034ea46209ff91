package encoders

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
)

func MarshalID(id uid.ID) graphql.Marshaler { return graphql.MarshalID(id.String()) }

func UnmarshalID(v any) (uid.ID, error) {
	text, err := graphql.UnmarshalID(v)
	if err != nil {
		return 0, err
	}
	return uid.ParseID(text)
}

// docs/databases.md shows the functions above, which read what they write.
func TestGqlgen(t *testing.T) {
	documented(t, "gqlgen", "does not compile", "functions below")
	page, err := os.ReadFile("../../../docs/databases.md")
	need.Must(t, err)
	source, err := os.ReadFile("gqlgen_test.go")
	need.Must(t, err)
	text := string(source)
	functions := text[strings.Index(text, "func MarshalID"):strings.Index(text, "\n// docs/databases.md shows")]
	if !strings.Contains(string(page), "```go\n"+functions+"```\n") {
		t.Errorf("docs/databases.md does not show %s", functions)
	}
	var wire strings.Builder
	MarshalID(math.MaxInt64).MarshalGQL(&wire)
	if wire.String() != `"9223372036854775807"` {
		t.Errorf("gqlgen writes %s", &wire)
	}
	for v, want := range map[any]uid.ID{"7": 7, int64(7): 7, "-7": 0, "x": 0, true: 0} {
		if id, err := UnmarshalID(v); id != want || (err == nil) != (want != 0) {
			t.Errorf("gqlgen reads %d, %v of %v", id, err, v)
		}
	}
}
