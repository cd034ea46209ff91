package cli

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/mattn/go-isatty"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
)

// ErrNoReader is matched by the error of a write to a pipe that nobody reads
// any more, as when head has read enough. It ends a command without an error message.
var ErrNoReader = errors.New("nobody reads standard output")

// errWrite is matched by the error of any other write that fails.
var errWrite = errors.New("write to standard output")

// output is standard output. Its errors match ErrNoReader or errWrite, so that nobody
// takes a broken pipe of standard output for a broken database connection. It keeps
// the first error, since cobra drops errors of help.
type output struct {
	w      io.Writer
	failed error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	switch {
	case err == nil:
		return n, nil
	case errors.Is(err, syscall.EPIPE):
		err = ErrNoReader
	default:
		err = fmt.Errorf("%w: %w", errWrite, err)
	}
	o.failed = cmp.Or(o.failed, err)
	return n, err
}

// Finish flushes out and returns err. A failure to write, which out keeps, is in the
// result once.
func Finish(out *bufio.Writer, err error) error {
	if failed := out.Flush(); !errors.Is(err, failed) {
		return errors.Join(err, failed)
	}
	return err
}

// Notify writes a line to standard error, after the command's name.
func Notify(cmd *cobra.Command, format string, args ...any) {
	fmt.Fprintf(cmd.ErrOrStderr(), cmd.Root().Name()+": "+format+"\n", args...)
}

// Logger returns a logger that writes warnings to standard error.
func Logger(cmd *cobra.Command) *slog.Logger {
	return slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// Printable quotes text that could steer the terminal.
func Printable(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}

// Terminal reports whether a stream of a command is a terminal.
func Terminal(stream any) bool {
	if out, ok := stream.(*output); ok {
		stream = out.w
	}
	file, ok := stream.(*os.File)
	return ok && isatty.IsTerminal(file.Fd())
}

// Progress returns a bar on stderr for work of a number of steps, and nothing if stderr is not a
// terminal. Finish removes it.
func Progress(stderr io.Writer, steps int64, of string) *progressbar.ProgressBar {
	return progressbar.NewOptions64(steps, progressbar.OptionSetWriter(stderr), progressbar.OptionSetVisibility(Terminal(stderr)),
		progressbar.OptionSetDescription(of), progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString(of),
		progressbar.OptionThrottle(200*time.Millisecond),
		progressbar.OptionFullWidth(), progressbar.OptionClearOnFinish())
}
