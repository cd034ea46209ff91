// Package redisclients runs clients of the Redis protocol in other languages, for tests.
//
// Each is a script. Its arguments are a timeout in seconds, a token or "", and addresses of
// servers: each is host:port or the path of a socket. A line of its standard input is a
// command, the name of a generator, and n:
//
//	incr NAME n      n ids by INCR
//	get NAME n       n ids by GET
//	pipeline NAME n  n ids by INCRs in a pipeline
//	incrby NAME n    n ids by one INCRBY
//
// The script answers with one line: the ids, or the greatest of an INCRBY. If it could not
// draw all of them, "error" and a text follow. The script ends with its input.
//
// A script draws from the first server. The library may try again by itself. If it fails
// then, the script draws what is missing from the next server. It gives up when each server
// has failed, and the first one twice. Ids that the library got and does not tell are a gap.
package redisclients
