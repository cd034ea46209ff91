package opaque

import "errors"

var (
	// ErrToken is what [Sealer.Open] returns for every token that is not
	// authentic: forged, altered, of another context, or sealed under a key that
	// New was not given. It does not say which.
	ErrToken = errors.New("opaque: token is not authentic")

	// ErrSyntax is matched by the error for a text that is no token. The error
	// quotes the text.
	ErrSyntax = errors.New("opaque: not a token")

	// ErrKey is matched by an error about the keys given, which shows their length
	// and nothing else of them. The methods of a [Sealer] or a [Permutation] that
	// its constructor did not make return it too.
	ErrKey = errors.New("opaque: no usable key")

	// ErrContext is matched by the error for an empty context.
	ErrContext = errors.New("opaque: no context")

	// ErrNegative is matched by the error for an id or a number below 0.
	ErrNegative = errors.New("opaque: negative number")
)
