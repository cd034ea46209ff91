package database

import (
	"github.com/spf13/cobra"

	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/uid/segment/segmentsql"
)

const (
	leafAlloc = "leaf_alloc"
	sequence  = "sequence"
)

// TableFlag adds --table, which says where counters are.
func TableFlag(cmd *cobra.Command) {
	kind := leafAlloc
	words := []string{leafAlloc, sequence}
	cmd.Flags().Var(cli.Choice{Value: &kind, Words: words}, "table", "table of the counters: leaf_alloc is Leaf's, sequence is\nSEQUENCE(table_name, next_id)")
	cli.Complete(cmd, "table", words...)
}

// Counters returns the store of the table that a command with [TableFlag] names.
func (db *DB) Counters(cmd *cobra.Command) *segmentsql.Store {
	if cmd.Flag("table").Value.String() == sequence {
		return segmentsql.Sequence(db.DB, segmentsql.Config{})
	}
	return segmentsql.LeafAlloc(db.DB, segmentsql.Config{})
}
