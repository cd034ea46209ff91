package uidclient

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
)

// The defaults of a [Config].
const (
	DefaultAhead   = 10 * time.Second
	DefaultMaxAge  = time.Minute
	DefaultMaxIDs  = 1_000_000 // of a counter, as servers allow by default
	DefaultTimeout = 3 * time.Second
)

// Bounds of fields of [Config].
const (
	MaxIDs    = 1 << 24
	MinMaxAge = 100 * time.Millisecond // above zero
)

// ErrConfig is matched by every error about a [Config], a URL or a name.
var ErrConfig = errors.New("uidclient: invalid config")

// Config configures a [Client]. Zero fields are defaults. One error, which matches
// [ErrConfig], names every wrong field, its value and the values that are allowed.
type Config struct {
	// Token is the bearer token of each request. New refuses to send it over HTTP to
	// an address other than loopback, unless Insecure is set.
	Token string

	// TLS configures HTTPS: the authorities that are trusted, and the client's
	// certificate. Nil is Go's default.
	TLS *tls.Config

	// Insecure permits Token over HTTP to any address.
	Insecure bool

	// Ahead is how long the ids of an answer last: the client asks for as many as the
	// measured rate needs. At most MaxAge; zero is 10 seconds.
	Ahead time.Duration

	// MaxAge limits how old an id gets in this process. The client drops older ids and
	// fetches fresh ones. Zero is a minute; the least is 100 milliseconds. Set
	// [uid.Unlimited] for ids of a counter: they carry no time.
	MaxAge time.Duration

	// MaxIDs is the most ids to ask for at once, from 1 to 2^24; zero is a million. While a
	// server allows fewer, the client asks for fewer.
	MaxIDs int64

	// Timeout bounds each request: after it, the client asks the next server. Zero is 3
	// seconds; half of MaxAge is a bound too. Keep it above the time that servers wait for
	// ids, 2 seconds by default, and below half of Ahead, so that no call is delayed.
	Timeout time.Duration

	// RejectedTake decides what a call does when no id is left. [uid.PolicyHelp], the
	// default, waits for a fetch that is under way, and fails while no server
	// answers. [uid.PolicyReject] fails at once. [uid.PolicyWait] waits.
	RejectedTake uid.TakePolicy

	// Logger receives warnings; nil is [slog.Default]. Nothing is logged per id.
	Logger *slog.Logger

	transport http.RoundTripper // of tests; nil is the network
}

// prepare fills in the defaults and returns the requests' URLs, or all faults.
func (c *Config) prepare(urls []string, name string) ([]string, error) {
	faults := invalid.Of("uidclient", ErrConfig)
	c.Ahead = cmp.Or(c.Ahead, DefaultAhead)
	c.MaxAge = cmp.Or(c.MaxAge, DefaultMaxAge)
	c.MaxIDs = cmp.Or(c.MaxIDs, DefaultMaxIDs)
	c.Timeout = cmp.Or(c.Timeout, DefaultTimeout)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	if c.MaxAge > 0 && c.MaxAge < MinMaxAge {
		faults.Add("MaxAge", c.MaxAge, fmt.Sprintf("%v or more, or a negative one for no limit", MinMaxAge))
	}
	switch {
	case c.Ahead <= 0:
		faults.Add("Ahead", c.Ahead, "more than 0")
	case c.MaxAge > 0 && c.Ahead > c.MaxAge:
		if c.Ahead != DefaultAhead {
			faults.Add("Ahead", c.Ahead, fmt.Sprintf("at most MaxAge, %v", c.MaxAge))
		}
		c.Ahead = c.MaxAge
	}
	invalid.Range(faults, "MaxIDs", c.MaxIDs, 1, MaxIDs)
	invalid.Positive(faults, "Timeout", c.Timeout)
	if c.MaxAge > 0 { // an answer must not be old when it comes
		c.Timeout = min(c.Timeout, c.MaxAge/2)
	}
	if strings.ContainsFunc(c.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		faults.Add("Token", "not shown", "printable ASCII without blanks") // it is a secret
	}
	if err := segment.CheckTag(name); err != nil || name == "." || name == ".." {
		faults.Add("name", fmt.Sprintf("%.16q", name), fmt.Sprintf("1 to %d bytes of printable text", segment.MaxTag))
	}
	if len(urls) == 0 {
		faults.Add("urls", "empty", "one URL or more")
	}
	requests := make([]string, len(urls))
	for i, text := range urls {
		u, is, want := c.checkURL(text)
		if u == nil {
			faults.Add(fmt.Sprintf("urls[%d]", i), is, want)
			continue
		}
		requests[i] = u.JoinPath("v1").String() + "/" + url.PathEscape(name) + "/runs"
	}
	return requests, faults.Err()
}

// checkURL returns a URL, or what is wanted instead of what it is. It never shows a URL that
// may hold a password.
func (c *Config) checkURL(text string) (u *url.URL, is, want string) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, "no URL", "http://HOST:PORT or https://HOST:PORT"
	case u.User != nil:
		return nil, "a URL with a user", "Config.Token instead"
	case u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return nil, strconv.Quote(text), "http://HOST:PORT or https://HOST:PORT"
	case u.RawQuery != "" || u.Fragment != "":
		return nil, strconv.Quote(u.Scheme + "://" + u.Host + u.Path), "no query and no fragment"
	case u.Scheme == "http" && c.Token != "" && !c.Insecure && !loopback(u.Hostname()):
		return nil, strconv.Quote(text), "https, since Token would be sent in plain text; Config.Insecure allows that"
	}
	return u, "", ""
}

func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}
