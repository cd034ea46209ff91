package config

import (
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/uidring/uidring/internal/hosts"
)

func (c *Config) checkListen(d *document, anonymous bool) {
	c.checkAddress(d, "listen", c.Listen, anonymous)
	if c.Redis != nil {
		c.checkAddress(d, "redis.listen", c.Redis.Listen, anonymous)
		if c.Redis.Listen == c.Listen && !strings.HasSuffix(c.Listen, ":0") {
			d.fault("redis.listen", "is %q, where HTTP is served: want another address", c.Listen)
		}
	}
	for i, host := range c.Hosts {
		if !hosts.Valid(host) {
			d.fault(item("hosts", i), "is %q, want a name without scheme or port, such as ops.example.com, or %s", host, hosts.Any)
		}
	}
}

// Network returns the arguments of [net.Listen] for an address of the config: host and port,
// where port 0 is a free one, or unix: and the path of a socket.
func Network(listen string) (network, address string) {
	if path, unix := strings.CutPrefix(listen, "unix:"); unix {
		return "unix", path
	}
	return "tcp", listen
}

// longestSocket is how many bytes the path of a socket has in every system; Linux allows
// four more.
const longestSocket = 103

func (c *Config) checkAddress(d *document, field, listen string, anonymous bool) {
	authenticated := len(c.Tokens) > 0 || c.TLS != nil && c.TLS.ClientCA != "" || d.unread("tokens") || d.unread("tls.client_ca")
	network, address := Network(listen)
	host, port, err := net.SplitHostPort(address)
	_, wrong := strconv.ParseUint(port, 10, 16)
	switch {
	case network == "unix" && (address == "" || address[0] == '@'):
		d.fault(field, "is %q, want the path of a file, such as unix:/run/uidring/redis.sock", listen)
	case network == "unix" && len(address) > longestSocket:
		d.fault(field, "is %q, a path of %d bytes, want at most %d for a socket", listen, len(address), longestSocket)
	case network == "unix" && authenticated && len(c.Tokens) == 0:
		d.fault(field, "is %q, whose clients cannot have a certificate: want tokens, or another address", listen)
	case network == "unix":
	case err != nil || wrong != nil:
		d.fault(field, "is %q, want a host and a port, such as 127.0.0.1:8080, or unix: and a path", listen)
	case !loopback(host) && !authenticated && !anonymous:
		d.fault(field, "is %q, which others can reach, and nobody has to authenticate: want tokens, tls.client_ca, "+
			"a loopback address, or --anonymous", listen)
	}
}

func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}
