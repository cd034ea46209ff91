// Package servertest starts servers for tests, on ports of their own on loopback, and
// ends them with the test. Only [Eventually] is there on systems other than Linux: a test
// that dies would leave its servers behind.
package servertest
