package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// ExitCodes is the part of each command's help that lists them.
const ExitCodes = `

Exit codes:
  0    success, even if the reader of standard output has gone away
  1    failure: for example, a store is unavailable, or a leased number was not
       released (the ids are valid)
  2    usage error: an unknown command or flag, or an invalid value
  3    parse has read ids that are doubtful, and nothing worse has happened
  130  interrupted (143 on SIGTERM, 129 on SIGHUP) before it finished; the output up
       to then has been written`

// newDocs returns the hidden subcommand that writes the reference of all commands.
func newDocs() *cobra.Command {
	var man bool
	cmd := &cobra.Command{
		Use:     "docs FOLDER",
		Short:   "Write a page of Markdown, or of the manual, for each command",
		Example: "  uidring docs docs/reference",
		Args:    OneArg("folder, such as docs/reference"),
		Hidden:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root.DisableAutoGenTag = true
			root.InitDefaultVersionFlag()
			if man {
				return doc.GenManTree(root, &doc.GenManHeader{Source: root.Name() + " " + Release(), Manual: "uidring"}, args[0])
			}
			return writeMarkdown(root, args[0])
		},
	}
	cmd.Flags().BoolVar(&man, "man", false, "write pages of the manual")
	return cmd
}

func writeMarkdown(cmd *cobra.Command, folder string) error {
	for _, sub := range cmd.Commands() {
		if sub.Name() == "reference" { // whose pages are Markdown
			for _, name := range sub.ValidArgs {
				var page bytes.Buffer
				sub.SetOut(&page)
				if err := errors.Join(sub.RunE(sub, []string{name}), os.WriteFile(filepath.Join(folder, cmd.Name()+"_"+name+".md"), page.Bytes(), 0o644)); err != nil {
					return err
				}
			}
		}
		if sub.IsAvailableCommand() && sub.Name() != "completion" {
			if err := writeMarkdown(sub, folder); err != nil {
				return err
			}
		}
	}
	if cmd.Long != "" {
		cmd.Long = "```text\n" + strings.TrimSpace(cmd.Long) + "\n```" // its columns are aligned
	}
	var page bytes.Buffer
	if err := doc.GenMarkdown(cmd, &page); err != nil {
		return err
	}
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "_") + ".md"
	text := strings.ReplaceAll(withoutValues(page.String()), "* ["+cmd.Root().Name()+" completion]("+cmd.Root().Name()+"_completion.md)", "* "+cmd.Root().Name()+" completion")
	return os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644)
}
