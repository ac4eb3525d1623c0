package cli

import (
	"github.com/spf13/cobra"

	"hale/internal/platform/config"
)

func (s *shell) configCommand() *cobra.Command {
	return noun(&cobra.Command{
		Use: "config", Short: "show the settings and their origin",
		Example: examples("hale config show --origin"),
	}, s.configShow())
}

func (s *shell) configShow() *cobra.Command {
	var origin bool
	c := &cobra.Command{
		Use: "show", Short: "show all settings; secrets are masked",
		Long: `Show every setting as hale serve would see it with the same flags, the same
environment and the same file. A flag has priority over the environment, the
environment over the file, the file over the default. Secrets are masked.`,
		Example: examples(
			"hale config show",
			"hale config show --origin --config hale.yaml",
			"hale config show -o json | jq -r '.[] | select(.origin != \"default\") | .key'",
		),
		Args: takes(),
	}
	addSettings(c.Flags())
	c.Flags().BoolVar(&origin, "origin", false, "show where each value comes from")
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg, err := s.settings(c)
		if err != nil {
			return err
		}
		for _, name := range config.UnknownVariables(s.environ) {
			s.say("unknown variable %s: check the spelling", name)
		}
		columns := []column{{"setting", "key"}, {"value", "value"}}
		if origin {
			columns = append(columns, column{"origin", "origin"})
		}
		return s.showValue(view{id: "key", columns: columns}, cfg.Values())
	}
	return c
}
