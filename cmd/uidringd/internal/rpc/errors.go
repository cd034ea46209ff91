package rpc

import (
	"context"
	"errors"
	"net/http"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/uidring/uidring/cmd/uidringd/internal/api"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
)

// translate returns what a client gets for an error of package service, or of a context that has
// ended with cause. If w is a [api.Observer], it learns of the failure.
func translate(w http.ResponseWriter, err, cause error) *connect.Error {
	failure := (*service.Error)(nil)
	switch {
	case errors.As(err, &failure) && failure.Kind.Code != 0:
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		failure = service.Ended(cause)
	default:
		failure = &service.Error{Kind: service.Exhausted, Detail: "internal error"}
	}
	if o, ok := w.(api.Observer); ok {
		o.Failed(failure)
	}
	e := connect.NewError(failure.Kind.Code, failure)
	if failure.Retry > 0 {
		if detail, err := connect.NewErrorDetail(&errdetails.RetryInfo{RetryDelay: durationpb.New(failure.Retry)}); err == nil {
			e.AddDetail(detail)
		}
	}
	return e
}
