package stores

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/cmd/internal/database"
)

// address is a URL that may name several hosts. Its options are taken one by one; those
// that are left at the end are unknown.
type address struct {
	scheme  string
	user    *url.Userinfo // nil is none
	hosts   []string      // with ports
	path    string
	options url.Values
	faults  []error
}

// read takes a URL apart. No error shows what may be a part of a password.
func read(text, port string) *address {
	scheme, rest, _ := strings.Cut(text, "://")
	end := len(rest)
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		end = i
	}
	at := strings.LastIndexByte(rest[:end], '@') + 1
	hosts := strings.Split(rest[at:end], ",")
	u, err := url.Parse(scheme + "://" + rest[:at] + "host" + rest[end:])
	a := &address{scheme: strings.ToLower(scheme)}
	if err != nil || u.Fragment != "" || database.CheckEncoding(text) != nil {
		a.fault("%w", database.ErrEncoding)
		return a
	}
	if a.options, err = url.ParseQuery(u.RawQuery); err != nil {
		a.fault("the options after the ? do not parse")
	}
	a.user, a.path = u.User, u.Path
	for _, host := range hosts {
		a.host(host, port)
	}
	return a
}

func (a *address) fault(format string, args ...any) {
	a.faults = append(a.faults, fmt.Errorf(format, args...))
}

// host adds a host, with the port unless it has one.
func (a *address) host(text, port string) {
	u, err := url.Parse("//" + text)
	if err != nil || u.Hostname() == "" {
		a.fault("a host does not parse; want %s://host:%s or %[1]s://host1:%s,host2:%[2]s", a.scheme, port, port)
		return
	}
	port = cmp.Or(u.Port(), port)
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		a.fault("host %q: want a port from 1 to 65535", u.Hostname())
	}
	a.hosts = append(a.hosts, net.JoinHostPort(u.Hostname(), port))
}

// name is the URL without the user, the password and the options.
func (a *address) name() string { return a.scheme + "://" + strings.Join(a.hosts, ",") + a.path }

// take returns an option, "" if it is not there, and removes it.
func (a *address) take(option string) string {
	defer a.options.Del(option)
	return a.options.Get(option)
}

func (a *address) duration(option string) time.Duration {
	text := a.take(option)
	if text == "" {
		return patience
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 100*time.Millisecond || d > time.Hour {
		a.fault("option %s=%s: want a duration from 100ms to 1h, such as %v", option, text, patience)
	}
	return d
}

func (a *address) yes(option string) bool {
	text := a.take(option)
	if text != "" && text != "true" && text != "false" {
		a.fault("option %s=%s: want true or false", option, text)
	}
	return text == "true"
}

// tls takes the options of TLS. It returns nil without TLS.
func (a *address) tls(wanted bool) *tls.Config {
	ca, cert, key := a.take("ca"), a.take("cert"), a.take("key")
	if !wanted && ca+cert+key == "" {
		return nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		var err error
		if config.RootCAs, err = cli.Authorities(ca); err != nil {
			a.fault("option ca: %w", err)
		}
	}
	switch {
	case cert == "" && key == "":
	case cert == "" || key == "":
		a.fault("options cert and key: want both or neither")
	default:
		pair, err := cli.KeyPair(cert, key)
		if err != nil {
			a.fault("options cert and key: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config
}

// end returns all faults. An option that is left is a fault too.
func (a *address) end(known string) error {
	for option := range a.options {
		a.fault("unknown option %q, want %s", option, known)
	}
	slices.SortFunc(a.faults, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(a.faults...)
}
