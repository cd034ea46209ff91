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
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/uidring/uidring/worker/lease/leasestore"
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

func connect(config *rest.Config) (*rest.RESTClient, *limit, error) {
	if config == nil {
		return nil, nil, errors.New("nil, want one from rest.InClusterConfig or the like")
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
	l := limitOf(c)
	client, err := rest.RESTClientFor(c)
	return client, l, err
}

// exchange is what a request tells beside its answer.
type exchange struct {
	clock int64 // the API server's in milliseconds, up to a second ahead; 0 is not known
	doubt bool  // the client sent the request at least once without an answer that refuses it for certain
}

// within reports whether the API server's clock was within the bounds of a write, as far as is known.
func (e exchange) within(w leasestore.Write) bool {
	return w.Latest == 0 || e.clock == 0 || e.clock >= w.Earliest-cut && e.clock <= w.Latest+cut
}

type exchangeKey struct{}

const cut = 999 // milliseconds

// observer is a transport that fills the exchange of a request's context.
type observer struct{ next http.RoundTripper }

func (o *observer) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := o.next.RoundTrip(request)
	if sent, ok := request.Context().Value(exchangeKey{}).(*exchange); ok {
		sent.doubt = sent.doubt || err != nil || !refuses(response.StatusCode)
		if err == nil {
			if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
				sent.clock = date.UnixMilli() + cut // it is cut to the second
			}
		}
	}
	return response, err
}

// refuses reports whether a request with this answer was not done. A proxy between may answer
// that it was throttled, or took too long, after the API server had the request.
func refuses(code int) bool {
	return code/100 == 4 && code != http.StatusRequestTimeout && code != http.StatusTooManyRequests
}

// WrappedRoundTripper lets callers of client-go close idle connections.
func (o *observer) WrappedRoundTripper() http.RoundTripper { return o.next }

// do makes a request, and reads the answer into object. client-go logs nothing. If the API server fails or does not
// answer, the next request gets a new connection, which a load balancer may lead to another API server.
func (s *store) do(ctx context.Context, verb string, request *rest.Request, object runtime.Object) (sent exchange, err error) {
	if s.failing.CompareAndSwap(true, false) {
		closeIdle(s.client.Client.Transport)
	}
	ctx = klog.NewContext(ctx, klog.Logger{})
	err = request.Do(context.WithValue(ctx, exchangeKey{}, &sent)).Into(object)
	if status, answered := errors.AsType[*apierrors.StatusError](err); answered && status.ErrStatus.Code >= http.StatusInternalServerError ||
		errors.Is(err, context.DeadlineExceeded) {
		s.failing.Store(true)
	}
	return sent, s.explain(verb, err)
}

// closeIdle closes the connections that no request uses. Unlike client-go's own function, it logs nothing.
func closeIdle(transport http.RoundTripper) {
	for transport != nil {
		if idle, ok := transport.(interface{ CloseIdleConnections() }); ok {
			idle.CloseIdleConnections()
			return
		}
		wrapper, _ := transport.(utilnet.RoundTripperWrapper)
		if wrapper == nil {
			return
		}
		transport = wrapper.WrappedRoundTripper()
	}
}

func (s *store) on(request *rest.Request) *rest.Request {
	return request.Namespace(s.namespace).Resource(resource)
}

// get returns an object as it is. If there is none, get returns a new one, without a
// ResourceVersion. The read is linearizable, since it names no version.
func (s *store) get(ctx context.Context, name string) (*coordination.Lease, exchange, error) {
	object := new(coordination.Lease)
	sent, err := s.do(ctx, "get", s.on(s.client.Get()).Name(name), object)
	if apierrors.IsNotFound(err) && !errors.Is(err, ErrNamespace) {
		return s.object(name), sent, nil
	}
	return object, sent, err
}

// put makes a new object, or replaces one on condition that it is unchanged since it was
// read. It sets object to what the API server made of it.
func (s *store) put(ctx context.Context, object *coordination.Lease) (exchange, error) {
	verb, request := "create", s.client.Post()
	if object.ResourceVersion != "" {
		verb, request = "update", s.client.Put().Name(object.Name)
	}
	body := object.DeepCopy()
	body.ManagedFields = nil // the API server keeps them
	*object = coordination.Lease{}
	return s.do(ctx, verb, s.on(request).Param("fieldManager", manager).Body(body), object)
}

// page is how many objects one request of all lists. Only tests change it.
var page int64 = 500

// list returns the objects of the prefix that a selector of labels selects, as they were at one
// instant, with the API server's clock at that time. An empty selector selects all.
func (s *store) list(ctx context.Context, selector string) (objects []coordination.Lease, first exchange, err error) {
	options := meta.ListOptions{LabelSelector: label + "=" + s.prefix + selector}
	if selector == "" {
		options.Limit = page
	}
	for {
		var part coordination.LeaseList
		request := s.on(s.client.Get()).SpecificallyVersionedParams(&options, meta.ParameterCodec, meta.Unversioned)
		sent, err := s.do(ctx, "list", request, &part)
		switch {
		case apierrors.IsResourceExpired(err) && options.Continue != "": // the instant is too long ago: list everything at once
			options.Limit, options.Continue, objects = 0, "", nil
			continue
		case err != nil:
			return nil, first, err
		case options.Continue == "":
			first = sent
		}
		objects = append(objects, part.Items...)
		if options.Continue = part.Continue; options.Continue == "" {
			return objects, first, nil
		}
	}
}
