package service

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"fmt"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"github.com/uidring/uidring/cmd/uidringd/internal/gate"
)

// Token is a bearer token.
type Token struct {
	Name       string                      // for messages; never the token itself
	Hash       [sha256.Size]byte           // SHA-256 of the token
	May        func(generator string) bool // whether the token is for a generator; nil is for every one
	Operations bool                        // it is for metrics and the pages too
}

// Caller is the sender of a request. The zero Caller is anonymous, and may do everything.
type Caller struct {
	token *Token // nil for all others
	cert  string // the subject's common name of a client certificate
	key   any    // by what the rate is counted
}

// Name returns the name of the caller's token, or of its certificate. It is "" for an
// anonymous caller.
func (c Caller) Name() string {
	if c.token != nil {
		return c.token.Name
	}
	return c.cert
}

// Label returns what the caller's requests are counted under.
func (c Caller) Label() string {
	switch {
	case c.token == nil && c.cert == "":
		return "(none)"
	case c.token == nil:
		return "(certificate)"
	}
	return c.token.Name
}

// Operator returns an [*Error] of kind [Forbidden] unless the caller is an operator.
func (c Caller) Operator() error {
	if c.token == nil || c.token.Operations {
		return nil
	}
	return &Error{Kind: Forbidden, Detail: fmt.Sprintf("the token %q is not for operations", c.token.Name)}
}

// May reports whether the caller may draw from a generator.
func (c Caller) May(generator string) bool {
	return c.token == nil || c.token.May == nil || c.token.May(generator)
}

// mostCallers is how many callers have a limiter. Beyond it, the service forgets the caller
// that called least recently, which then starts with a full burst again.
const mostCallers = 10_000

// An address may send this many wrong tokens. Beyond that, no token is looked up for it
// but those that it has used before: others behind the same address keep theirs.
const (
	wrongPerSecond = 5
	wrongBurst     = 50
)

// tokenOf is a token that an address has used.
type tokenOf struct {
	address any
	token   *Token
}

type limiters struct {
	rate  rate.Limit
	burst int
	what  string // is counted
	of    *lru.Cache[any, *rate.Limiter]
}

func newLimiters(perSecond float64, burst int, what string) *limiters {
	of, _ := lru.New[any, *rate.Limiter](mostCallers) // fails for a size below 1 only
	return &limiters{rate.Limit(perSecond), burst, what, of}
}

// Open reports whether callers need neither token nor certificate.
func (s *Service) Open() bool { return len(s.config.Tokens) == 0 && !s.config.ClientCerts }

// Count counts a request of a caller, or returns an [*Error] of kind [TooManyRequests].
func (s *Service) Count(c Caller) error {
	if s.requests == nil {
		return nil
	}
	return s.requests.take(c.key, 1)
}

// Anonymous returns the caller of a client that sends no token: of its certificate, or of its
// address. state is nil without TLS. The error is an [*Error] of kind [Unauthorized].
func (s *Service) Anonymous(remote string, state *tls.ConnectionState) (Caller, error) {
	switch {
	case s.Open():
		return Caller{key: gate.Address(remote)}, nil
	case s.config.ClientCerts && state != nil && len(state.VerifiedChains) > 0:
		cert := state.VerifiedChains[0][0]
		return Caller{cert: cert.Subject.CommonName, key: sha256.Sum256(cert.Raw)}, nil
	}
	return Caller{}, &Error{Kind: Unauthorized, Detail: s.wanted()}
}

// Login returns the caller of a token. If name is not "", the token has that name. The error is
// an [*Error] of kind [Unauthorized], or [TooManyRequests] after many wrong tokens of an address.
func (s *Service) Login(remote, name, token string) (Caller, error) {
	from, t := gate.Address(remote), s.find(sha256.Sum256([]byte(token)))
	if t != nil && (name == "" || name == t.Name) {
		use := tokenOf{from, t}
		known := s.used.Contains(use)
		if known || !s.wrong.spent(from) { // else the token may be guessed
			if !known {
				s.used.Add(use, struct{}{})
			}
			return Caller{token: t, key: t}, nil
		}
	}
	if err := s.wrong.take(from, 1); err != nil {
		return Caller{}, err
	}
	return Caller{}, &Error{Kind: Unauthorized, Detail: "the Authorization header holds no known bearer token"}
}

func (s *Service) wanted() string {
	switch {
	case !s.config.ClientCerts:
		return "want a bearer token in the Authorization header"
	case len(s.config.Tokens) == 0:
		return "want a client certificate"
	}
	return "want a bearer token in the Authorization header, or a client certificate"
}

// find compares with every hash, so that its time tells nothing about any of them.
func (s *Service) find(hash [sha256.Size]byte) *Token {
	found := -1
	for i := range s.config.Tokens {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(hash[:], s.config.Tokens[i].Hash[:]), i, found)
	}
	if found < 0 {
		return nil
	}
	return &s.config.Tokens[found]
}

func (l *limiters) get(key any) *rate.Limiter {
	limiter, ok := l.of.Get(key)
	if !ok {
		limiter = rate.NewLimiter(l.rate, l.burst)
		if before, found, _ := l.of.PeekOrAdd(key, limiter); found {
			limiter = before
		}
	}
	return limiter
}

// spent reports whether a caller has had all that it may have now.
func (l *limiters) spent(key any) bool {
	limiter, ok := l.of.Peek(key)
	return ok && limiter.Tokens() < 1
}

// take counts n of a caller, or returns an [*Error] of kind [TooManyRequests].
func (l *limiters) take(key any, n int) error {
	now := time.Now()
	r := l.get(key).ReserveN(now, n)
	wait := r.DelayFrom(now)
	if wait == 0 {
		return nil
	}
	r.CancelAt(now)
	return &Error{
		Kind:   TooManyRequests,
		Detail: fmt.Sprintf("more than %v %s a second, or %d at once", l.rate, l.what, l.burst),
		Retry:  wait,
	}
}
