package cli

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hale/internal/platform/config"
)

// storageSettings are the settings of commands that open the database themselves.
var storageSettings = []string{"data", "database", "root-key"}

// addSettings adds the flags of settings, and --config, to a command. Without keys it
// adds all settings. The flags hold text, which config parses and checks.
func addSettings(flags *pflag.FlagSet, keys ...string) {
	flags.String("config", "", "YAML file of settings (env HALE_CONFIG)")
	for _, s := range config.Settings() {
		if len(keys) > 0 && !slices.Contains(keys, s.Key) {
			continue
		}
		usage := s.Usage + " (env " + s.Env + ")"
		if s.Default != "" {
			usage += " (default " + s.Default + ")"
		}
		if !s.NoFlag {
			flags.Var(&settingFlag{list: s.IsList()}, s.Key, usage)
		}
		if s.IsSwitch() {
			flags.Lookup(s.Key).NoOptDefVal = "true"
		}
		if s.Secret {
			flags.Var(&settingFlag{}, s.FileKey(), "file that holds the "+s.Key+" (env "+s.FileEnv()+")")
		}
	}
}

// settingFlag stores the text of a flag. A list collects all given values; other settings
// take the last one.
type settingFlag struct {
	list  bool
	texts []string
}

func (f *settingFlag) Set(text string) error {
	if !f.list {
		f.texts = nil
	}
	f.texts = append(f.texts, text)
	return nil
}

// String returns "", so that help does not repeat the default of the usage text.
func (f *settingFlag) String() string { return "" }

// Type returns the word that help prints after the flag.
func (f *settingFlag) Type() string { return "value" }

// settings reads the configuration for a command that has the flags.
func (s *shell) settings(c *cobra.Command) (*config.Config, error) {
	given := map[string][]string{}
	c.Flags().Visit(func(f *pflag.Flag) {
		if setting, ok := f.Value.(*settingFlag); ok {
			given[f.Name] = setting.texts
		}
	})
	file, _ := s.lookupEnv("HALE_CONFIG")
	if c.Flags().Changed("config") {
		file = c.Flags().Lookup("config").Value.String()
	}
	cfg, err := config.Load(config.Input{Flags: given, LookupEnv: s.lookupEnv, File: file})
	var unread *fs.PathError
	if errors.As(err, &unread) && unread.Path == file {
		err = sayingf(err, "settings file %s: %s", file, reasonOf(err))
	}
	if err != nil {
		return nil, badUsage(withHint(err, "hale docs operations lists the settings, %s --help their flags", c.CommandPath()))
	}
	return cfg, nil
}

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
		Args: wantArgs(),
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
