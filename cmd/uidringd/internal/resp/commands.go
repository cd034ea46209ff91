package resp

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/uidring/uidring/cmd/uidringd/internal/gate"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
)

// command is what the server answers. run gets the arguments without the name. It writes nothing
// if it returns an error. INCR has none: [conn.increment] answers it.
type command struct {
	run         func(c *conn, args [][]byte) error
	least, most int  // arguments; a most of -1 is no bound
	open        bool // needs no token, and does not count towards a caller's rate
	draws       bool
	route       string
}

// commands are by their names in capitals.
var commands = map[string]*command{
	"INCR":     {nil, 1, 1, false, true, routeINCR},
	"INCRBY":   {(*conn).incrBy, 2, 2, false, true, "redis INCRBY"},
	"GET":      {(*conn).get, 1, 1, false, true, "redis GET"},
	"UID.RUNS": {(*conn).runs, 2, 2, false, true, "redis UID.RUNS"},
	"AUTH":     {(*conn).auth, 1, 2, true, false, "redis AUTH"},
	"CLIENT":   {(*conn).client, 1, -1, false, false, "redis CLIENT"},
	"DISCARD":  {(*conn).discard, 0, 0, false, false, "redis DISCARD"},
	"ECHO":     {(*conn).echo, 1, 1, false, false, "redis ECHO"},
	"EXEC":     {(*conn).exec, 0, 0, false, false, "redis EXEC"},
	"HELLO":    {(*conn).hello, 0, -1, true, false, "redis HELLO"},
	"INFO":     {(*conn).info, 0, -1, false, false, "redis INFO"},
	"MULTI":    {(*conn).beginMulti, 0, 0, false, false, "redis MULTI"},
	"PING":     {(*conn).ping, 0, 1, true, false, "redis PING"},
	"QUIT":     {(*conn).end, 0, -1, true, false, "redis QUIT"},
	"SELECT":   {(*conn).database, 1, 1, false, false, "redis SELECT"},
}

// find returns the command that words name. With an error it is nil if there is none of that
// name; else the number of arguments is wrong.
func find(words [][]byte) (*command, error) {
	name := strings.ToUpper(string(words[0][:min(len(words[0]), 64)]))
	cmd := commands[name]
	switch n := len(words) - 1; {
	case cmd == nil:
		return nil, service.Invalid("unknown command '%s': uidringd has INCR, INCRBY, GET and UID.RUNS, and stores nothing", name)
	case n < cmd.least, cmd.most >= 0 && n > cmd.most:
		return cmd, service.Invalid("wrong number of arguments for '%s' command", strings.ToLower(name))
	}
	return cmd, nil
}

func isINCR(args [][]byte) bool { return len(args) == 2 && bytes.EqualFold(args[0], []byte("INCR")) }

func (c *conn) do(args [][]byte) {
	before, route := c.written(), "redis (unknown)"
	cmd, err := find(args)
	open := cmd != nil && cmd.open
	if cmd != nil {
		route = cmd.route
	}
	switch refused := c.refused; {
	case refused != nil && cmd != commands["PING"]:
		err = refused
	case !open:
		// A caller who may not draw ids learns nothing else.
		if denied := c.admit(); denied != nil {
			err = denied
		} else if c.multi && cmd != commands["EXEC"] && cmd != commands["DISCARD"] {
			err = errMulti
		}
	}
	if err == nil {
		err = cmd.run(c, args[1:])
	}
	var failed *service.Error
	if err != nil {
		var text string
		text, failed = explain(err)
		c.fail(text)
	}
	c.observe(route, 1, before, failed)
}

// admit authenticates the caller and counts a command.
func (c *conn) admit() error {
	if err := c.authenticate(); err != nil {
		return err
	}
	return c.ids.Count(c.caller)
}

// authenticate authenticates the caller, unless that is done. From then on the connection is busy
// until the answers are written.
func (c *conn) authenticate() error {
	if !c.known {
		caller, err := c.ids.Anonymous(c.about.Remote, c.handshake())
		if e := (*service.Error)(nil); errors.As(err, &e) && e.Kind == service.Unauthorized {
			return errNoAuth
		}
		if err != nil {
			return err
		}
		c.caller, c.known = caller, true
	}
	if !c.busy {
		c.busy = true
		gate.Of(c.net).Busy()
	}
	return nil
}

// handshake returns nil without TLS.
func (c *conn) handshake() *tls.ConnectionState {
	secure, ok := c.net.(*tls.Conn)
	if !ok {
		return nil
	}
	state := secure.ConnectionState()
	return &state
}

// Usage is a command of a client.
type Usage struct {
	Name, Arguments string
	Open            bool // needs no token
}

// Commands returns what clients may send, those that draw ids first.
func Commands() []Usage {
	var all []Usage
	for _, draws := range []bool{true, false} {
		for _, name := range slices.Sorted(maps.Keys(commands)) {
			c := commands[name]
			arguments := fmt.Sprintf("%d to %d", c.least, c.most)
			switch {
			case c.most < 0:
				arguments = fmt.Sprintf("%d or more", c.least)
			case c.most == c.least:
				arguments = strconv.Itoa(c.least)
			}
			if c.draws == draws {
				all = append(all, Usage{name, arguments, c.open})
			}
		}
	}
	return all
}
