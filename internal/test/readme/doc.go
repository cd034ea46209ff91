// Package readme has no code, only tests that hold README.md to its word.
package readme
