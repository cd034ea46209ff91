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
// Neither is an authorization. A token shows that this service once gave out the id,
// not that its bearer may see the row. A token does not expire, and anyone who saw it
// can send it. Check on each request what the caller may do. Anyone who has the key
// can open and forge all tokens, past ones included.
//
// # What it costs
//
// A token costs one block of AES for each key, a number ten blocks. Neither
// allocates. A context costs one derivation. Nanoseconds on an AMD EPYC, from
//
//	go test -run '^$' -bench . ./uid/opaque
//
//	BenchmarkToken/impl=aes-2                   18.66 ns/op     0 allocs/op
//	BenchmarkToken/impl=seal/keys=1-2           32.69 ns/op     0 allocs/op
//	BenchmarkToken/impl=open/keys=1-2           35.00 ns/op     0 allocs/op
//	BenchmarkToken/impl=open/keys=3-2           61.20 ns/op     0 allocs/op
//	BenchmarkPermutation/impl=permute-2         278.1 ns/op     0 allocs/op
//	BenchmarkPermutation/impl=restore-2         277.5 ns/op     0 allocs/op
//	BenchmarkNew/impl=sealer-2                   2178 ns/op    20 allocs/op
//
// # How a token is made
//
// A token is one block of AES-256 over 65 zero bits and the id:
//
//	 127                64 63 62                  0
//	+---------------------+--+--------------------+
//	| 0                   | 0| id                 |  -- AES -->  token
//	+---------------------+--+--------------------+
//
// Each context has its own key: HKDF-SHA-256 (RFC 5869) of the key given, with the
// context in the info. Open deciphers, and refuses a block without all 65 zeros.
//
// This is the encode-then-encipher of Bellare and Rogaway
// ("Encode-then-encipher encryption", ASIACRYPT 2000). They show that
// redundancy in the plaintext authenticates it if the cipher is a strong
// pseudorandom permutation: queries in both directions cannot distinguish it
// from a random permutation. AES is believed to be one. The cipher has to
// permute the message as a whole, as AES does with one block; for a stream
// cipher or CBC the argument is false.
//
// The argument: replace AES by a random permutation. The forger knows q tokens
// of a context with their ids, and t tokens that were refused. Any other 128
// bits decipher to one of the 2^128-q-t blocks that are left, each equally
// likely. At most 2^63 of them have the zeros. So one try succeeds with
// probability at most 2^63 / (2^128-q-t), about 2^-65. It then opens to a
// random id: to a given id with probability about 2^-128. With n keys, t tries
// succeed with about t*n / 2^65: with 2^40 tries on two keys, 2^-24. Add the
// advantage of an attacker who distinguishes AES from a random permutation, or
// HMAC-SHA-256 from a random function. Sealed blocks differ, so their images
// under a random permutation reveal equality and nothing else.
//
// A context has a key of its own, rather than a tag in place of the zeros. Among 2^32
// contexts, two would be expected to share a tag of 64 bits, and so their tokens. An
// attacker who chooses contexts could search for such a pair. With keys, a context may
// come from a request, such as a user, and its tokens do not open for another user.
// Each context costs a Sealer.
//
// The limits: equal ids give equal tokens, since there is no room for a nonce.
// Rogaway and Shrimpton ("A Provable-Security Treatment of the Key-Wrap
// Problem", EUROCRYPT 2006) call this deterministic authenticated encryption.
// 2^-65 is enough: checking a try takes the key, so all tries go through a
// service that can count and slow them down. Against an observer of time and
// caches, opaque is as safe as [crypto/aes], which takes constant time where
// the processor has instructions for AES.
//
// # How a number is made
//
// [Permutation] is an alternating Feistel network of 10 rounds over 31 and 32 bits.
// Its domain is the 2^63 ids, so it needs no cycle walking, whose time depends on the
// id. The round function is AES-256 over the number of the round and the other half,
// truncated. The key is derived as above, for another purpose.
//
// Such networks are those of Luby and Rackoff (SIAM J. Comput. 17, 1988) with
// halves of two widths (Lucks, "Faster Luby-Rackoff Ciphers", FSE 1996). For
// equal halves of n bits, see Patarin ("Security of Random Feistel Schemes with
// 5 or more Rounds", CRYPTO 2004). Far fewer than 2^n queries in both
// directions do not distinguish 6 rounds from a random permutation. For
// alternating halves, see Hoang and Rogaway ("On Generalized Feistel Networks",
// CRYPTO 2010). With enough rounds, 2^(n(1-e)) queries do not suffice, for any
// e > 0, where n is the wider half. Ten rounds are four more than Patarin
// needs, and as many as FF1 has (NIST SP 800-38G). The network has FF1's shape
// but is not FF1, on which patents are claimed: it takes no numerals and
// combines by exclusive or.
//
// The limit: n is 32. The proofs do not cover an attacker with billions of pairs of id
// and number under one key and context. A token has no such limit.
package opaque
