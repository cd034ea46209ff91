// Package opaque turns ids into what may be shown outside. An id tells when it
// was made, by which worker and, next to another, how many were made between; and
// from one id the next is easy to guess. A token tells nothing of that, and none
// can be made without the key:
//
//	orders, err := opaque.New("orders", key) // 32 random bytes
//	...
//	token, err := orders.Seal(id) // 5SQD0BAQ1E3FYQH5W9BR4KCHSE, to the outside
//	id, err := orders.Open(token) // ErrToken unless Seal made it
//
// Use a [Sealer] wherever 128 bits fit. Where it has to be an integer, a
// [Permutation] makes one of 63 bits, which hides as much and proves nothing.
// Neither has a useful zero value; both are safe for concurrent use. What they
// make of an id is fixed: later releases open it.
//
// # What is hidden, and what is not
//
//	                                          Token      number
//	when, by whom, in which order, how many   hidden     hidden
//	that two of one context are the same id   seen       seen
//	that two of two contexts are              hidden     hidden
//	how many different ones one has seen      seen       seen
//	chance that a made-up one gives some id   2^-65      1
//	chance that it gives one of M in use      M / 2^128  M / 2^63
//
// Neither is an authorization. A token shows that this service once gave out the
// id, not that its bearer may see what has it; it does not expire, and whoever
// saw it can show it. Ask on each request whether the caller may. Nor does either
// help once the key is known: then all tokens open, those of the past included,
// and any can be made.
//
// # A token
//
// One block of AES-256, over 65 zero bits and the id:
//
//	 127                64 63 62                  0
//	+---------------------+--+--------------------+
//	| 0                   | 0| id                 |  -- AES -->  token
//	+---------------------+--+--------------------+
//
// under a key of this context alone: HKDF-SHA-256 (RFC 5869) of the key that was
// given, with the context in the info. Open deciphers and refuses what has not
// all 65 zeros.
//
// This is the encode-then-encipher of Bellare and Rogaway ("Encode-then-encipher
// encryption", ASIACRYPT 2000). They show that redundancy in what is enciphered
// makes it authentic if the cipher is a strong pseudorandom permutation, one that
// cannot be told from a random permutation by asking it in both directions; that
// is what AES is taken to be. It holds where the cipher permutes the message as a
// whole, as it does one block. For a stream cipher or CBC it would be false.
//
// The argument: put a random permutation in the place of AES. Of the tokens of a
// context the forger knows q with their ids, and t were refused. What any other
// 128 bits decipher to is then one of the 2^128-q-t blocks that are left, each as
// likely, of which at most 2^63 have the zeros. So a try succeeds with a chance of
// at most 2^63 / (2^128-q-t), about 2^-65, and then opens to an id that chance
// picked: to a given one, with a chance of about 2^-128. With n keys, t tries
// succeed with about t*n / 2^65: after 2^40 of them on two keys, 2^-24. To this
// add what tells AES from a random permutation, and HMAC-SHA-256 from a random
// function. What is sealed are different blocks, and their images under a random
// permutation are random but for being different: they tell equality and nothing
// else.
//
// Contexts are kept apart by having a key each. A tag of the context in the place
// of the zeros would cost less to derive, but among 2^32 contexts two would be
// expected to share a tag of 64 bits, and with it their tokens; whoever chooses
// contexts could look for such a pair. So a context may be what a request brings,
// such as a user, whose tokens are then of no use to another. It costs a Sealer.
//
// The limits: equal ids give equal tokens, by intent, since there is no room for
// a nonce. In the words of Rogaway and Shrimpton ("A Provable-Security Treatment
// of the Key-Wrap Problem", EUROCRYPT 2006) this is deterministic authenticated
// encryption. 2^-65 is enough against tries that a service can count and slow
// down, and there are no others: to see whether a try succeeds takes the key.
// Against an observer of time and caches it is as safe as [crypto/aes], which
// takes constant time where the processor has instructions for AES.
//
// # A number
//
// [Permutation] is an alternating Feistel network of 10 rounds over 31 and 32
// bits. Its domain is thus the 2^63 ids themselves, and there is no walk out of a
// larger one, which would take longer for some ids than for others. The function
// of each round is AES-256 over the number of the round and the other half, cut
// off; the key is derived as above, for another purpose.
//
// Such networks are those of Luby and Rackoff (SIAM J. Comput. 17, 1988) with
// halves of two widths (Lucks, "Faster Luby-Rackoff Ciphers", FSE 1996). For
// equal halves of n bits Patarin ("Security of Random Feistel Schemes with 5 or
// more Rounds", CRYPTO 2004) shows that 6 rounds cannot be told from a random
// permutation, asked in both directions, by far fewer than 2^n questions. For
// alternating ones Hoang and Rogaway ("On Generalized Feistel Networks", CRYPTO
// 2010) show that with enough rounds 2^(n(1-e)) questions do not suffice, for any
// e > 0, where n is the wider half. Ten rounds are four more than Patarin needs
// and as many as FF1 has (NIST SP 800-38G), whose shape this is. It is not FF1, on
// which there are claims of patents: it takes no numerals, and combines by
// exclusive or.
//
// The limit: n is 32. The proofs say nothing of one who has come by billions of
// pairs of id and number under one key and context. A token has no such limit.
//
// # What it costs
//
// A token costs a block of AES for each key, and a number ten; neither allocates.
// A context costs a derivation, once. Nanoseconds on an AMD EPYC, from
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
package opaque
