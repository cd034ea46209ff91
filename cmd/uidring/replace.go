package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// canReplace tells before the work whether replace could do its own after it.
func canReplace(path string) error {
	switch info, err := os.Stat(path); {
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%q is there and is no file", path)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	dir := filepath.Dir(path)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%q: there is no folder %q", path, dir)
	}
	file, err := beside(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// replace writes a file in such a way that whoever opens it sees the old text or
// all of the new one.
func replace(path string, text []byte) error {
	file, err := beside(path)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}

// beside creates a new file in the folder of path. Unlike a temporary one, it may
// be read by whom the user lets read files.
func beside(path string) (*os.File, error) {
	name := "." + filepath.Base(path) + "." + strconv.FormatUint(rand.Uint64(), 36)
	return os.OpenFile(filepath.Join(filepath.Dir(path), name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}
