package redisclients

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
)

//go:embed scripts
var scripts embed.FS

// Client is a library of a language, and the script that uses it.
type Client struct {
	Name    string
	Missing error // why the library cannot be used here

	command []string
	dir     string // of the script
}

// Install writes the scripts to a folder and installs the libraries of Node there. All other
// libraries have to be there. It returns all clients.
func Install(ctx context.Context, dir string) (all []Client, err error) {
	files, err := fs.Sub(scripts, "scripts")
	if err == nil {
		err = os.CopyFS(dir, files)
	}
	if err != nil {
		return nil, err
	}
	has := func(command ...string) error {
		cmd := exec.CommandContext(ctx, command[0], command[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%q: %w, %.500s", command, err, out)
		}
		return nil
	}
	const python = "/usr/bin/python3" // which finds Debian's packages
	node := has("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	return []Client{
		{"PHP", has("php", "-r", "new Redis();"), []string{"php", "client.php"}, dir},
		{"Ruby", has("ruby", "-e", "require 'redis'"), []string{"ruby", "client.rb"}, dir},
		{"Perl", has("perl", "-MRedis", "-e1"), []string{"perl", "client.pl"}, dir},
		{"Python", has(python, "-c", "import redis"), []string{python, "client.py"}, dir},
		{"Node", node, []string{"node", "redis.mjs"}, dir},
		{"ioredis", node, []string{"node", "ioredis.mjs"}, dir},
		{"redis-cli", has("redis-cli", "--version"), []string{"sh", "client.sh"}, dir},
	}, nil
}
