package generators

import (
	"errors"
	"strconv"
	"testing"

	"github.com/uidring/uidring/uid"
)

// A generator is not ready if it is closed, or fails with no id left; tags are if all of
// them are so.
func TestAllFail(t *testing.T) {
	gone := errors.New("gone")
	failing, left := uid.Stats{LastError: gone}, uid.Stats{LastError: gone, Remaining: 1}
	waiting, closed := uid.Stats{LastError: &uid.BorrowLimitError{}}, uid.Stats{Closed: true}
	for _, test := range []struct {
		all  []uid.Stats
		want bool
	}{
		{nil, false}, {[]uid.Stats{{}}, false}, {[]uid.Stats{failing}, true}, {[]uid.Stats{left}, false}, {[]uid.Stats{waiting}, false},
		{[]uid.Stats{closed}, true}, {[]uid.Stats{failing, closed}, true}, {[]uid.Stats{failing, left, closed}, false},
	} {
		all := map[string]uid.Stats{}
		for i, s := range test.all {
			all[strconv.Itoa(i)] = s
		}
		if err := allFail(all); (err != nil) != test.want {
			t.Errorf("%+v: %v, want an error %t", test.all, err, test.want)
		}
	}
}
