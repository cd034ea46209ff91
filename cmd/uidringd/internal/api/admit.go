package api

import (
	"net/http"

	"github.com/uidring/uidring/cmd/uidringd/internal/service"
)

// Observer is an [http.ResponseWriter] that learns who sent the request, and why it failed. An
// answer by gRPC has status 200 although the call failed.
type Observer interface {
	Admitted(service.Caller)
	Failed(*service.Error)
}

// Admit authenticates a request and counts it. If w is an [Observer], it learns of the caller.
// Errors are those of [service.Service.Admit].
func Admit(s *service.Service, w http.ResponseWriter, r *http.Request) (service.Caller, error) {
	caller, err := s.Admit(service.Credentials{Remote: r.RemoteAddr, Authorization: r.Header["Authorization"], TLS: r.TLS})
	if o, ok := w.(Observer); ok && caller != (service.Caller{}) {
		o.Admitted(caller)
	}
	return caller, err
}
