//go:build unix

package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/uidring/uidring/cmd/uidringd/internal/config"
	"github.com/uidring/uidring/internal/test/need"
)

// A FIFO is refused at once wherever a config names a file: a read of it could wait forever.
func TestFIFO(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo.db")
	need.Must(t, syscall.Mkfifo(fifo, 0o600))
	var writing sync.WaitGroup
	writing.Go(func() { // ends the wait of a reader, and waits for one
		if file, err := os.OpenFile(fifo, os.O_WRONLY, 0); err == nil {
			file.Close()
		}
	})
	defer writing.Wait()
	for _, text := range []string{
		"tls: {cert: testdata/cert.pem, key: FIFO}" + minimal,
		"tls: {cert: FIFO, key: testdata/key.pem}" + minimal,
		"tls: {cert: testdata/cert.pem, key: testdata/key.pem, client_ca: FIFO}" + minimal,
		"stores: [{name: db, file: FIFO}]\ngenerators: [{name: ids, kind: cached, store: db}]",
		"stores: [{name: db, url: \"etcd://h?ca=FIFO\"}]\ngenerators: [{name: ids, kind: cached, store: db}]",
	} {
		_, err := config.Parse([]byte(strings.ReplaceAll(text, "FIFO", fifo)), config.Flags{})
		need.Error(t, err, nil, fmt.Sprintf("open %s: want a regular file, not a pipe or a folder", fifo))
	}
	_, err := config.Read(fifo, config.Flags{})
	need.Error(t, err, nil, "want a regular file, not a pipe or a folder")
	if file, err := os.OpenFile(fifo, os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
		writing.Wait()
		file.Close()
	}
}
