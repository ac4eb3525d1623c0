package cli

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hale/internal/platform/config"
)

// storageSettings are the settings of commands that work on the database itself.
var storageSettings = []string{"data", "database", "root-key"}

// addSettings gives a command the flags of settings, all of them when none is
// named, and --config. The flags hold text: config reads and checks it.
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

// settingFlag keeps the text of a flag. A list takes every one that is given,
// anything else the last.
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

// String is empty so that help prints no default beside the one in the usage.
func (f *settingFlag) String() string { return "" }

// Type is the word behind the flag in help.
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
		return nil, badUsage(withHint(err, "docs/operations.md lists the settings, %s --help their flags", c.CommandPath()))
	}
	return cfg, nil
}
