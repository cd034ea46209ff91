package workerkube

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	coordination "k8s.io/api/coordination/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/uidring/uidring/internal/leaserow"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// Where objects have what.
const (
	label        = "uidring/prefix" // of every object; its value is the prefix
	blockLabel   = "uidring/block"  // of every row; its value is the number divided by block
	annotation   = "uidring/value"  // of every object: a row, the record of given numbers or a layout
	manager      = "uidring"        // the field manager of every write
	givenSuffix  = ".given"
	layoutSuffix = ".layout"
)

func (s *store) row(number int64) string { return s.prefix + "." + strconv.FormatInt(number, 10) }

// numberOf returns the number in a name that is a prefix and a number.
func numberOf(name, prefix string) (int64, bool) {
	text, ok := strings.CutPrefix(name, prefix)
	number, err := strconv.ParseInt(text, 10, 64)
	return number, ok && err == nil && number >= 0 && strconv.FormatInt(number, 10) == text
}

func (s *store) object(name string) *coordination.Lease {
	return &coordination.Lease{ObjectMeta: meta.ObjectMeta{
		Name: name, Namespace: s.namespace, Labels: map[string]string{label: s.prefix},
	}}
}

// write makes w the row of an object. The fields of the spec are for people and their
// tools: no process of this package reads them.
func write(o *coordination.Lease, w leasestore.Write) {
	row, _ := leaserow.Parse([]byte(o.Annotations[annotation])) // of a new object, the zero Row
	row = row.After(w)
	meta.SetMetaDataAnnotation(&o.ObjectMeta, annotation, string(row.JSON()))
	meta.SetMetaDataLabel(&o.ObjectMeta, blockLabel, strconv.FormatInt(w.Number/block, 10))
	now := meta.NewMicroTime(time.Now())
	switch w.Change {
	case leasestore.Acquire:
		holder, seconds := w.Node.Host+":"+w.Node.Port, int32(max(1, min(w.Expiry.Seconds(), 1<<30)))
		o.Spec = coordination.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, AcquireTime: &now, RenewTime: &now}
	case leasestore.Extend:
		o.Spec.RenewTime = &now
	case leasestore.Release:
		o.Spec = coordination.LeaseSpec{}
	}
}

func tokenOf(o *coordination.Lease) string {
	row, _ := leaserow.Parse([]byte(o.Annotations[annotation]))
	return row.Token
}

// written returns when a Store last wrote an object, by the clock of the API server that
// served the write, in milliseconds cut to the second. 0 is not known.
func written(o *coordination.Lease) (last int64) {
	for _, entry := range o.ManagedFields {
		if entry.Manager == manager && entry.Time != nil {
			last = max(last, entry.Time.UnixMilli())
		}
	}
	return last
}

// roundings is how much older a write can look than it is. Its time is cut to the second,
// and exchange.clock may be a second ahead.
const roundings = 2 * time.Second

func (s *store) parse(o *coordination.Lease, number, now int64, expiry time.Duration) (*leasestore.Row, error) {
	r, err := leaserow.Parse([]byte(o.Annotations[annotation]))
	if err != nil {
		return nil, s.foreign(o, err)
	}
	heartbeat := written(o)
	now = cmp.Or(now, time.Now().UnixMilli()) // a proxy between may hide the clock
	alive := r.Held && now-heartbeat <= (expiry+roundings).Milliseconds()
	row := r.Lease(number, alive)
	row.Created = o.CreationTimestamp.UnixMilli()
	if r.Held {
		row.Heartbeat = min(heartbeat, now)
	}
	return &row, nil
}

func (s *store) foreign(o *coordination.Lease, err error) error {
	return fmt.Errorf("workerkube: lease %s/%s: annotation %s: %w", s.namespace, o.Name, annotation, err)
}
