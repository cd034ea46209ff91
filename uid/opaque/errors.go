package opaque

import "errors"

var (
	// ErrToken is returned by [Sealer.Open] for every token that is not authentic: forged, altered,
	// from another context, or sealed under a key that was not passed to New. It does not say
	// which.
	ErrToken = errors.New("opaque: token is not authentic")

	// ErrSyntax means that a string is not a token (the error quotes the string), or that an id or
	// a number is negative.
	ErrSyntax = errors.New("opaque: malformed")
)
