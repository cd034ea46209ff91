package workerkube

import (
	"context"
	"errors"
	"net/http"

	authorization "k8s.io/api/authorization/v1"
	coordination "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// resource is the only kind of objects that a Store touches.
const resource = "leases"

// codecs encode and decode the kinds that this package uses. The scheme of client-go has
// all kinds of Kubernetes, and takes longer to build than all the rest.
var codecs = func() serializer.CodecFactory {
	scheme := runtime.NewScheme()
	meta.AddToGroupVersion(scheme, meta.Unversioned)
	for _, add := range []func(*runtime.Scheme) error{coordination.AddToScheme, authorization.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err) // a kind was added twice
		}
	}
	return serializer.NewCodecFactory(scheme)
}()

// connect returns a client. It calls nothing.
func connect(config *rest.Config) (*rest.RESTClient, error) {
	if config == nil {
		return nil, errors.New("it is nil, want one such as that of rest.InClusterConfig")
	}
	c := rest.CopyConfig(config)
	c.APIPath, c.GroupVersion = "/apis", &coordination.SchemeGroupVersion
	c.NegotiatedSerializer = codecs.WithoutConversion()
	c.ContentType, c.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	if c.UserAgent == "" {
		c.UserAgent = manager
	}
	if c.WarningHandler == nil && c.WarningHandlerWithContext == nil {
		c.WarningHandler = rest.NoWarnings{} // the default prints them
	}
	c.Wrap(func(next http.RoundTripper) http.RoundTripper { return &observer{next} })
	return rest.RESTClientFor(c)
}

// exchange is what a request tells beside its answer.
type exchange struct {
	clock int64 // the API server's in milliseconds, up to a second ahead; 0 is not known
	tries int   // how often the client sent the request
}

type exchangeKey struct{}

// observer is a transport that fills the exchange of a request's context.
type observer struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (o *observer) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := o.next.RoundTrip(request)
	if sent, ok := request.Context().Value(exchangeKey{}).(*exchange); ok {
		sent.tries++
		if err == nil {
			if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
				sent.clock = date.UnixMilli() + 999 // it is cut to the second
			}
		}
	}
	return response, err
}

// WrappedRoundTripper lets callers of client-go close idle connections.
func (o *observer) WrappedRoundTripper() http.RoundTripper { return o.next }

// do makes a request, and reads the answer into object. client-go logs nothing: whatever
// fails is returned.
func (s *Store) do(ctx context.Context, verb string, request *rest.Request, object runtime.Object) (sent exchange, err error) {
	ctx = klog.NewContext(ctx, klog.Logger{})
	err = request.Do(context.WithValue(ctx, exchangeKey{}, &sent)).Into(object)
	return sent, s.explain(verb, err)
}

// get returns an object, or nil if there is none. The read is linearizable, since it names
// no version.
func (s *Store) get(ctx context.Context, name string) (*coordination.Lease, exchange, error) {
	object := new(coordination.Lease)
	sent, err := s.do(ctx, "get", s.client.Get().Namespace(s.namespace).Resource(resource).Name(name), object)
	if err == nil {
		return object, sent, nil
	}
	if apierrors.IsNotFound(err) && !errors.Is(err, ErrNamespace) {
		err = nil
	}
	return nil, sent, err
}

// create makes object, and sets it to what the API server made of it.
func (s *Store) create(ctx context.Context, object *coordination.Lease) (exchange, error) {
	request := s.client.Post().Namespace(s.namespace).Resource(resource).Param("fieldManager", manager).Body(object)
	return s.do(ctx, "create", request, object)
}

// update replaces an object on condition that it is unchanged since it was read, and sets
// object to what the API server made of it.
func (s *Store) update(ctx context.Context, object *coordination.Lease) (exchange, error) {
	body := object.DeepCopy()
	body.ManagedFields = nil // the API server keeps them
	request := s.client.Put().Namespace(s.namespace).Resource(resource).Name(object.Name).Param("fieldManager", manager).Body(body)
	*object = coordination.Lease{}
	return s.do(ctx, "update", request, object)
}

// put sets the value of an object that was read, or makes the object if that is nil. It
// returns the object as it is then.
func (s *Store) put(ctx context.Context, read *coordination.Lease, name, value string) (*coordination.Lease, error) {
	if read == nil {
		object := s.object(name)
		set(object, value)
		_, err := s.create(ctx, object)
		return object, err
	}
	object := read.DeepCopy()
	set(object, value)
	_, err := s.update(ctx, object)
	return object, err
}

// page is how many objects one request lists. Only tests change it.
var page = "500"

// list returns all objects of the prefix as they were at one instant, with the API server's
// clock at that time.
func (s *Store) list(ctx context.Context) ([]coordination.Lease, exchange, error) {
	var first exchange
	var objects []coordination.Lease
	for token, limit := "", page; ; {
		var part coordination.LeaseList
		request := s.client.Get().Namespace(s.namespace).Resource(resource).Param("labelSelector", label+"="+s.prefix)
		for name, value := range map[string]string{"limit": limit, "continue": token} {
			if value != "" {
				request.Param(name, value)
			}
		}
		sent, err := s.do(ctx, "list", request, &part)
		switch {
		case apierrors.IsResourceExpired(err) && token != "": // the instant is too long ago: list everything at once
			token, limit, objects = "", "", nil
			continue
		case err != nil:
			return nil, first, err
		case token == "":
			first = sent
		}
		objects = append(objects, part.Items...)
		if token = part.Continue; token == "" {
			return objects, first, nil
		}
	}
}
