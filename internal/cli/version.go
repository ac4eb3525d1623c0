package cli

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// release is set by the linker in released binaries:
//
//	go build -ldflags "-X hale/internal/cli.release=v1.2.3" ./cmd/hale
var release string

// version returns the release. Without a release it returns the commit of the build, or
// devel if that is unknown.
func version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	commit, dirty := "", ""
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision" && len(setting.Value) >= 12:
			commit = setting.Value[:12]
		case setting.Key == "vcs.modified" && setting.Value == "true":
			dirty = "+changes"
		}
	}
	if commit == "" {
		return "devel"
	}
	return commit + dirty
}

func (s *shell) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "print the version",
		Example: examples("hale version", "hale version -o json"),
		Args:    wantArgs(),
		RunE: func(*cobra.Command, []string) error {
			return s.showValue(view{id: "version", columns: []column{{"version", "version"}, {"go", "go"}, {"platform", "platform"}}},
				map[string]string{"version": version(), "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH})
		},
	}
}
