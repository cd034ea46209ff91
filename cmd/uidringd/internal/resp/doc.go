// Package resp serves ids by the Redis protocol, versions 2 and 3. Package service does what a
// command asks for; this one translates. docs/redis.md has the commands, and the words that errors
// begin with.
//
// Commands that arrive together are answered together. Equal INCRs that follow each other draw
// their ids at once.
//
// A command can be a line of words, as a person types it. A line that is not a command ends the
// connection. So a web page or a program that sends HTTP, SIP or SMTP here draws no id by
// commands in the body of its request.
//
// # Bounds
//
// A connection takes 4 KiB for what it reads, and up to [Config].MaxBytes while a long
// command arrives. A header that announces more ends the connection before the rest
// is read. Answers are written as soon as 16 KiB are ready, so what a connection has to
// write is bounded by that and one answer.
//
// The package parses commands by itself. The Redis servers that Go has as libraries
// bound neither the bytes of a command nor the time that a client takes for it.
package resp
