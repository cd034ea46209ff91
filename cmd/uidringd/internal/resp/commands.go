package resp

import (
	"crypto/tls"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/uidring/uidring/cmd/uidringd/internal/service"
)

// command is what the server answers. run gets the arguments without the name. It
// writes nothing if it returns an error. INCR has none: [conn.increment] answers it.
type command struct {
	run         func(c *conn, args [][]byte) error
	least, most int  // arguments; a most of -1 is no bound
	open        bool // needs no token, and does not count towards a caller's rate
	group       string
	summary     string
}

// commands are by their names in capitals.
var commands map[string]*command

func init() { // commands that list all others would be a cycle
	commands = map[string]*command{
		"INCR":      {nil, 1, 1, false, "string", "Returns one id of a generator."},
		"INCRBY":    {(*conn).incrBy, 2, 2, false, "string", "Returns the greatest of n consecutive ids of a generator."},
		"GET":       {(*conn).get, 1, 1, false, "string", "Returns one id of a generator, as text."},
		"MGET":      {(*conn).mget, 1, -1, false, "string", "Returns one id of each generator, as text."},
		"UID.RUNS":  {(*conn).runs, 2, 2, false, "uid", "Returns n ids of a generator as runs of consecutive ids."},
		"UID.PARSE": {(*conn).parseID, 2, 2, false, "uid", "Returns what an id carries."},
		"UID.LIST":  {(*conn).list, 0, 0, false, "uid", "Lists the generators that the caller may use."},
		"AUTH":      {(*conn).auth, 1, 2, true, "connection", "Authenticates by a token, or by the token's name and the token."},
		"CLIENT":    {(*conn).client, 1, -1, false, "connection", "Names the connection: SETNAME, GETNAME, SETINFO, ID, NO-EVICT, NO-TOUCH."},
		"COMMAND":   {(*conn).command, 0, -1, false, "server", "Describes the commands: COUNT, DOCS, INFO, LIST."},
		"ECHO":      {(*conn).echo, 1, 1, false, "connection", "Returns its argument."},
		"HELLO":     {(*conn).hello, 0, -1, true, "connection", "Chooses the version of the protocol, authenticates and names the connection."},
		"INFO":      {(*conn).info, 0, -1, false, "server", "Describes the server."},
		"PING":      {(*conn).ping, 0, 1, true, "connection", "Answers PONG while the server is ready."},
		"QUIT":      {(*conn).end, 0, -1, true, "connection", "Ends the connection."},
		"RESET":     {(*conn).reset, 0, 0, true, "connection", "Forgets the token, the name and the version of the protocol."},
		"SELECT":    {(*conn).selectDB, 1, 1, false, "connection", "Selects database 0, the only one."},
	}
}

// names returns the names of all commands in their order.
func names() []string { return slices.Sorted(maps.Keys(commands)) }

// there is what errors about unknown commands say.
const there = "uidringd has INCR, INCRBY, GET, MGET, UID.RUNS, UID.PARSE and UID.LIST, and stores nothing"

// hints are more about unknown commands that users of Redis often need.
var hints = map[string]string{
	"MULTI": "; a pipeline without MULTI does the same",
	"EXEC":  "; a pipeline without MULTI does the same",
}

// do answers a command.
func (c *conn) do(args [][]byte) {
	before := c.written()
	name := strings.ToUpper(string(args[0][:min(len(args[0]), 64)]))
	cmd, route := commands[name], "redis (unknown)"
	if cmd != nil {
		route = "redis " + name
	}
	var err error
	switch args := args[1:]; {
	case c.refused != nil && name != "PING":
		err = c.refused
	case cmd == nil:
		err = c.unknown(name)
	case len(args) < cmd.least, cmd.most >= 0 && len(args) > cmd.most:
		err = service.Invalid("wrong number of arguments for '%s' command", strings.ToLower(name))
	case cmd.open:
		err = cmd.run(c, args)
	default:
		c.work = c.work || cmd.group == "string" || cmd.group == "uid"
		if err = c.admit(); err == nil {
			err = cmd.run(c, args)
		}
	}
	var failed *service.Error
	if err != nil {
		var text string
		text, failed = explain(err)
		c.fail(text)
	}
	c.observe(route, 1, before, failed)
}

// unknown returns the error for a command that there is not. It tells a caller who may
// not draw ids nothing else.
func (c *conn) unknown(name string) error {
	if err := c.admit(); err != nil {
		return err
	}
	return service.Invalid("unknown command '%s': %s%s", name, there, hints[name])
}

// admit authenticates the caller, unless that is done, and counts a command.
func (c *conn) admit() error {
	if !c.known {
		caller, err := c.ids.Renew(c.caller, c.request.Remote, c.handshake())
		if e := (*service.Error)(nil); errors.As(err, &e) && e.Kind == service.Unauthorized {
			return errNoAuth
		}
		if err != nil {
			return err
		}
		c.caller, c.known = caller, true
	}
	return c.ids.Count(c.caller)
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
