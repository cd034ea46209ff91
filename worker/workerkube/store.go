package workerkube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	coordination "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"

	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/internal/leaserow"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// Config configures [NewStore]. Zero fields take their default values. Errors about it match
// [lease.ErrConfig]. All processes whose ids must differ must use the same cluster, Namespace and
// Prefix.
type Config struct {
	// Namespace is the namespace of the objects; empty means the pod's own namespace.
	Namespace string

	// Prefix is the prefix of the objects' names: at most 63 lower-case letters, digits and
	// hyphens, without a hyphen at either end. Empty means uidring.
	Prefix string
}

// Validate reports every invalid field in one error, which matches [lease.ErrConfig].
func (c Config) Validate() error {
	faults := invalid.Of("workerkube")
	for _, field := range []struct{ name, value string }{{"Namespace", c.Namespace}, {"Prefix", c.Prefix}} {
		if wrong := validation.IsDNS1123Label(field.value); field.value != "" && len(wrong) > 0 {
			faults.Wrap(field.name, fmt.Errorf("%q: %s", field.value, strings.Join(wrong, "; ")))
		}
	}
	return faults.Err()
}

// NewLeaser returns a Leaser that keeps its numbers in the pod's own namespace, as Lease objects
// whose names begin with uidring. NewLeaser itself does not contact the cluster. For
// another namespace or prefix, pass a store from NewStore to lease.New.
func NewLeaser(cluster *rest.Config, config lease.Config) *lease.Leaser {
	return lease.New(NewStore(cluster, Config{}), config)
}

// store keeps its rows in Lease objects.
type store struct {
	client    *rest.RESTClient // nil if cluster has a fault
	namespace string
	prefix    string
	faults    error  // what Check returns
	limit     *limit // of requests; nil if the client has none, or one of its own
	fresh     leaserow.Queue
	crowd     crowd         // of writers of the record
	asking    chan struct{} // holds one element while Prepare asks for the permissions
	allowed   atomic.Bool   // the permissions were checked; written and read by Prepare
	failing   atomic.Bool   // the last API server fails or says nothing; written and read by do

	seen sync.Map // by number, the objects that Read and writes of this Store saw last
}

// NewStore returns a store for lease.New that keeps its rows as Lease objects. It is safe for
// concurrent use.
func NewStore(cluster *rest.Config, config Config) leasestore.Preparer {
	s := &store{namespace: config.Namespace, prefix: cmp.Or(config.Prefix, "uidring"), asking: make(chan struct{}, 1)}
	s.fresh = leaserow.Queue{Allot: s.allot, Most: 100}
	faults := invalid.Of("workerkube")
	var err error
	if s.namespace == "" {
		s.namespace, err = ownNamespace()
		faults.Wrap("Namespace", err)
	}
	faults.Join(config.Validate())
	s.client, s.limit, err = connect(cluster)
	faults.Wrap("cluster", err)
	s.faults = faults.Err()
	return s
}

const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

