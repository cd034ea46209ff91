package rpc

import (
	"context"
	"net/http"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/uidring/uidring/cmd/uidringd/proto/uidring/v1/uidringv1connect"
)

// Health is what the health service tells.
type Health struct {
	// Of reports whether a generator of the config is ready, and whether there is one of that name.
	// Without a name, it reports whether the server is ready.
	Of func(generator string) (serving, known bool)

	Generators []string
}

// of returns the status of a gRPC service: that of the id service is that of the server, and others
// are generators.
func (h Health) of(service string) grpc_health_v1.HealthCheckResponse_ServingStatus {
	if service == uidringv1connect.IdServiceName {
		service = ""
	}
	switch serving, known := h.Of(service); {
	case !known:
		return grpc_health_v1.HealthCheckResponse_SERVICE_UNKNOWN
	case serving:
		return grpc_health_v1.HealthCheckResponse_SERVING
	}
	return grpc_health_v1.HealthCheckResponse_NOT_SERVING
}

func (h Health) handlers(stopped <-chan struct{}, unary, stream []connect.HandlerOption) map[string]http.Handler {
	return map[string]http.Handler{
		grpc_health_v1.Health_Check_FullMethodName: anonymous(connect.NewUnaryHandler(grpc_health_v1.Health_Check_FullMethodName, h.check, unary...)),
		grpc_health_v1.Health_List_FullMethodName:  anonymous(connect.NewUnaryHandler(grpc_health_v1.Health_List_FullMethodName, h.list, unary...)),
		grpc_health_v1.Health_Watch_FullMethodName: h.watcher(stopped, stream...),
	}
}

// anonymous serves calls of any caller.
func anonymous(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (&call{writer: w}).serve(h, r) })
}

func (h Health) check(_ context.Context, r *connect.Request[grpc_health_v1.HealthCheckRequest]) (*connect.Response[grpc_health_v1.HealthCheckResponse], error) {
	status := h.of(r.Msg.Service)
	if status == grpc_health_v1.HealthCheckResponse_SERVICE_UNKNOWN {
		return nil, connect.NewError(connect.CodeNotFound, nil)
	}
	return connect.NewResponse(&grpc_health_v1.HealthCheckResponse{Status: status}), nil
}

func (h Health) list(context.Context, *connect.Request[grpc_health_v1.HealthListRequest]) (*connect.Response[grpc_health_v1.HealthListResponse], error) {
	statuses := map[string]*grpc_health_v1.HealthCheckResponse{}
	for _, name := range append([]string{"", uidringv1connect.IdServiceName}, h.Generators...) {
		statuses[name] = &grpc_health_v1.HealthCheckResponse{Status: h.of(name)}
	}
	return connect.NewResponse(&grpc_health_v1.HealthListResponse{Statuses: statuses}), nil
}

const (
	watchEvery = time.Second
	watchWrite = 10 * time.Second // for the client to take a message
)

// watcher serves Watch: it sends a status at once, and each change within a second. The
// stream lasts until the client or the server ends it.
func (h Health) watcher(stopped <-chan struct{}, options ...connect.HandlerOption) http.Handler {
	return anonymous(connect.NewServerStreamHandler(grpc_health_v1.Health_Watch_FullMethodName, func(ctx context.Context, r *connect.Request[grpc_health_v1.HealthCheckRequest], stream *connect.ServerStream[grpc_health_v1.HealthCheckResponse]) error {
		control := http.NewResponseController(callOf(ctx).writer)
		ticks := time.NewTicker(watchEvery)
		defer ticks.Stop()
		for last := grpc_health_v1.HealthCheckResponse_UNKNOWN; ; {
			now := h.of(r.Msg.Service)
			if now != last {
				// Between messages, limits.write would end the stream.
				_ = control.SetWriteDeadline(time.Now().Add(watchWrite)) // fails if the client has gone
				if err := stream.Send(&grpc_health_v1.HealthCheckResponse{Status: now}); err != nil {
					return err
				}
				_ = control.SetWriteDeadline(time.Time{})
				last = now
			}
			select {
			case <-ticks.C:
			case <-ctx.Done():
				return ctx.Err()
			case <-stopped:
				return nil
			}
		}
	}, options...))
}
