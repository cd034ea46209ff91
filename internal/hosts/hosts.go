// Package hosts says under which names browsers may read a page. A page elsewhere, whose
// name resolves to this server (DNS rebinding), could otherwise read the page through an
// operator's browser.
package hosts

import (
	"net/netip"
	"net/url"
	"regexp"
	"strings"
)

// Any allows every name.
const Any = "*"

// Set is a set of names. The zero Set allows localhost and IP addresses, which DNS cannot
// rebind.
type Set map[string]bool

// Of returns the set of the names.
func Of(names []string) Set {
	s := Set{}
	for _, name := range names {
		s[canonical(name)] = true
	}
	return s
}

// Allows reports whether a request may have this Host header.
func (s Set) Allows(header string) bool {
	host := canonical((&url.URL{Host: header}).Hostname())
	_, err := netip.ParseAddr(host)
	return err == nil || host == "localhost" || s[Any] || s[host]
}

// Valid reports whether a name of a set is well-formed: a host without scheme and port, in
// the form in which browsers send it, or [Any].
func Valid(name string) bool {
	_, err := netip.ParseAddr(name)
	return err == nil || name == Any || form.MatchString(name)
}

// form has letters of other scripts in Punycode, as browsers do.
var form = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

// canonical returns a host in the form in which two of them compare.
func canonical(host string) string { return strings.ToLower(strings.TrimSuffix(host, ".")) }
