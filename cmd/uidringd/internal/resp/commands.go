package resp

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/uidring/uidring/cmd/uidringd/internal/gate"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
)

// command is what the server answers. run gets the arguments without the name. It writes nothing
// if it returns an error. INCR has none: [conn.increment] answers it.
type command struct {
	name        string
	run         func(c *conn, args [][]byte) error
	least, most int  // arguments; a most of -1 means any number
	open        bool // needs no token, and does not count towards a caller's rate
}

// commands begin with those that draw ids.
var commands = []command{
	{"GET", (*conn).get, 1, 1, false},
	{"INCR", nil, 1, 1, false},
	{"INCRBY", (*conn).incrBy, 2, 2, false},
	{"UID.RUNS", (*conn).runs, 2, 2, false},
	{"AUTH", (*conn).auth, 1, 2, true},
	{"CLIENT", (*conn).client, 1, -1, false},
	{"DISCARD", (*conn).discard, 0, 0, false},
	{"ECHO", (*conn).echo, 1, 1, false},
	{"EXEC", (*conn).exec, 0, 0, false},
	{"HELLO", (*conn).hello, 0, -1, true},
	{"INFO", (*conn).info, 0, -1, false},
	{"MULTI", (*conn).beginMulti, 0, 0, false},
	{"PING", (*conn).ping, 0, 1, true},
	{"QUIT", (*conn).end, 0, -1, true},
	{"SELECT", (*conn).database, 1, 1, false},
}

// find returns the command that words name. With an error it is one without a function, or the
// number of arguments is wrong.
func find(words [][]byte) (command, error) {
	name := strings.ToUpper(string(words[0][:min(len(words[0]), 64)]))
	i := slices.IndexFunc(commands, func(cmd command) bool { return cmd.name == name })
	if i < 0 {
		return command{name: "(unknown)"}, service.Invalid("unknown command '%s': uidringd has INCR, INCRBY, GET and UID.RUNS, and stores nothing", name)
	}
	cmd := commands[i]
	if n := len(words) - 1; n < cmd.least || cmd.most >= 0 && n > cmd.most {
		return cmd, service.Invalid("wrong number of arguments for '%s' command", strings.ToLower(name))
	}
	return cmd, nil
}

func isINCR(args [][]byte) bool { return len(args) == 2 && bytes.EqualFold(args[0], []byte("INCR")) }

func (c *conn) do(args [][]byte) {
	before := c.written()
	cmd, err := find(args)
	switch {
	case c.refused != nil && cmd.name != "PING":
		err = c.refused
	case !cmd.open:
		// A caller who may not draw ids learns nothing else.
		if denied := c.admit(); denied != nil {
			err = denied
		} else if c.multi && cmd.name != "EXEC" && cmd.name != "DISCARD" {
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
	c.observe("redis "+cmd.name, 1, before, failed)
}

// admit authenticates the caller and counts a command.
func (c *conn) admit() error {
	if err := c.authenticate(); err != nil {
		return err
	}
	return c.IDs.Count(c.caller)
}

// authenticate authenticates the caller, unless that is done. From then on the connection is busy
// until the answers are written.
func (c *conn) authenticate() error {
	if !c.known {
		caller, err := c.IDs.Anonymous(c.about.Remote, c.tls)
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

// Usage is a command of a client.
type Usage struct {
	Name, Arguments string
	Open            bool // needs no token
}

// Commands returns what clients may send, those that draw ids first.
func Commands() (all []Usage) {
	for _, c := range commands {
		arguments := fmt.Sprintf("%d to %d", c.least, c.most)
		switch {
		case c.most < 0:
			arguments = fmt.Sprintf("%d or more", c.least)
		case c.most == c.least:
			arguments = strconv.Itoa(c.least)
		}
		all = append(all, Usage{c.name, arguments, c.open})
	}
	return all
}
