package sqldb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"sync"

	"gorm.io/gorm"
)

// ErrReplaced is matched when the file of an SQLite database is not there, or must not be opened.
var ErrReplaced = errors.New("the file of the database was moved, removed or replaced while it was open")

// File notices that the file of an SQLite database, or the -wal or -shm beside it, was moved, removed or replaced
// while connections had it open. They go on with the old files, which no other process sees.
//
// A restore takes several commands, and File may look between any two of them. While the file is missing, a connection
// would make an empty one. While the -wal of the old file lies beside the new one, a connection would write
// pages of the old file into the new one. Until neither is so, File has nobody open the database.
type File struct {
	Path string

	mu    sync.Mutex
	found [3]fs.FileInfo // what the last look found under suffixes; nil is nothing
	wal   bool           // a look has found a -wal
	stale *os.File       // the -wal of a file that was replaced; open, so that no other file gets its inode
	owner fs.FileInfo    // that file
}

var suffixes = [3]string{"", "-wal", "-shm"}

// WatchFile returns nil for other databases, for those in memory, and on Windows, where an open file stays where it is.
func WatchFile(ctx context.Context, db *gorm.DB) (*File, error) {
	if db.Name() != "sqlite" || runtime.GOOS == "windows" {
		return nil, nil
	}
	if _, err := db.DB(); err != nil {
		return nil, nil // connections of the app's own making
	}
	var main struct {
		File string `gorm:"column:file"` // whatever the app's naming strategy
	}
	err := within(ctx, db, func(tx *gorm.DB) error {
		return tx.Raw("SELECT file AS file FROM pragma_database_list WHERE name = 'main'").Scan(&main).Error
	})
	if err != nil || main.File == "" {
		return nil, err // in memory
	}
	f := &File{Path: main.File}
	_, err = f.changed()
	return f, err
}

// Look closes the connections of db that nobody uses, if they have files open that others do not see. Its error matches
// ErrReplaced as long as the database must not be opened. A nil File returns nil.
func (f *File) Look(ctx context.Context, db *gorm.DB) error {
	if f == nil {
		return nil
	}
	changed, err := f.changed()
	if changed {
		CloseIdle(ctx, db)
		f.forget()
	}
	return err
}

// Moved reports whether the file is another one than at the last look. A connection that was opened since then, and has read
// nothing, may be closed: it has not taken the old file's -wal for the new one's.
func (f *File) Moved() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	now, err := os.Stat(f.Path)
	return err != nil || !same(f.found[0], now)
}

// forget forgets what SQLite has removed when the last connection was closed.
func (f *File) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, suffix := range suffixes {
		if _, err := os.Stat(f.Path + suffix); i > 0 && errors.Is(err, fs.ErrNotExist) {
			f.found[i] = nil
		}
	}
}

func (f *File) changed() (changed bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var now [3]fs.FileInfo
	for i, suffix := range suffixes {
		if now[i], err = os.Stat(f.Path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
	}
	was := f.found
	f.found = now
	back := false
	if f.stale != nil {
		old, err := f.stale.Stat()
		back = same(f.owner, now[0]) && f.owner.ModTime().Equal(now[0].ModTime()) // not another file with its inode
		if err != nil || back || !same(old, now[1]) {
			_, f.stale = f.stale.Close(), nil
		}
	}
	switch { // SQLite makes a -wal and a -shm when they are missing
	case was[0] == nil:
	case !same(was[0], now[0]):
		changed = true
		if !back {
			f.keepStale(was[0], was[1])
		}
	default:
		changed = was[1] != nil && !same(was[1], now[1]) || was[2] != nil && !same(was[2], now[2])
	}
	f.wal = f.wal || now[1] != nil
	switch {
	case now[0] == nil:
		return changed, fmt.Errorf("%w: there is no %s", ErrReplaced, f.Path)
	case f.stale != nil:
		return changed, fmt.Errorf("%w: %s lies beside a file to which it may not belong; stop all processes that use the file and, if it is still there, delete %[2]s and %s-shm", ErrReplaced, f.Path+"-wal", f.Path)
	}
	return changed, nil
}

// keepStale keeps the -wal of a file that is gone, if it is still there. If the last look found no -wal, but an earlier look
// did, a -wal that is there now counts as the old file's: a connection that was opened in between has made it. It can belong to
// the new file instead, if another process opened that file in between too; the holder then stops, though it could go on.
// SQLite locks the other files, so closing this one loses no lock.
func (f *File) keepStale(owner, wal fs.FileInfo) {
	if f.stale != nil || wal == nil && !f.wal {
		return
	}
	opened, err := os.Open(f.Path + "-wal")
	if err != nil {
		return
	}
	if is, err := opened.Stat(); err != nil || wal != nil && !same(wal, is) {
		_ = opened.Close()
		return
	}
	f.stale, f.owner = opened, owner
}

// same is os.SameFile, for files that may be missing.
func same(a, b fs.FileInfo) bool {
	return a == nil && b == nil || a != nil && b != nil && os.SameFile(a, b)
}
