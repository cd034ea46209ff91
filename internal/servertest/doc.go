// Package servertest starts servers for tests, on ports of their own on loopback, and
// ends them with the test. Linux only: elsewhere, a test that dies leaves its servers
// behind.
package servertest
