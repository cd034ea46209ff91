package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Secret is where a URL that may have a password comes from.
type Secret struct {
	URL  string `yaml:"url,omitempty"`  // itself, without a password
	Env  string `yaml:"env,omitempty"`  // the environment variable that has it
	File string `yaml:"file,omitempty"` // the file that has it, such as a mounted secret

	text string // never printed
}

// Text returns the URL. Keep it out of logs.
func (s *Secret) Text() string { return s.text }

// Origin names where the URL comes from, for errors.
func (s *Secret) Origin() string {
	switch {
	case s.Env != "":
		return "$" + s.Env
	case s.File != "":
		return s.File
	}
	return "the config"
}

// longestSecret is the most that is read of a file.
const longestSecret = 64 << 10

// load reads the URL. Its error names the source alone.
func (s *Secret) load() (err error) {
	switch {
	case s.Env != "":
		if s.text = os.Getenv(s.Env); s.text == "" {
			return fmt.Errorf("the environment variable %s is empty or not set", s.Env)
		}
	case s.File != "":
		file, err := os.Open(s.File)
		if err != nil {
			return err
		}
		defer file.Close()
		text, err := io.ReadAll(io.LimitReader(file, longestSecret+1))
		if err != nil {
			return err
		}
		if s.text = strings.TrimSpace(string(text)); s.text == "" || len(text) > longestSecret {
			return fmt.Errorf("the file %s has %d bytes, want a URL of 1 to %d", s.File, len(text), longestSecret)
		}
	default:
		s.text = s.URL
	}
	return nil
}

// sources counts which of the three keys are set.
func (s *Secret) sources() (n int) {
	for _, key := range []string{s.URL, s.Env, s.File} {
		if key != "" {
			n++
		}
	}
	return n
}

var errSources = errors.New("want exactly one of url, env and file")
