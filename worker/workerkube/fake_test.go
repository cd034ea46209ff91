//go:build linux

package workerkube_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	pathpkg "path"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	authorization "k8s.io/api/authorization/v1"
	coordination "k8s.io/api/coordination/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"

	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/workerkube"
)

// fake is an API server in memory, for herds in virtual time. It serves one request after the
// other, each for a millisecond.
type fake struct {
	once     sync.Once
	busy     chan struct{}                  // holds an element while a request is served
	objects  map[string]*coordination.Lease // by name
	version  int
	limited  bool // it cannot list rights, and does not allow updates
	requests atomic.Int64
}

// open is a Store of the fake, with a client of its own.
func (f *fake) open(c rest.Config, with ...*faults) leasestore.Preparer {
	c.Host, c.Transport = "http://fake", transport(f.serve)
	for _, faults := range with {
		faults.in(&c)
	}
	return workerkube.NewStore(&c, workerkube.Config{Namespace: "orders", Prefix: "ids"})
}

func (f *fake) serve(r *http.Request) (*http.Response, error) {
	f.requests.Add(1)
	f.once.Do(func() { f.busy = make(chan struct{}, 1) })
	f.busy <- struct{}{}
	defer func() { <-f.busy }()
	time.Sleep(time.Millisecond)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	code, answer := f.answer(r)
	body, err := json.Marshal(answer)
	header := http.Header{"Content-Type": {"application/json"}, "Date": {time.Now().UTC().Format(http.TimeFormat)}}
	return &http.Response{StatusCode: code, Header: header, Body: io.NopCloser(bytes.NewReader(body)), Request: r}, err
}

func (f *fake) answer(r *http.Request) (int, any) {
	refuse := func(code int, reason meta.StatusReason) (int, any) {
		return code, meta.Status{Status: meta.StatusFailure, Reason: reason, Code: int32(code)}
	}
	o, before := new(coordination.Lease), f.objects[pathpkg.Base(r.URL.Path)]
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		_ = json.Unmarshal(body, o)
	}
	switch {
	case pathpkg.Base(r.URL.Path) == "selfsubjectrulesreviews":
		verbs := []string{"*"}
		if f.limited {
			verbs = []string{"get", "list"}
		}
		return http.StatusCreated, authorization.SelfSubjectRulesReview{Status: authorization.SubjectRulesReviewStatus{
			Incomplete:    f.limited,
			ResourceRules: []authorization.ResourceRule{{Verbs: verbs, APIGroups: []string{"*"}, Resources: []string{"*"}}},
		}}
	case pathpkg.Base(r.URL.Path) == "selfsubjectaccessreviews":
		review := new(authorization.SelfSubjectAccessReview)
		_ = json.Unmarshal(body, review)
		review.Status.Allowed = review.Spec.ResourceAttributes.Verb != "update"
		return http.StatusCreated, review
	case r.Method == http.MethodGet && pathpkg.Base(r.URL.Path) == "leases":
		selector, _ := labels.Parse(r.URL.Query().Get("labelSelector"))
		list := coordination.LeaseList{}
		for _, o := range f.objects {
			if selector.Matches(labels.Set(o.Labels)) {
				list.Items = append(list.Items, *o)
			}
		}
		return http.StatusOK, list
	case r.Method == http.MethodPost && f.objects[o.Name] != nil:
		return refuse(http.StatusConflict, meta.StatusReasonAlreadyExists)
	case r.Method != http.MethodPost && before == nil:
		return refuse(http.StatusNotFound, meta.StatusReasonNotFound)
	case r.Method == http.MethodGet:
		return http.StatusOK, before
	case r.Method == http.MethodPut && before.ResourceVersion != o.ResourceVersion:
		return refuse(http.StatusConflict, meta.StatusReasonConflict)
	}
	f.version++
	now := meta.Now()
	o.ResourceVersion, o.ManagedFields = strconv.Itoa(f.version), []meta.ManagedFieldsEntry{{Manager: "uidring", Time: &now}}
	if f.objects == nil {
		f.objects = map[string]*coordination.Lease{}
	}
	f.objects[o.Name] = o
	return http.StatusOK, o
}
