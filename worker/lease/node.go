package lease

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// Node tells people who read the store which process took a number. Its fields are Host, Port and Type.
type Node = leasestore.Node

// NodeType says whether a process runs in a container.
type NodeType = leasestore.NodeType

// These are the types of a process.
const (
	NodeContainer = leasestore.NodeContainer // runs in a container, judging by its environment
	NodeActual    = leasestore.NodeActual    // any other process
)

// maxText is the width, in characters, of the columns HOST_NAME and PORT.
const maxText = 64

func checkNode(n Node) error {
	faults := invalid.Of("lease")
	for _, field := range []struct{ name, value string }{{"Host", n.Host}, {"Port", n.Port}} {
		length := utf8.RuneCountInString(field.value)
		if length < 1 || length > maxText || !utf8.ValidString(field.value) || strings.ContainsRune(field.value, 0) {
			faults.Add("Node."+field.name, strconv.Quote(field.value), fmt.Sprintf("1 to %d characters of UTF-8, none of them NUL", maxText))
		}
	}
	if n.Type != NodeContainer && n.Type != NodeActual {
		faults.Add("Node.Type", int(n.Type), fmt.Sprintf("%d (NodeContainer) or %d (NodeActual)", NodeContainer, NodeActual))
	}
	return faults.Err()
}

// DetectNode returns the description of this process. An empty environment variable counts as
// unset. The first of these rules that applies determines the description:
//
//  1. JPAAS_HOST and a port (JPAAS_HTTP_PORT or else JPAAS_HOST_PORT_8080) are set: the process is
//     a NodeContainer with that host and port, as in uid-generator. If only one of host and port is
//     set, DetectNode returns an error.
//  2. POD_IP or KUBERNETES_SERVICE_HOST is set: the process is a NodeContainer. Its host is the
//     first of POD_NAME, HOSTNAME and POD_IP that is set; if none is set, the rule does not apply.
//     A manifest can set POD_NAME and POD_IP from the pod's fields.
//  3. Otherwise, the process is a NodeActual. Its host is the machine's first address that is
//     neither loopback nor link-local, or else the host name.
//
// Rules 2 and 3 do not determine a port. The port is then PID@TIME: the process id (see [Node.PID])
// and the time in milliseconds minus a random number below 100,000, to distinguish starts on the
// same host. In uid-generator, the port has no process id, and a hyphen joins the time and the random
// number. DetectNode keeps only the last 64 characters of a longer host name, which is where pods of
// the same service differ.
func DetectNode() (Node, error) { return detect(os.Getenv) }

func detect(getenv func(string) string) (Node, error) {
	return machine{
		getenv:   getenv,
		addrs:    net.InterfaceAddrs,
		hostname: os.Hostname,
		process: func() string {
			return fmt.Sprintf("%d@%d", os.Getpid(), time.Now().UnixMilli()-rand.Int64N(100_000))
		},
	}.node()
}

type machine struct {
	getenv   func(string) string
	addrs    func() ([]net.Addr, error)
	hostname func() (string, error)
	process  func() string
}

func (m machine) node() (Node, error) {
	node, err := m.find()
	if err != nil {
		return Node{}, fmt.Errorf("lease: detect node: %w", err)
	}
	if host := []rune(node.Host); len(host) > maxText {
		node.Host = string(host[len(host)-maxText:])
	}
	return node, checkNode(node)
}

func (m machine) find() (Node, error) {
	host := m.getenv("JPAAS_HOST")
	port := cmp.Or(m.getenv("JPAAS_HTTP_PORT"), m.getenv("JPAAS_HOST_PORT_8080"))
	if host != "" && port != "" {
		return Node{Host: host, Port: port, Type: NodeContainer}, nil
	}
	if host != "" || port != "" {
		return Node{}, fmt.Errorf("JPAAS_HOST is %q and JPAAS_HTTP_PORT or JPAAS_HOST_PORT_8080 is %q: "+
			"want both or neither", host, port)
	}

	process := m.process()
	if m.getenv("POD_IP") != "" || m.getenv("KUBERNETES_SERVICE_HOST") != "" {
		if host = cmp.Or(m.getenv("POD_NAME"), m.getenv("HOSTNAME"), m.getenv("POD_IP")); host != "" {
			return Node{Host: host, Port: process, Type: NodeContainer}, nil
		}
	}

	if host = m.address(); host == "" {
		var err error
		if host, err = m.hostname(); err != nil {
			return Node{}, fmt.Errorf("no address and no host name: %w", err)
		}
	}
	return Node{Host: host, Port: process, Type: NodeActual}, nil
}

// address returns the first address that other hosts could reach, or "".
func (m machine) address() string {
	addrs, _ := m.addrs() // without any, the host name will do
	for _, addr := range addrs {
		network, ok := addr.(*net.IPNet)
		if ok && network.IP.IsGlobalUnicast() { // neither loopback, link-local nor multicast
			return network.IP.String()
		}
	}
	return ""
}
