package opaque

import "errors"

var (
	// ErrToken is returned by [Sealer.Open] for every token that is not authentic: forged,
	// altered, from another context, or sealed under a key that New was not given. It does not say
	// which.
	ErrToken = errors.New("opaque: token is not authentic")

	// ErrSyntax means that a text, which the error quotes, is not a token, or that an id or a
	// number is negative.
	ErrSyntax = errors.New("opaque: malformed")

	// ErrConfig means that a key is unusable (the error shows only its length), that the context
	// is empty, or that the [Sealer] or [Permutation] is a zero value.
	ErrConfig = errors.New("opaque: invalid config")
)
