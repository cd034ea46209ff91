package workerredis

import (
	"errors"
	"testing"

	"github.com/uidring/uidring/worker/lease/leasestore"
)

// said is an error that a Redis answers.
type said string

func (s said) Error() string { return string(s) }
func (s said) RedisError()   {}

// What a Redis says while it starts or a cluster moves keys is tried again.
func TestMarked(t *testing.T) {
	for _, text := range []said{
		"LOADING Redis is loading the dataset in memory", "TRYAGAIN Multiple keys request", "CLUSTERDOWN The cluster is down",
		"MASTERDOWN Link with MASTER is down", "BUSY Redis is busy running a script",
	} {
		if err := marked(text); !leasestore.IsTransient(err) || !errors.Is(err, text) {
			t.Errorf("%s is marked as %T", text, err)
		}
	}
	if err := marked(said("NOAUTH Authentication required.")); err != error(said("NOAUTH Authentication required.")) {
		t.Errorf("a refusal is marked as %T", err)
	}
	if err := marked(said("READONLY the server is a replica")); !errors.Is(err, ErrReplica) {
		t.Errorf("%v, want ErrReplica", err)
	}
}
