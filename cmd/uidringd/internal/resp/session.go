package resp

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/uidring/uidring/cmd/uidringd/internal/service"
)

// redisVersion is the version of Redis whose protocol this is: clients ask for it.
const redisVersion = "7.2.0"

// Errors in the words of Redis.
var (
	errNumber   = service.Invalid("value is not an integer or out of range")
	errNoAuth   = &service.Error{Kind: service.Unauthorized, Detail: "Authentication required."}
	errPassword = &failure{"WRONGPASS", &service.Error{Kind: service.Unauthorized, Detail: "invalid username-password pair or user is disabled."}}
	errProtocol = &failure{"NOPROTO", &service.Error{Kind: service.BadRequest, Detail: "unsupported protocol version"}}
)

func (c *conn) ping(args [][]byte) error {
	if err := c.Host.Ready(); err != nil {
		return &failure{"LOADING", &service.Error{Kind: service.Unavailable, Detail: err.Error()}}
	}
	if len(args) == 0 {
		c.line('+', "PONG")
		return nil
	}
	return c.echo(args)
}

func (c *conn) echo(args [][]byte) error {
	c.bulk(string(args[0]))
	return nil
}

func (c *conn) end([][]byte) error {
	c.quit = true
	c.ok()
	return nil
}

// auth takes AUTH token and AUTH name token. Clients send the name default if they are
// given a password alone.
func (c *conn) auth(args [][]byte) error {
	name, token := "default", string(args[len(args)-1])
	if len(args) == 2 {
		name = string(args[0])
	} else if c.ids.Open() {
		return service.Invalid("AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?")
	}
	if err := c.login(name, token); err != nil {
		return err
	}
	c.ok()
	return nil
}

// login authenticates the caller by a token. The caller before stays if that fails.
func (c *conn) login(name, token string) error {
	if name == "default" {
		if c.ids.Open() {
			return nil // as Redis does for a user without a password
		}
		name = ""
	}
	caller, err := c.ids.Login(c.request.Remote, name, token)
	if e := (*service.Error)(nil); errors.As(err, &e) && e.Kind == service.Unauthorized {
		return errPassword
	}
	if err == nil {
		c.caller, c.known = caller, true
	}
	return err
}

// hello takes HELLO [version [AUTH name token] [SETNAME name]].
func (c *conn) hello(args [][]byte) error {
	version, name := c.version, c.name
	if len(args) > 0 {
		n, err := strconv.Atoi(string(args[0]))
		switch {
		case err != nil:
			return service.Invalid("Protocol version is not an integer or out of range")
		case n != 2 && n != 3:
			return errProtocol
		}
		version, args = n, args[1:]
	}
	var login [][]byte
	for len(args) > 0 {
		switch option := strings.ToUpper(string(args[0])); {
		case option == "AUTH" && len(args) >= 3:
			login, args = args[1:3], args[3:]
		case option == "SETNAME" && len(args) >= 2:
			if err := checkName(args[1]); err != nil {
				return err
			}
			name, args = string(args[1]), args[2:]
		default:
			return service.Invalid("Syntax error in HELLO option '%s'", option)
		}
	}
	if login != nil {
		if err := c.login(string(login[0]), string(login[1])); err != nil {
			return err
		}
	}
	if err := c.admit(); err != nil {
		return err
	}
	c.version, c.name = version, name
	c.dict(7)
	c.pair("server", "uidringd")
	c.pair("version", redisVersion)
	c.bulk("proto")
	c.int(int64(version))
	c.bulk("id")
	c.int(c.id)
	c.pair("mode", "standalone")
	c.pair("role", "master")
	c.bulk("modules")
	c.array(0)
	return nil
}

// reset makes the connection as a new one is.
func (c *conn) reset([][]byte) error {
	c.version, c.name, c.caller, c.known = 2, "", service.Caller{}, false
	c.line('+', "RESET")
	return nil
}

func (c *conn) selectDB(args [][]byte) error {
	switch n, err := strconv.Atoi(string(args[0])); {
	case err != nil:
		return errNumber
	case n != 0:
		return service.Invalid("DB index is out of range: there is only 0")
	}
	c.ok()
	return nil
}

// checkName checks a connection's name as Redis does.
func checkName(name []byte) error {
	if slices.ContainsFunc(name, func(b byte) bool { return b < '!' || b > '~' }) {
		return service.Invalid("Client names cannot contain spaces, newlines or special characters.")
	}
	return nil
}

