package workerzk_test

import (
	"fmt"
	"testing"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/worker/workerzk"
)

// TestNextServer: the servers come in turn, also after a connection, and a round without success is noticed.
func TestNextServer(t *testing.T) {
	hosts := new(workerzk.Hosts)
	need.Must(t, hosts.Init([]string{"a", "b", "c"}))
	var got string
	next := func(n int) {
		for range n {
			name, again := hosts.Next()
			if got += name; again {
				got += "!"
			}
		}
	}
	next(5)
	hosts.Connected() // to b
	next(4)
	if want := "abca!bcab!c"; got != want || hosts.Len() != 3 {
		t.Error(fmt.Sprint(got, hosts.Len()), "want", want)
	}
}
