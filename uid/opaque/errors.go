package opaque

import "errors"

var (
	// ErrToken is the error of [Sealer.Open] for every token that is not authentic:
	// forged, altered, of another context, or sealed under a key that New did not
	// get. The error does not say which.
	ErrToken = errors.New("opaque: token is not authentic")

	// ErrSyntax is matched by an error about a text that is no token. It quotes the text.
	ErrSyntax = errors.New("opaque: not a token")

	// ErrKey is matched by an error about a key, which shows the key's length only, and
	// by those of a zero [Sealer] or [Permutation].
	ErrKey = errors.New("opaque: no usable key")

	// ErrContext is matched by the error for an empty context.
	ErrContext = errors.New("opaque: no context")

	// ErrNegative is matched by the error for an id or a number below 0.
	ErrNegative = errors.New("opaque: negative number")
)
