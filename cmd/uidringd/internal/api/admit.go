package api

import (
	"net/http"
	"strings"

	"github.com/uidring/uidring/cmd/uidringd/internal/service"
)

// Observer is an [http.ResponseWriter] that learns who sent the request, and why it failed. An
// answer by gRPC has status 200 although the call failed.
type Observer interface {
	Admitted(service.Caller)
	Failed(*service.Error)
}

// Admit authenticates a request by its Authorization header, or by the certificate of its
// connection, and counts it. If w is an [Observer], it learns of the caller. The error is a
// [*service.Error] of kind [service.Unauthorized] or [service.TooManyRequests].
func Admit(s *service.Service, w http.ResponseWriter, r *http.Request) (service.Caller, error) {
	caller, err := authenticate(s, r)
	if err != nil {
		return caller, err
	}
	if o, ok := w.(Observer); ok {
		o.Admitted(caller)
	}
	return caller, s.Count(caller)
}

func authenticate(s *service.Service, r *http.Request) (service.Caller, error) {
	header := r.Header["Authorization"]
	if len(header) == 0 || s.Open() {
		return s.Anonymous(r.RemoteAddr, r.TLS)
	}
	scheme, token, _ := strings.Cut(header[0], " ")
	if len(header) > 1 || !strings.EqualFold(scheme, "Bearer") {
		token = "" // which counts as a wrong one
	}
	return s.Login(r.RemoteAddr, "", strings.TrimSpace(token))
}
