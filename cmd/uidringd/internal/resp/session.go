package resp

import (
	"bytes"
	"errors"
	"strings"

	"github.com/uidring/uidring/cmd/uidringd/internal/service"
)

// redisVersion is the version of Redis whose protocol this is: clients ask for it.
const redisVersion = "7.2.0"

// Errors in the words of Redis.
var (
	errNumber   = service.Invalid("value is not an integer or out of range")
	errDatabase = service.Invalid("DB index is out of range")
	errName     = service.Invalid("Client names cannot contain spaces, newlines or special characters.")
	errNoAuth   = &service.Error{Kind: service.Unauthorized, Detail: "Authentication required."}
	errPassword = worded("WRONGPASS", service.Unauthorized, "invalid username-password pair or user is disabled.")
	errMulti    = service.Invalid("MULTI has no effect: uidringd has no transactions, so send the commands without MULTI")
	errAborted  = worded("EXECABORT", service.BadRequest, errMulti.Detail)
	errProtocol = worded("NOPROTO", service.BadRequest, "unsupported protocol version")
)

func (c *conn) ping(args [][]byte) error {
	if err := c.Host.Ready(); err != nil {
		return worded("LOADING", service.Unavailable, err.Error())
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
	} else if c.IDs.Open() {
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
		if c.IDs.Open() {
			return nil // as Redis does for a user without a password
		}
		name = ""
	}
	caller, err := c.IDs.Login(c.about.Remote, name, token)
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
	version := c.version
	if len(args) > 0 {
		n, err := count(args[0])
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
		case option == "SETNAME" && len(args) >= 2 && !printable(args[1]):
			return errName
		case option == "SETNAME" && len(args) >= 2:
			args = args[2:]
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
	c.version = version
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

// client accepts the names that libraries give a new connection and themselves, and keeps none.
func (c *conn) client(args [][]byte) error {
	switch sub := strings.ToUpper(string(args[0][:min(len(args[0]), 64)])); {
	case sub == "SETNAME" && len(args) == 2 && !printable(args[1]):
		return errName
	case sub == "SETNAME" && len(args) == 2, sub == "SETINFO" && len(args) == 3:
		c.ok()
		return nil
	default:
		return service.Invalid("unknown subcommand '%s' with %d arguments: CLIENT has SETNAME name and SETINFO attribute value", sub, len(args)-1)
	}
}

// printable reports whether a name has neither blanks nor special characters.
func printable(name []byte) bool {
	return !bytes.ContainsFunc(name, func(r rune) bool { return r < '!' || r > '~' })
}

// database takes SELECT 0, which frameworks send. Counters are in the databases of the config's stores.
func (c *conn) database(args [][]byte) error {
	n, err := count(args[0])
	switch {
	case err != nil:
		return err
	case n != 0:
		return errDatabase
	}
	c.ok()
	return nil
}

// beginMulti begins a transaction, whose commands then fail one by one, as those of Redis do that
// cannot be queued: every client knows how to end that.
func (c *conn) beginMulti([][]byte) error {
	c.multi = true
	c.ok()
	return nil
}

func (c *conn) exec([][]byte) error {
	if !c.multi {
		return service.Invalid("EXEC without MULTI")
	}
	c.multi = false
	return errAborted
}

func (c *conn) discard([][]byte) error {
	if !c.multi {
		return service.Invalid("DISCARD without MULTI")
	}
	c.multi = false
	c.ok()
	return nil
}

// info describes the server, as far as clients ask. Some send no command while loading is not 0, so
// it is 0 as long as commands are answered: a balancer asks by PING.
func (c *conn) info([][]byte) error {
	c.bulk("# Server\r\nredis_version:" + redisVersion + "\r\nserver_name:uidringd\r\nredis_mode:standalone\r\n\r\n" +
		"# Persistence\r\nloading:0\r\n\r\n# Replication\r\nrole:master\r\n")
	return nil
}
