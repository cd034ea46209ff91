// Package opaque turns ids into tokens for public use. An id shows when and by which
// worker it was made. Two ids show how many were made in between, and the next id is
// easy to guess. A token shows none of that, and nobody can make one without the key:
//
//	orders, err := opaque.New("orders", key) // 32 random bytes
//	...
//	token, err := orders.Seal(id) // 5SQD0BAQ1E3FYQH5W9BR4KCHSE, for public use
//	id, err := orders.Open(token) // ErrToken unless Seal made it
//
// Use a [Sealer] wherever 128 bits fit. Where the result has to be an integer,
// a [Permutation] makes one of 63 bits: it hides as much, but anyone can make a
// valid number. Later releases open the tokens of this one.
//
// # What is hidden
//
//	                                          Token      number
//	when, by whom, in which order, how many   hidden     hidden
//	that two of one context are the same id   visible    visible
//	that two of two contexts are              hidden     hidden
//	how many different ones one has seen      visible    visible
//	chance that a forged one gives some id    2^-65      1
//	chance that it gives one of M in use      M / 2^128  M / 2^63
//
// Neither is an authorization. A token does not expire, and anyone who saw it can send it:
// check on each request what the caller may do. Anyone who has the key can open and forge
// all tokens, past ones included.
//
// A token is one block of AES-256 over 65 zero bits and the id, under a key of the context, which
// HKDF-SHA-256 derives. A number is the result of an alternating Feistel network of 10 rounds.
// [CONSTRUCTION.md] has the arguments, their sources and the cost.
//
// [CONSTRUCTION.md]: https://github.com/uidring/uidring/blob/main/uid/opaque/CONSTRUCTION.md
package opaque
