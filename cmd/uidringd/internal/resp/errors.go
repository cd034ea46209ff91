package resp

import (
	"errors"

	"github.com/uidring/uidring/cmd/uidringd/internal/service"
)

// worded returns a failure that begins with another word than those of its kind.
func worded(word string, kind service.Kind, detail string) *service.Error {
	kind.Word = word
	return &service.Error{Kind: kind, Detail: detail}
}

// explain returns the text for a client, and the failure for metrics and the log.
func explain(err error) (string, *service.Error) {
	e := &service.Error{Kind: service.Exhausted, Detail: "the command failed"}
	errors.As(err, &e)
	return e.Kind.Word + " " + e.Detail, e
}
