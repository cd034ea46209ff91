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

	// ErrConfig means that a key is unusable (the error shows only its length), that the context
	// is empty, or that the [Sealer] or [Permutation] is a zero value.
	ErrConfig = errors.New("opaque: invalid config")
)
