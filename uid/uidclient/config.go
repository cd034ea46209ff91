package uidclient

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/uid"
)

const (
	defaultAhead   = 10 * time.Second
	defaultMaxAge  = time.Minute
	defaultTimeout = 3 * time.Second
	minMaxAge      = 100 * time.Millisecond // other than zero and uid.Unlimited
)

// These are the default and the upper limit of Config.MaxIDs.
const (
	DefaultMaxIDs = 1_000_000 // the most that servers allow by default for a counter
	MaxIDs        = 1 << 24
)

// Config configures a [Client]. Zero fields take their default values.
type Config struct {
	// Token is the bearer token of each request. New refuses to send it over HTTP to
	// an address other than loopback, unless Insecure is set.
	Token string

	// TLS configures HTTPS: the trusted authorities and the client's certificate. Nil means Go's
	// default.
	TLS *tls.Config

	// Insecure permits sending Token over HTTP to any address.
	Insecure bool

	// Ahead is how long the ids in one response should last: the client asks for as many as it
	// expects to use in that time at the measured rate. It must be at most MaxAge; zero means 10
	// seconds, or MaxAge if that is less.
	Ahead time.Duration

	// MaxAge is how long the client keeps ids, counted from the request for them. It drops older
	// ids and fetches fresh ones. Zero means a minute; the minimum is 100 milliseconds. For ids of
	// a counter, which carry no time, set [uid.Unlimited].
	MaxAge time.Duration

	// MaxIDs is the maximum number of ids in one request, from 1 to 2^24; zero means a million. If
	// a server allows fewer, the client requests fewer.
	MaxIDs int64

	// Timeout bounds each request; when it expires, the client tries the next server. It must be at
	// most half of MaxAge; zero means 3 seconds, or half of MaxAge if that is less. Keep it above
	// the time that servers wait for ids (by default, 2 seconds) and below half of Ahead, so that
	// no call is delayed.
	Timeout time.Duration

	// RejectedTake decides what a call does when no id is left. [uid.PolicyHelp], the default,
	// waits for a fetch in flight, and fails while no server answers. [uid.PolicyReject] fails
	// immediately. [uid.PolicyWait] waits.
	RejectedTake uid.TakePolicy

	// Logger receives warnings; nil means [slog.Default]. Nothing is logged per id.
	Logger *slog.Logger

	transport http.RoundTripper // of tests; nil is the network
}

// Validate returns an error that names every invalid field with its value and the allowed values,
// and matches [uid.ErrConfig].
func (c Config) Validate() error { return c.prepare().Err() }

// prepare fills in the defaults and returns the wrong fields.
func (c *Config) prepare() *invalid.List {
	faults := invalid.Of("uidclient")
	c.MaxAge = cmp.Or(c.MaxAge, defaultMaxAge)
	c.MaxIDs = cmp.Or(c.MaxIDs, DefaultMaxIDs)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	oldest := time.Duration(math.MaxInt64)
	if c.MaxAge != uid.Unlimited {
		oldest = c.MaxAge
	}
	if oldest < minMaxAge {
		faults.Add("MaxAge", c.MaxAge, fmt.Sprintf("%v or more, or %v for no limit", minMaxAge, uid.Unlimited))
		oldest = minMaxAge
	}
	c.Ahead = cmp.Or(c.Ahead, min(defaultAhead, oldest))
	c.Timeout = cmp.Or(c.Timeout, min(defaultTimeout, oldest/2)) // an answer must not be old when it comes
	if c.Ahead <= 0 || c.Ahead > oldest {
		faults.Add("Ahead", c.Ahead, fmt.Sprintf("more than 0, and at most MaxAge (%v)", c.MaxAge))
	}
	if c.Timeout <= 0 || c.Timeout > oldest/2 {
		faults.Add("Timeout", c.Timeout, fmt.Sprintf("more than 0, and at most half of MaxAge (%v)", c.MaxAge))
	}
	invalid.Range(faults, "MaxIDs", c.MaxIDs, 1, MaxIDs)
	if strings.ContainsFunc(c.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		faults.Add("Token", "invalid (not shown)", "printable ASCII without spaces") // it is a secret
	}
	return faults
}

// requests returns the URLs of requests, or all faults.
func (c *Config) requests(urls []string, name string) ([]string, error) {
	faults := c.prepare()
	if !validName(name) {
		faults.Add("name", fmt.Sprintf("%.16q", name), fmt.Sprintf("1 to %d bytes of printable text", maxName))
	}
	if len(urls) == 0 {
		faults.Add("urls", "empty", "one or more URLs")
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

const maxName = 128 // bytes of a generator's name, as servers allow

func validName(name string) bool {
	printable := utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
	return printable && name != "" && len(name) <= maxName && strings.TrimSpace(name) == name && name != "." && name != ".."
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
