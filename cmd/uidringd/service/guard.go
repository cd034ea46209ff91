package service

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"
)

// Token is a bearer token.
type Token struct {
	Name string            // for messages; never the token itself
	Hash [sha256.Size]byte // SHA-256 of the token

	// May reports whether the token is for a generator; nil means for every one.
	May func(generator string) bool
}

// Caller is the sender of a request. The zero Caller is anonymous.
type Caller struct {
	token *Token // nil for all others
}

func (c Caller) may(generator string) bool {
	return c.token == nil || c.token.May == nil || c.token.May(generator)
}

// mostCallers is how many callers have a limiter. Beyond it, the guard forgets the caller
// that called least recently, which then starts with a full burst again.
const mostCallers = 10_000

// guard admits callers, and limits the rate of each.
type guard struct {
	tokens      []Token
	clientCerts bool
	rate        rate.Limit
	burst       int
	limiters    *lru.Cache[any, *rate.Limiter] // by caller; nil without a limit
}

func newGuard(config Config) (*guard, error) {
	var faults []error
	if !(config.Rate >= 0) || math.IsInf(config.Rate, 0) {
		faults = append(faults, fmt.Errorf("service: Rate is %v, want more than 0, or 0 for no limit", config.Rate))
	}
	if config.Burst < 0 {
		faults = append(faults, fmt.Errorf("service: Burst is %d, want 1 or more, or 0 for the requests of one second", config.Burst))
	}
	names := map[[sha256.Size]byte]string{}
	for _, token := range config.Tokens {
		if other, twice := names[token.Hash]; twice {
			faults = append(faults, fmt.Errorf("service: tokens %q and %q have the same hash, want one of them", other, token.Name))
		}
		names[token.Hash] = token.Name
	}
	g := &guard{tokens: config.Tokens, clientCerts: config.ClientCerts, rate: rate.Limit(config.Rate), burst: config.Burst}
	if g.burst == 0 {
		g.burst = max(1, int(config.Rate))
	}
	if config.Rate > 0 {
		g.limiters, _ = lru.New[any, *rate.Limiter](mostCallers) // fails for a size below 1 only
	}
	return g, errors.Join(faults...)
}

// Admit returns whom the request comes from. The error is an [*Error] of kind
// [Unauthorized] or [TooManyRequests].
func (s *Service) Admit(r *http.Request) (Caller, error) { return s.guard.admit(r) }

func (g *guard) admit(r *http.Request) (Caller, error) {
	caller, err := g.authenticate(r)
	if err != nil || g.limiters == nil {
		return caller, err
	}
	return caller, g.limit(g.key(caller, r))
}

func (g *guard) authenticate(r *http.Request) (Caller, error) {
	if len(g.tokens) == 0 && !g.clientCerts {
		return Caller{}, nil
	}
	header := r.Header["Authorization"]
	if len(header) == 0 {
		if g.clientCerts && verified(r) {
			return Caller{}, nil
		}
		return Caller{}, &Error{Kind: Unauthorized, Detail: g.wanted()}
	}
	scheme, token, _ := strings.Cut(header[0], " ")
	if len(header) == 1 && strings.EqualFold(scheme, "Bearer") {
		if t := g.find(strings.TrimSpace(token)); t != nil {
			return Caller{t}, nil
		}
	}
	return Caller{}, &Error{Kind: Unauthorized, Detail: "the Authorization header holds no known bearer token"}
}

func (g *guard) wanted() string {
	switch {
	case !g.clientCerts:
		return "want a bearer token in the Authorization header"
	case len(g.tokens) == 0:
		return "want a client certificate"
	}
	return "want a bearer token in the Authorization header, or a client certificate"
}

func verified(r *http.Request) bool { return r.TLS != nil && len(r.TLS.VerifiedChains) > 0 }

// find compares with every hash, so that its time tells nothing about any of them.
func (g *guard) find(token string) *Token {
	hash := sha256.Sum256([]byte(token))
	found := -1
	for i := range g.tokens {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(hash[:], g.tokens[i].Hash[:]), i, found)
	}
	if found < 0 {
		return nil
	}
	return &g.tokens[found]
}

// key returns by what the rate of a caller is counted.
func (g *guard) key(caller Caller, r *http.Request) any {
	switch {
	case caller.token != nil:
		return caller.token
	case g.clientCerts && verified(r):
		return sha256.Sum256(r.TLS.VerifiedChains[0][0].Raw)
	}
	remote, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr // not TCP
	}
	addr := remote.Addr().Unmap()
	if addr.Is6() {
		net, _ := addr.WithZone("").Prefix(64) // 64 bits fit
		return net
	}
	return addr
}

func (g *guard) limit(key any) error {
	limiter, ok := g.limiters.Get(key)
	if !ok {
		limiter = rate.NewLimiter(g.rate, g.burst)
		if before, found, _ := g.limiters.PeekOrAdd(key, limiter); found {
			limiter = before
		}
	}
	now := time.Now()
	r := limiter.ReserveN(now, 1)
	wait := r.DelayFrom(now)
	if wait == 0 {
		return nil
	}
	r.CancelAt(now)
	return &Error{
		Kind:   TooManyRequests,
		Detail: fmt.Sprintf("more than %v requests a second, or %d at once", g.rate, g.burst),
		Retry:  wait,
	}
}
