// Package opaque turns ids into tokens for public use. An id reveals when it was made and by which
// worker, two ids from the same worker can reveal how many were made in between, and the next id is
// easy to guess. A token reveals none of that, and nobody can make one without the key:
//
//	orders, err := opaque.New("orders", key) // 32 random bytes
//	...
//	token, err := orders.Seal(id) // 5SQD0BAQ1E3FYQH5W9BR4KCHSE, for public use
//	id, err := orders.Open(token) // ErrToken unless Seal made it
//
// Use a [Sealer] wherever 128 bits fit. Where the result must be an integer, use a [Permutation],
// which makes 63-bit numbers: a number hides as much as a token, but anyone can make a valid
// number. Later releases will open tokens, and restore numbers, that this release made.
//
// # What is hidden
//
//	                                          Token      number
//	when and where made, order and count      hidden     hidden
//	whether two in one context share an id    visible    visible
//	whether two in different contexts do      hidden     hidden
//	how many distinct ids were seen           visible    visible
//	chance that a forgery yields an id        2^-65      1
//	chance that it yields one of M in use     M / 2^128  M / 2^63
//
// Neither a token nor a number replaces authorization. A token does not expire, and anyone who has
// seen it can send it: check on each request what the caller may do. Anyone who has the key can
// forge tokens and open every token, even past ones.
//
// A token is one block of AES-256 over 65 zero bits and the id, under a key that HKDF-SHA-256
// derives for the context. A number is the result of an alternating Feistel network of 10 rounds.
// [CONSTRUCTION.md] gives the security arguments, their sources, and the cost of each operation.
//
// [CONSTRUCTION.md]: https://github.com/uidring/uidring/blob/main/uid/opaque/CONSTRUCTION.md
package opaque
