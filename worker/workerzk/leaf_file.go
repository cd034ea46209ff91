package workerzk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// leafFile is what LeafConfig.File has: properties, of which Leaf reads workerID.
type leafFile struct {
	number  int64
	stamp   int64 // the last timestamp, in milliseconds since 1970
	address string
	name    string
}

func readLeafFile(file string) (f leafFile, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return f, err
	}
	properties := map[string]string{}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		properties[key] = value
	}
	number := func(key string) int64 {
		n, fault := strconv.ParseInt(properties[key], 10, 64)
		if fault != nil || n < 0 {
			err = errors.Join(err, fmt.Errorf("%s: %s is %q, want a number", file, key, properties[key]))
		}
		return n
	}
	return leafFile{number("workerID"), number("timestamp"), properties["address"], properties["name"]}, err
}

// write replaces the file as one step: a crash leaves the old one or the new one.
func (f leafFile) write(file string) error {
	folder := filepath.Dir(file)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	fresh, err := os.CreateTemp(folder, ".workerID-*")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(fresh, "workerID=%d\ntimestamp=%d\naddress=%s\nname=%s\n", f.number, f.stamp, f.address, f.name)
	err = errors.Join(err, fresh.Sync(), fresh.Close())
	if err == nil {
		err = os.Rename(fresh.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(fresh.Name()))
	}
	return nil
}
