// Package rpc serves the ids by gRPC, gRPC-Web and Connect, as uidring.proto describes.
// Package service does what a request asks for; this one translates.
package rpc

import (
	"cmp"
	"context"
	"errors"
	"math"
	"net/http"
	"slices"

	"connectrpc.com/connect"
	"connectrpc.com/grpcreflect"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/uidring/uidring/cmd/uidringd/internal/api"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	uidringv1 "github.com/uidring/uidring/cmd/uidringd/proto/uidring/v1"
	"github.com/uidring/uidring/cmd/uidringd/proto/uidring/v1/uidringv1connect"
	"github.com/uidring/uidring/uid"
)

// maxMessage bounds a request, which is a name and a number.
const maxMessage = 4 << 10

// New returns the handlers of the id service, of the standard health service and of
// server reflection, by the path of each method. Health and reflection need no token.
// gRPC needs HTTP/2. Streams of the health service end once stopped is closed.
func New(s *service.Service, health Health, stopped <-chan struct{}) map[string]http.Handler {
	options := []connect.HandlerOption{
		connect.WithReadMaxBytes(maxMessage),
		connect.WithCompressMinBytes(math.MaxInt), // compressing ids takes longer than making them
	}
	unary := slices.Concat(options, []connect.HandlerOption{connect.WithInterceptors(connect.UnaryInterceptorFunc(failures)), connect.WithRequestGate(begin)})
	handlers := health.handlers(stopped, unary, options)
	large := new(large)
	_, h := uidringv1connect.NewIdServiceHandler(ids{s, large}, unary...)
	h = admitted(s, large, connect.NewErrorWriter(options...), h)
	for _, procedure := range []string{
		uidringv1connect.IdServiceNextProcedure,
		uidringv1connect.IdServiceRunsProcedure,
		uidringv1connect.IdServiceParseProcedure,
	} {
		handlers[procedure] = h
	}
	reflector := grpcreflect.NewStaticReflector(uidringv1connect.IdServiceName, grpc_health_v1.Health_ServiceDesc.ServiceName)
	for _, reflection := range []func(*grpcreflect.Reflector, ...connect.HandlerOption) (string, http.Handler){grpcreflect.NewHandlerV1, grpcreflect.NewHandlerV1Alpha} {
		path, h := reflection(reflector, options...)
		handlers[path+"ServerReflectionInfo"] = h
	}
	return handlers
}

// call is what the id service knows of a request beside its message.
type call struct {
	caller service.Caller
	writer http.ResponseWriter
	held   int64 // ids of the answer, if they count; 0 if not
	begun  bool  // the headers are valid
	read   bool  // the message was read
}

type callKey struct{}

func callOf(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) }

// admitted authenticates the caller before it reads the request's message.
func admitted(s *service.Service, large *large, refuse *connect.ErrorWriter, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, err := api.Admit(s, w, r)
		if err != nil {
			_ = refuse.Write(w, r, translate(w, err, nil)) // fails if the client has gone
			return
		}
		c := &call{caller: caller, writer: w}
		defer func() { large.leave(r.Context(), c.held) }() // the answer is written, or its client has gone
		c.serve(h, r)
	})
}

// serve serves a call, and translates why its message could not be read, which interceptors do not
// learn.
func (c *call) serve(h http.Handler, r *http.Request) {
	h.ServeHTTP(c.writer, r.WithContext(context.WithValue(r.Context(), callKey{}, c)))
	switch {
	case c.read || !c.begun:
	case r.Context().Err() != nil:
		_ = translate(c.writer, r.Context().Err(), context.Cause(r.Context()))
	default:
		_ = translate(c.writer, service.Invalid("the message cannot be read"), nil)
	}
}

// begin is called with valid headers, before the message is read.
func begin(ctx context.Context, _ connect.Spec, _ connect.Peer, _ http.Header) (context.Context, error) {
	callOf(ctx).begun = true
	return nil, nil
}

func failures(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
		c := callOf(ctx)
		c.read = true
		answer, err := next(ctx, r)
		if known := (*connect.Error)(nil); err == nil || errors.As(err, &known) {
			return answer, err
		}
		return nil, translate(c.writer, err, context.Cause(ctx))
	}
}

type ids struct {
	service *service.Service
	large   *large
}

func (i ids) Next(ctx context.Context, r *uidringv1.NextRequest) (*uidringv1.NextResponse, error) {
	if err := i.large.enter(ctx, int64(r.N)); err != nil {
		return nil, err
	}
	drawn, err := i.service.Draw(ctx, callOf(ctx).caller, r.Name, cmp.Or(int(r.N), 1))
	if err != nil {
		return nil, err
	}
	defer drawn.Done()
	ids := make([]int64, 0, max(r.N, 1))
	for _, run := range drawn.Runs {
		for id := int64(run.First); id < int64(run.First)+run.N; id++ {
			ids = append(ids, id)
		}
	}
	return &uidringv1.NextResponse{Ids: ids}, nil
}

func (i ids) Runs(ctx context.Context, r *uidringv1.RunsRequest) (*uidringv1.RunsResponse, error) {
	drawn, err := i.service.DrawRuns(ctx, callOf(ctx).caller, r.Name, cmp.Or(int(r.N), 1))
	if err != nil {
		return nil, err
	}
	defer drawn.Done()
	runs := make([]*uidringv1.Run, len(drawn.Runs))
	for i, run := range drawn.Runs {
		runs[i] = &uidringv1.Run{First: int64(run.First), Count: run.N}
	}
	return &uidringv1.RunsResponse{Instance: drawn.Entry.Instance, Number: drawn.Entry.NextNumber(), Runs: runs}, nil
}

func (i ids) Parse(ctx context.Context, r *uidringv1.ParseRequest) (*uidringv1.ParseResponse, error) {
	parts, err := i.service.Parse(ctx, callOf(ctx).caller, r.Name, uid.ID(r.Id))
	switch {
	case err != nil:
		return nil, err
	case parts == nil: // of a counter
		return &uidringv1.ParseResponse{}, nil
	}
	return &uidringv1.ParseResponse{
		Time: timestamppb.New(parts.Time), Worker: &parts.Worker, Sequence: &parts.Sequence,
		Layout: parts.Layout.String(), Doubt: parts.Doubt,
	}, nil
}