func ownNamespace() (string, error) {
	text, err := os.ReadFile(namespaceFile)
	if err != nil {
		return "", fmt.Errorf("empty means the pod's own, but this process is not in one; set it: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

func (s *store) String() string { return "kubernetes " + s.namespace + "/" + s.prefix }

func (s *store) Check() error { return s.faults }

func (s *store) Read(ctx context.Context, number int64, expiry time.Duration) (*leasestore.Row, int64, error) {
	if err := s.limit.pay(ctx, 1); err != nil {
		return nil, 0, err
	}
	object, sent, err := s.get(ctx, s.row(number))
	if err != nil {
		return nil, 0, err
	}
	s.remember(number, object)
	if object.ResourceVersion == "" {
		return nil, sent.clock, nil
	}
	row, err := s.parse(object, number, sent.clock, expiry)
	return row, sent.clock, err
}

func (s *store) List(ctx context.Context, limit int, expiry time.Duration) ([]leasestore.Row, error) {
	found, err := s.search(ctx, expiry, "")
	if limit > 0 {
		found.rows = found.rows[:min(limit, len(found.rows))]
	}
	return found.rows, err
}

// The API server selects objects by their labels: a look that is not full shows the rows of so
// many blocks of so many numbers each.
const blocks, block = 8, 8

func (s *store) Look(ctx context.Context, within leasestore.Range, full bool, expiry time.Duration) (leasestore.View, error) {
	if err := s.crowd.wait(ctx); err != nil {
		return leasestore.View{}, err
	}
	if err := s.limit.payStart(ctx); err != nil { // for the write too
		return leasestore.View{}, err
	}
	began := time.Now()
	_, g, sent, err := s.given(ctx)
	if err != nil {
		return leasestore.View{}, err
	}
	s.crowd.answered(time.Since(began))
	found := found{clock: sent.clock}
	if full {
		found, err = s.search(ctx, expiry, "")
	} else if selector := sample(within, g.next(within)); selector != "" {
		found, err = s.search(ctx, expiry, selector)
	}
	view := leasestore.NewView(found.clock, found.rows, g.Next, within)
	if !full {
		view.Held = 0
	}
	if back := g.back(within); back >= 0 {
		view.Next = back
	}
	return view, err
}

// sample selects the blocks of all given numbers within a range if they are few, else some.
func sample(within leasestore.Range, next int64) string {
	given := min(next-1, within.To) - within.From + 1
	if given <= 0 {
		return ""
	}
	var chosen []string
	if given <= blocks*block {
		for b := within.From / block; b <= (next-1)/block; b++ {
			chosen = append(chosen, strconv.FormatInt(b, 10))
		}
	} else {
		for range blocks {
			chosen = append(chosen, strconv.FormatInt((within.From+rand.Int64N(given))/block, 10))
		}
	}
	return "," + blockLabel + " in (" + strings.Join(chosen, ",") + ")"
}

type found struct {
	clock int64            // the API server's
	rows  []leasestore.Row // the highest number first
	marks map[int64]int64  // by the numbers that Assigners chose, the next number
}

func (s *store) search(ctx context.Context, expiry time.Duration, selector string) (f found, err error) {
	objects, sent, err := s.list(ctx, selector)
	f.clock, f.marks = sent.clock, map[int64]int64{}
	for i := range objects {
		o := &objects[i]
		if number, ok := numberOf(o.Name, s.prefix+givenSuffix+"."); ok {
			f.marks[number] = number + 1
		}
		if number, ok := numberOf(o.Name, s.prefix+"."); ok {
			row, err := s.parse(o, number, sent.clock, expiry)
			if err != nil {
				return found{}, err
			}
			f.rows = append(f.rows, *row)
		}
	}
	slices.SortFunc(f.rows, func(a, b leasestore.Row) int { return cmp.Compare(b.Number, a.Number) })
	return f, err
}

// Insert implements leasestore.Store. When fresh numbers are inserted concurrently through one
// Store, a single write may record several of them as given out.
func (s *store) Insert(ctx context.Context, w leasestore.Write) (number int64, done bool, err error) {
	if w.Fresh {
		s.limit.spend()
		return s.fresh.Insert(ctx, w)
	}
	if err := s.limit.pay(ctx, 4); err != nil {
		return 0, false, err
	}
	done, err = s.assign(ctx, w)
	return w.Number, done, err
}

func (s *store) Swap(ctx context.Context, old string, w leasestore.Write) (done bool, err error) {
	// The look of a start has paid for one try. Another, on an object that is not known, pays for the
	// read first: most often another holder was faster.
	paid, object := w.Change == leasestore.Acquire && s.limit.spend(), s.recall(w.Number)
	if !paid {
		if err := s.limit.pay(ctx, 1); err != nil {
			return false, err
		}
	}
	for range maxEdits + 1 {
		if tokenOf(object) != old {
			if object, _, err = s.get(ctx, s.row(w.Number)); err != nil {
				return false, err
			}
		}
		if old == "" || tokenOf(object) != old {
			return false, nil
		}
		if !paid && w.Change == leasestore.Acquire {
			if err := s.limit.pay(ctx, 2); err != nil {
				return false, err
			}
		}
		write(object, w)
		sent, err := s.put(ctx, object)
		if done, err := s.outcome(ctx, w, old, object, sent, err); !errors.Is(err, errEdited) {
			return done && sent.within(w), err
		}
		object = s.recall(w.Number)
	}
	return false, errEdited
}

// maxEdits is how often a Swap begins again because somebody edits the object.
const maxEdits = 10

var errEdited = errors.New("workerkube: another process keeps changing the lease")

// outcome returns whether a write of object, which replaces the token old, was done. After a
// conflict it reads the row: the client repeats a request that the API server could not answer,
// and the repetition conflicts with the first.
func (s *store) outcome(ctx context.Context, w leasestore.Write, old string, object *coordination.Lease, sent exchange, err error) (done bool, _ error) {
	s.seen.Delete(w.Number)
	if deleted := old != "" && apierrors.IsNotFound(err); !deleted && !conflicts(err) {
		if err == nil && w.Change != leasestore.Release {
			s.remember(w.Number, object)
		}
		return err == nil, err
	}
	found, _, failed := s.get(ctx, s.row(w.Number))
	if failed != nil {
		return false, failed
	}
	s.remember(w.Number, found)
	switch token := tokenOf(found); {
	case token == w.Token:
		return true, nil
	case token == old && old != "":
		return false, errEdited
	case sent.doubt: // an earlier request may have been done, and overwritten since
		return false, leasestore.Transient(fmt.Errorf("workerkube: number %d was requested several times, and may have been written: %w", w.Number, err))
	}
	return false, nil
}

// remember keeps the object of a number, so that the next Swap need not read it.
func (s *store) remember(number int64, object *coordination.Lease) {
	s.seen.Store(number, object.DeepCopy())
}

func (s *store) recall(number int64) *coordination.Lease {
	if object, ok := s.seen.Load(number); ok {
		return object.(*coordination.Lease).DeepCopy()
	}
	return new(coordination.Lease)
}

// SwapLayout implements leasestore.Store. Look has paid for those of a start.
func (s *store) SwapLayout(ctx context.Context, old string, terms leasestore.Terms) (string, error) {
	for {
		object, _, err := s.get(ctx, s.prefix+layoutSuffix)
		if err != nil {
			return "", err
		}
		remembered := object.Annotations[annotation]
		if remembered != old || remembered == terms.Layout {
			return remembered, nil
		}
		meta.SetMetaDataAnnotation(&object.ObjectMeta, annotation, terms.Layout)
		if _, err = s.put(ctx, object); !conflicts(err) {
			return terms.Layout, err
		}
	}
}
