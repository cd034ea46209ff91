package leasestore

import (
	"strconv"
	"strings"
)

// Node tells people who read the store which process took a number. A store returns it as written.
type Node struct {
	Host string   // a name or an address, 1 to 64 characters
	Port string   // a port, or a value that differs between starts on the same host, 1 to 64 characters
	Type NodeType // NodeContainer or NodeActual
}

// NodeType says whether a process runs in a container. Its values are those of Baidu's
// uid-generator.
type NodeType int

const (
	// NodeContainer is a process that runs in a container, judging by its environment.
	NodeContainer NodeType = 1
	// NodeActual is any other process.
	NodeActual NodeType = 2
)

// String returns CONTAINER, ACTUAL, or the number of a type that is neither.
func (t NodeType) String() string {
	switch t {
	case NodeContainer:
		return "CONTAINER"
	case NodeActual:
		return "ACTUAL"
	}
	return "NodeType(" + strconv.Itoa(int(t)) + ")"
}

// PID returns the process id that lease.DetectNode writes into Port, or 0 if Port has none.
func (n Node) PID() int {
	digits, _, _ := strings.Cut(n.Port, "@")
	if pid, err := strconv.Atoi(digits); err == nil && digits != n.Port {
		return pid
	}
	return 0
}
