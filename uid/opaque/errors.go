package opaque

import "errors"

var (
	// ErrToken is what [Sealer.Open] returns for every token that is not
	// authentic: made up, altered, of another context, or sealed under a key that
	// is no longer given. It does not tell which, and there is nothing in it.
	ErrToken = errors.New("opaque: token is not authentic")

	// ErrSyntax is matched by the error for a text that is no token. It quotes the
	// text.
	ErrSyntax = errors.New("opaque: not a token")

	// ErrKey is matched by an error about the keys that were given, which names
	// their length and nothing else of them, and by the methods of a [Sealer] or a
	// [Permutation] that was not made by its constructor.
	ErrKey = errors.New("opaque: no usable key")

	// ErrContext is matched when the context is empty.
	ErrContext = errors.New("opaque: no context")

	// ErrNegative is matched by the error for an id or a number below 0.
	ErrNegative = errors.New("opaque: negative number")
)
