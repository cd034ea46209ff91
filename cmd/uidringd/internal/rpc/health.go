package rpc

import (
	"context"
	"net/http"
	"time"

	"connectrpc.com/connect"
	"connectrpc.com/grpchealth"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/uidring/uidring/cmd/uidringd/proto/uidring/v1/uidringv1connect"
)

// Health reports whether a generator of the config is ready, and whether there is one of
// that name. Without a name, it reports whether the server is ready.
type Health func(generator string) (serving, known bool)

// of is Health by the name of a gRPC service: that of the id service stands for the
// server, and others for generators.
func (h Health) of(service string) (serving, known bool) {
	if service == uidringv1connect.IdServiceName {
		service = ""
	}
	return h(service)
}

// Check implements [grpchealth.Checker].
func (h Health) Check(_ context.Context, r *grpchealth.CheckRequest) (*grpchealth.CheckResponse, error) {
	switch serving, known := h.of(r.Service); {
	case !known:
		return nil, connect.NewError(connect.CodeNotFound, nil)
	case serving:
		return &grpchealth.CheckResponse{Status: grpchealth.StatusServing}, nil
	}
	return &grpchealth.CheckResponse{Status: grpchealth.StatusNotServing}, nil
}

const (
	watchPath  = "/grpc.health.v1.Health/Watch" // grpchealth has no Watch
	watchEvery = time.Second
	watchWrite = 10 * time.Second // for the client to take a message
)

// watcher serves Watch: it sends a status at once, and each change within a second. The
// stream lasts until the client or the server ends it.
func (h Health) watcher(stopped <-chan struct{}, options ...connect.HandlerOption) http.Handler {
	serve := connect.NewServerStreamHandler(watchPath, func(ctx context.Context, r *connect.Request[grpc_health_v1.HealthCheckRequest], stream *connect.ServerStream[grpc_health_v1.HealthCheckResponse]) error {
		control := http.NewResponseController(callOf(ctx).writer)
		ticks := time.NewTicker(watchEvery)
		defer ticks.Stop()
		for last := grpc_health_v1.HealthCheckResponse_UNKNOWN; ; {
			now := grpc_health_v1.HealthCheckResponse_NOT_SERVING
			if serving, known := h.of(r.Msg.Service); !known {
				now = grpc_health_v1.HealthCheckResponse_SERVICE_UNKNOWN
			} else if serving {
				now = grpc_health_v1.HealthCheckResponse_SERVING
			}
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
	}, options...)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		serve.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callKey{}, &call{writer: w})))
	})
}