// client takes what pools send for a new connection. Settings that change nothing here
// are accepted.
func (c *conn) client(args [][]byte) error {
	sub, args := strings.ToUpper(string(args[0][:min(len(args[0]), 64)])), args[1:]
	switch want, ok := map[string]int{"ID": 0, "GETNAME": 0, "INFO": 0, "SETNAME": 1, "NO-EVICT": 1, "NO-TOUCH": 1, "SETINFO": 2}[sub]; {
	case !ok:
		return service.Invalid("unknown subcommand '%s': CLIENT has ID, GETNAME, INFO, SETNAME, SETINFO, NO-EVICT and NO-TOUCH", sub)
	case len(args) != want:
		return service.Invalid("wrong number of arguments for 'client|%s' command", strings.ToLower(sub))
	}
	switch sub {
	case "ID":
		c.int(c.id)
	case "GETNAME":
		if c.name == "" {
			c.null()
		} else {
			c.bulk(c.name)
		}
	case "INFO":
		c.bulk(fmt.Sprintf("id=%d addr=%s name=%s db=0 resp=%d user=%s\n", c.id, c.request.Remote, c.name, c.version, c.caller.Name()))
	case "SETNAME":
		if err := checkName(args[0]); err != nil {
			return err
		}
		c.name = string(args[0])
		c.ok()
	default:
		c.ok()
	}
	return nil
}

// command describes the commands, to clients that ask at the start.
func (c *conn) command(args [][]byte) error {
	sub, listed := "INFO", names()
	if len(args) > 0 {
		sub = strings.ToUpper(string(args[0][:min(len(args[0]), 64)]))
		if len(args) > 1 {
			listed = nil
			for _, arg := range args[1:] {
				listed = append(listed, strings.ToUpper(string(arg)))
			}
		}
	}
	switch sub {
	case "COUNT":
		c.int(int64(len(commands)))
	case "LIST":
		c.array(len(commands))
		for _, name := range names() {
			c.bulk(strings.ToLower(name))
		}
	case "INFO":
		c.array(len(listed))
		for _, name := range listed {
			c.commandInfo(name)
		}
	case "DOCS":
		listed = slices.DeleteFunc(listed, func(name string) bool { return commands[name] == nil })
		c.dict(len(listed))
		for _, name := range listed {
			c.bulk(strings.ToLower(name))
			c.dict(3)
			c.pair("summary", commands[name].summary)
			c.pair("since", "1.0.0")
			c.pair("group", commands[name].group)
		}
	default:
		return service.Invalid("unknown subcommand '%s': COMMAND has COUNT, DOCS, INFO and LIST", sub)
	}
	return nil
}

// commandInfo writes the ten parts of a command that Redis does.
func (c *conn) commandInfo(name string) {
	cmd := commands[name]
	if cmd == nil {
		c.null()
		return
	}
	arity, first, last := cmd.least+1, 0, 0
	if cmd.most != cmd.least {
		arity = -arity
	}
	if cmd.group == "string" {
		first, last = 1, 1
		if cmd.most < 0 {
			last = -1
		}
	}
	c.array(10)
	c.bulk(strings.ToLower(name))
	c.int(int64(arity))
	c.array(1)
	c.line('+', "fast")
	c.int(int64(first))
	c.int(int64(last))
	c.int(int64(min(first, 1)))
	for range 4 { // categories, tips, key specifications, subcommands
		c.array(0)
	}
}

// info describes the server, as far as clients ask: some wait until loading is 0.
func (c *conn) info(args [][]byte) error {
	loading := 0
	if c.Host.Ready() != nil {
		loading = 1
	}
	sections := map[string]string{
		"server":      fmt.Sprintf("# Server\r\nredis_version:%s\r\nserver_name:uidringd\r\nredis_mode:standalone\r\n", redisVersion),
		"persistence": fmt.Sprintf("# Persistence\r\nloading:%d\r\n", loading),
		"replication": "# Replication\r\nrole:master\r\nconnected_slaves:0\r\n",
		"cluster":     "# Cluster\r\ncluster_enabled:0\r\n",
	}
	var text []string
	for _, name := range slices.Sorted(maps.Keys(sections)) {
		if len(args) == 0 || slices.ContainsFunc(args, func(arg []byte) bool {
			wanted := strings.ToLower(string(arg))
			return wanted == name || wanted == "all" || wanted == "everything" || wanted == "default"
		}) {
			text = append(text, sections[name])
		}
	}
	c.bulk(strings.Join(text, "\r\n"))
	return nil
}
