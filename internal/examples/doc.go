// Package examples has no code. Its folders are examples of what surrounds a
// generator in an app; README.md, beside this file, lists them. They are a module
// of their own, so that the libraries that they show are no one else's business.
package examples
