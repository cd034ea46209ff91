// Package examples has no code of its own. It holds clients of the server's HTTP in
// other languages, each in one file that needs nothing but the language's own library:
// uidring.py, Uidring.java and uidring.mjs. Copy the one that you need. In Go, use
// package uidclient.
package examples
