package cli

import (
	"io"
	"os"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/schollz/progressbar/v3"
)

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
