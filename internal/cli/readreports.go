package cli

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"hale/internal/app"
	"hale/internal/labs/reports/reader"
)

// readReportsCommand returns the command of the child process in which hale serve reads
// uploaded lab reports. Its standard input carries requests and its standard output
// answers. It has no settings.
func (s *shell) readReportsCommand() *cobra.Command {
	return &cobra.Command{
		Use: app.ReaderCommand, Short: "read lab reports for hale serve", Hidden: true, Args: takes(),
		RunE: func(c *cobra.Command, _ []string) error {
			signal.Ignore(os.Interrupt, syscall.SIGTERM) // the parent ends it
			return reader.Serve(c.Context(), s.in, s.out, nil)
		},
	}
}
