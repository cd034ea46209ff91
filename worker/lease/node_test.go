package lease

import (
	"errors"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/need"
)

func TestDetectNode(t *testing.T) {
	const suffix = "4711@1463700000123"
	long := strings.Repeat("x", 70) + "-abc12"
	network := []string{"127.0.0.1/8", "::1/128", "169.254.3.4/16", "fe80::1/64", "10.0.0.5/24", "192.168.1.9/16"}
	for _, tt := range []struct {
		name  string
		env   map[string]string
		addrs []string
		host  string // the machine's name; empty is an error
		want  Node
		err   string
	}{
		{name: "jpaas", env: map[string]string{"JPAAS_HOST": "h", "JPAAS_HTTP_PORT": "81", "JPAAS_HOST_PORT_8080": "82", "POD_IP": "1.2.3.4"},
			want: Node{Host: "h", Port: "81", Type: NodeContainer}},
		{name: "jpaas, other port", env: map[string]string{"JPAAS_HOST": "h", "JPAAS_HOST_PORT_8080": "82"}, want: Node{Host: "h", Port: "82", Type: NodeContainer}},
		{name: "jpaas host alone", env: map[string]string{"JPAAS_HOST": "h"}, err: "JPAAS_HOST"},
		{name: "jpaas port alone", env: map[string]string{"JPAAS_HTTP_PORT": "81"}, err: "JPAAS_HTTP_PORT"},
		{name: "jpaas other port alone", env: map[string]string{"JPAAS_HOST_PORT_8080": "82"}, err: "JPAAS_HOST_PORT_8080"},
		{name: "jpaas port too long", env: map[string]string{"JPAAS_HOST": "h", "JPAAS_HTTP_PORT": long}, err: "Node.Port"},
		{name: "pod name and ip", env: map[string]string{"POD_NAME": "pod-0", "HOSTNAME": "other", "POD_IP": "10.1.1.1"},
			want: Node{Host: "pod-0", Port: suffix, Type: NodeContainer}},
		{name: "host name and pod ip", env: map[string]string{"HOSTNAME": "pod-1", "POD_IP": "10.1.1.1"},
			want: Node{Host: "pod-1", Port: suffix, Type: NodeContainer}},
		{name: "kubernetes", env: map[string]string{"HOSTNAME": "pod-2", "KUBERNETES_SERVICE_HOST": "10.96.0.1"},
			want: Node{Host: "pod-2", Port: suffix, Type: NodeContainer}},
		{name: "pod ip alone", env: map[string]string{"POD_IP": "10.1.1.1"}, want: Node{Host: "10.1.1.1", Port: suffix, Type: NodeContainer}},
		{name: "long pod name", env: map[string]string{"POD_NAME": long, "POD_IP": "10.1.1.1"},
			want: Node{Host: long[len(long)-64:], Port: suffix, Type: NodeContainer}},
		{name: "kubernetes, nameless", env: map[string]string{"KUBERNETES_SERVICE_HOST": "10.96.0.1"}, addrs: network,
			want: Node{Host: "10.0.0.5", Port: suffix, Type: NodeActual}},
		{name: "docker", env: map[string]string{"HOSTNAME": "c0ffee"}, addrs: network, want: Node{Host: "10.0.0.5", Port: suffix, Type: NodeActual}},
		{name: "actual", addrs: network, want: Node{Host: "10.0.0.5", Port: suffix, Type: NodeActual}},
		{name: "actual, IPv6", addrs: []string{"::1/128", "2001:db8::7/64"}, want: Node{Host: "2001:db8::7", Port: suffix, Type: NodeActual}},
		{name: "no address", addrs: network[:4], host: "box", want: Node{Host: "box", Port: suffix, Type: NodeActual}},
		{name: "nothing", err: "no host name"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := machine{
				getenv: func(name string) string { return tt.env[name] },
				addrs: func() (addrs []net.Addr, err error) {
					for _, cidr := range tt.addrs {
						ip, network, err := net.ParseCIDR(cidr)
						need.Must(t, err)
						addrs = append(addrs, &net.IPNet{IP: ip, Mask: network.Mask})
					}
					if addrs == nil {
						err = errors.New("no addresses")
					}
					return addrs, err
				},
				hostname: func() (string, error) {
					if tt.host == "" {
						return "", errors.New("unknown")
					}
					return tt.host, nil
				},
				process: func() string { return suffix },
			}.node()
			if tt.err != "" {
				if err == nil || !strings.HasPrefix(err.Error(), "lease: ") || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("%+v, %v; want an error about %s", got, err, tt.err)
				}
				return
			}
			if err != nil || got != tt.want || (got.PID() == 4711) != (got.Port == suffix) {
				t.Errorf("%+v, %v; want %+v", got, err, tt.want)
			}
		})
	}
}

func TestDetectThisMachine(t *testing.T) {
	before := time.Now().UnixMilli()
	got, err := detect(func(string) string { return "" })
	after := time.Now().UnixMilli()
	need.Must(t, err)
	_, digits, _ := strings.Cut(got.Port, "@")
	suffix, err := strconv.ParseInt(digits, 10, 64)
	if got.Type != NodeActual || got.PID() != os.Getpid() || err != nil || suffix <= before-100_000 || suffix > after {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := DetectNode(); err != nil {
		t.Error(err)
	}
}

func TestNodeTypeString(t *testing.T) {
	for typ, want := range map[NodeType]string{NodeContainer: "CONTAINER", NodeActual: "ACTUAL", 0: "NodeType(0)"} {
		if got := typ.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
