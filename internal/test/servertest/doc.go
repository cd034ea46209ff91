// Package servertest starts servers for tests, on free ports of loopback, and kills them
// at the end of the test. On systems other than Linux it has only [Certify], [Eventually]
// and [Link]: there, a test that dies would leave its servers behind.
package servertest
