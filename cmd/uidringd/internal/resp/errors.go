package resp

import (
	"cmp"
	"errors"

	"github.com/uidring/uidring/cmd/uidringd/internal/service"
)

// failure is an error that does not begin with the word of its kind.
type failure struct {
	word  string
	about *service.Error
}

func (f *failure) Error() string { return f.about.Error() }

// words has the first word of an error for each kind of failure. Many clients send a
// command again after TRYAGAIN.
var words = map[service.Kind]string{
	service.Unauthorized:    "NOAUTH",
	service.Forbidden:       "NOPERM",
	service.TooManyRequests: "TRYAGAIN",
	service.Unavailable:     "TRYAGAIN",
	service.Expired:         "TRYAGAIN",
	service.Cancelled:       "TRYAGAIN",
}

// explain returns the text for a client, and the failure for metrics and the log.
func explain(err error) (string, *service.Error) {
	if f := (*failure)(nil); errors.As(err, &f) {
		return f.word + " " + f.about.Detail, f.about
	}
	e := &service.Error{Kind: service.Exhausted, Detail: "the command failed"}
	errors.As(err, &e)
	return Word(e.Kind) + " " + e.Detail, e
}

// Word returns the first word of an error of a kind.
func Word(kind service.Kind) string { return cmp.Or(words[kind], "ERR") }
