package workerkube

import "testing"

// SetPage sets how many objects one request lists, until the end of the test.
func SetPage(t *testing.T, size int64) {
	before := page
	page = size
	t.Cleanup(func() { page = before })
}
