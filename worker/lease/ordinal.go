package lease

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// NewStatefulSet returns a source whose number is the ordinal of this process's pod in a Kubernetes
// StatefulSet, such as 7 for billing-7. The pod's name is taken from the environment variable
// POD_NAME, which a manifest may set from the pod's fields. If it is not set, the host name is
// used. If the name has no ordinal, or one above the layout's greatest number, startup fails.
//
// Used alone, the source relies on two promises from the caller: that nothing else, such as a
// second StatefulSet or another cluster, makes ids with these numbers, and that all timestamps in
// the ids of a restarted pod are later than those in its predecessor's ids. Kubernetes runs only
// one pod per name at a time, unless a pod is force-deleted, or its node is removed from the
// cluster, while the pod is still running. A Leaser keeps both promises for you:
//
//	worker.NewLeaser(db, lease.Config{Assigner: lease.NewStatefulSet()})
func NewStatefulSet() *Permanent { return NewPermanent(ordinal{os.Getenv, os.Hostname}) }

type ordinal struct {
	getenv   func(string) string
	hostname func() (string, error)
}

func (ordinal) String() string { return "lease.NewStatefulSet" }

func (o ordinal) Assign(_ context.Context, limit int64) (int64, error) {
	name, from := o.getenv("POD_NAME"), "POD_NAME"
	if name == "" {
		var err error
		if name, err = o.hostname(); err != nil {
			return 0, fmt.Errorf("lease: StatefulSet: POD_NAME is not set, and the host name cannot be read: %w", err)
		}
		from = "the host name"
	}
	digits := name[strings.LastIndexByte(name, '-')+1:]
	number, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || digits == name {
		return 0, fmt.Errorf("lease: StatefulSet: %s is %q, want a name that ends in a dash and the pod's ordinal, such as billing-7", from, name)
	}
	if int64(number) > limit {
		return 0, fmt.Errorf("lease: StatefulSet: %s is %q, whose ordinal %d is above %d, the largest that the layout allows", from, name, number, limit)
	}
	return int64(number), nil
}
