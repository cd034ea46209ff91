package worker

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// NodeType says what kind of host a process runs on. The values are
// uid-generator's WorkerNodeType and are what the column TYPE holds.
type NodeType int

const (
	// Container is a process in a container whose environment names it.
	Container NodeType = 1
	// Actual is any other process.
	Actual NodeType = 2
)

// String returns CONTAINER, ACTUAL, or the number of a type that is neither.
func (t NodeType) String() string {
	switch t {
	case Container:
		return "CONTAINER"
	case Actual:
		return "ACTUAL"
	}
	return "NodeType(" + strconv.Itoa(int(t)) + ")"
}

// Node is what a row tells about the process that inserted it. It is for
// people who look at the table; numbers do not depend on it.
type Node struct {
	Host string   // a name or an address, 1 to 64 characters
	Port string   // a port, or a value that tells starts on one host apart, 1 to 64 characters
	Type NodeType // Container or Actual
}

// maxText is the width, in characters, of the columns HOST_NAME and PORT.
const maxText = 64

func (n Node) validate() error {
	var faults []error
	for _, field := range []struct{ name, value string }{{"Host", n.Host}, {"Port", n.Port}} {
		length := utf8.RuneCountInString(field.value)
		if length < 1 || length > maxText || !utf8.ValidString(field.value) || strings.ContainsRune(field.value, 0) {
			faults = append(faults, fmt.Errorf("worker: Node.%s %q: want 1 to %d characters of UTF-8, none of them NUL",
				field.name, field.value, maxText))
		}
	}
	if n.Type != Container && n.Type != Actual {
		faults = append(faults, fmt.Errorf("worker: Node.Type %d: want %d (Container) or %d (Actual)", n.Type, Container, Actual))
	}
	return errors.Join(faults...)
}

// DetectNode finds out what to write about this process. It answers to
// uid-generator's DockerUtils and NetUtils. getenv is os.Getenv but for tests;
// an empty variable counts as unset. The first rule that fits decides:
//
//  1. JPAAS_HOST and a port, JPAAS_HTTP_PORT or else JPAAS_HOST_PORT_8080, both
//     set: a Container of that host and port, as in uid-generator. One without
//     the other is an error.
//  2. POD_IP or KUBERNETES_SERVICE_HOST set: a Container. Its host is the first
//     of POD_NAME, HOSTNAME and POD_IP that is set; if none is, the rule does not
//     fit. Kubernetes sets KUBERNETES_SERVICE_HOST and HOSTNAME in every pod by
//     itself; POD_NAME and POD_IP are for a manifest to set from the pod's
//     fields.
//  3. Otherwise Actual. The host is the machine's first address that is
//     neither loopback nor link-local, or the host name when there is none. A
//     container outside Kubernetes is Actual, with the container's address.
//
// Rules 2 and 3 know no port. As uid-generator does, they put in its place the
// time in milliseconds less a random number below 100,000, which tells starts
// on one host apart.
//
// A host longer than the column's 64 characters keeps its end, which in the
// name of a pod is the part that differs.
func DetectNode(getenv func(string) string) (Node, error) {
	return machine{
		getenv:   getenv,
		addrs:    net.InterfaceAddrs,
		hostname: os.Hostname,
		stamp:    func() int64 { return time.Now().UnixMilli() - rand.Int64N(100_000) },
	}.node()
}

// machine is where DetectNode looks.
type machine struct {
	getenv   func(string) string
	addrs    func() ([]net.Addr, error)
	hostname func() (string, error)
	stamp    func() int64
}

func (m machine) node() (Node, error) {
	node, err := m.find()
	if err != nil {
		return Node{}, fmt.Errorf("worker: detect node: %w", err)
	}
	node.Host = lastRunes(node.Host, maxText)
	return node, node.validate()
}

func (m machine) find() (Node, error) {
	host := m.getenv("JPAAS_HOST")
	port := m.first("JPAAS_HTTP_PORT", "JPAAS_HOST_PORT_8080")
	if host != "" && port != "" {
		return Node{host, port, Container}, nil
	}
	if host != "" || port != "" {
		return Node{}, fmt.Errorf("JPAAS_HOST is %q and JPAAS_HTTP_PORT or JPAAS_HOST_PORT_8080 is %q: "+
			"want both or neither", host, port)
	}

	stamp := strconv.FormatInt(m.stamp(), 10)
	if m.first("POD_IP", "KUBERNETES_SERVICE_HOST") != "" {
		if host = m.first("POD_NAME", "HOSTNAME", "POD_IP"); host != "" {
			return Node{host, stamp, Container}, nil
		}
	}

	if host = m.address(); host == "" {
		var err error
		if host, err = m.hostname(); err != nil {
			return Node{}, fmt.Errorf("no address and no host name: %w", err)
		}
	}
	return Node{host, stamp, Actual}, nil
}

// first returns the first of the variables that is set.
func (m machine) first(names ...string) string {
	for _, name := range names {
		if value := m.getenv(name); value != "" {
			return value
		}
	}
	return ""
}

// address returns the first address that others could reach, or "".
func (m machine) address() string {
	addrs, err := m.addrs()
	if err != nil {
		return "" // the host name will do
	}
	for _, addr := range addrs {
		network, ok := addr.(*net.IPNet)
		if ok && network.IP.IsGlobalUnicast() { // neither loopback, link-local nor multicast
			return network.IP.String()
		}
	}
	return ""
}

func lastRunes(s string, n int) string {
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	return string(runes[len(runes)-n:])
}
