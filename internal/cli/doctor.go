package cli

import (
	"context"
	"fmt"
	"sync"

	"github.com/spf13/cobra"

	"hale/internal/platform/config"
	"hale/internal/platform/fault"
)

// Verdicts of a finding.
const (
	verdictOK      = "ok"
	verdictWarning = "warning" // works, but needs attention
	verdictBroken  = "broken"  // hale serve fails, or loses something
)

// finding holds the doctor's verdict about one thing.
type finding struct {
	Check   string `json:"check"`
	Verdict string `json:"verdict"`
	Detail  string `json:"detail"`
	Hint    string `json:"hint,omitempty"`
}

func (s *shell) doctorCommand() *cobra.Command {
	var deep bool
	c := &cobra.Command{
		Use: "doctor", Short: "check configuration, disk, keys and database",
		Long: `Check the settings, the networks file, the data folder, the disk, the root key, the
database, its migrations and the clock. Also check addresses, the protection of data
on its way, the webhook policy and the program for scans.

The command changes nothing and can run while hale serve runs. It waits two seconds
for a lock of another process. Use the same flags, environment and file as for hale
serve.

The exit code is 1 if something is broken, and 0 if there are only warnings.`,
		Example: examples("hale doctor", "hale doctor --deep", "hale doctor -o json | jq -r '.[] | select(.verdict != \"ok\")'"),
		Args:    wantArgs(),
	}
	addSettings(c.Flags())
	c.Flags().BoolVar(&deep, "deep", false, "also read the whole embedded database and check it for damage")
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg, err := s.settings(c)
		if err != nil {
			return err
		}
		findings := s.examine(c.Context(), cfg, deep)
		if err := s.showFindings(findings); err != nil {
			return err
		}
		bad := 0
		for _, f := range findings {
			if f.Verdict == verdictBroken {
				bad++
			}
		}
		if bad > 0 {
			return withHint(fault.Newf(fault.Internal, "%s broken", isOrAre(bad, "check")), "each line above says what to do")
		}
		return nil
	}
	return c
}

func isOrAre(n int, word string) string {
	if n == 1 {
		return "1 " + word + " is"
	}
	return fmt.Sprintf("%d %ss are", n, word)
}

// examine makes every finding, in the order in which a server would fail. Checks that
// may wait for another process run side by side.
func (s *shell) examine(ctx context.Context, cfg *config.Config, deep bool) []finding {
	findings := []finding{
		s.examineSettings(cfg),
		examineNetworks(cfg),
		examineFolder(cfg),
		examineDisk(cfg),
		examineRootKey(cfg),
	}
	findings = append(findings, examineErasures(cfg)...)
	var database []finding
	var public, machines finding
	var wait sync.WaitGroup
	wait.Go(func() { database = s.examineDatabase(ctx, cfg, deep) })
	wait.Go(func() { public = examineAddress(ctx, "listen", cfg.Listen, cfg.ListenURL(cfg.Listen)) })
	wait.Go(func() {
		machines = examineAddress(ctx, "metrics-listen", cfg.MetricsListen, config.DeriveBaseURL(cfg.MetricsListen))
	})
	wait.Wait()
	findings = append(findings, database...)
	findings = append(findings, s.examineClock(), public, machines)
	findings = append(findings, examineExposures(cfg)...)
	return append(findings, examineWebhooks(cfg), examineScans(ctx, cfg))
}

func (s *shell) showFindings(findings []finding) error {
	if s.format != formatTable {
		return s.showValue(view{id: "check"}, findings)
	}
	signs := map[string]string{verdictOK: "ok     ", verdictWarning: "warning", verdictBroken: "BROKEN "}
	for _, f := range findings {
		fmt.Fprintf(s.out, "%s  %-19s %s\n", s.paint(f.Verdict, signs[f.Verdict]), f.Check, f.Detail)
		if f.Hint != "" {
			fmt.Fprintf(s.out, "%29s hint: %s\n", "", f.Hint)
		}
	}
	return nil
}
