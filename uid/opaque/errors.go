package opaque

import "errors"

var (
	// ErrToken is the error of [Sealer.Open] for every token that is not authentic:
	// forged, altered, of another context, or sealed under a key that New did not
	// get. The error does not say which.
	ErrToken = errors.New("opaque: token is not authentic")

	// ErrSyntax is matched by an error about a text that is no token, which it quotes, and about
	// an id or a number below 0.
	ErrSyntax = errors.New("opaque: malformed")

	// ErrConfig is matched by an error about a key, which shows the key's length only, or an empty
	// context, and by those of a zero [Sealer] or [Permutation].
	ErrConfig = errors.New("opaque: invalid config")
)
