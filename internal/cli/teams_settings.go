package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

type switchLine struct {
	Name  string `json:"setting"`
	On    bool   `json:"on"`
	Means string `json:"means"`
}

var switchView = view{id: "setting", columns: []column{{"setting", "setting"}, {"on", "on"}, {"description", "means"}}}

func (s *shell) teamsSettings() *cobra.Command {
	return &cobra.Command{
		Use: "settings TEAM [SETTING=on|off]…", Short: "show or change a team's settings",
		Long: `Show a team's settings, or change some of them. A change applies from the next
request; a restart of hale serve is not needed.`,
		Example: examples(
			"hale teams settings Acme",
			"hale teams settings Acme result_reviews_enabled=on partial_webhooks_enabled=off",
		),
		Annotations: map[string]string{"setting": "SETTING"},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return badUsagef("needs TEAM")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			changes, err := switchesIn(args[1:])
			if err != nil {
				return err
			}
			return s.forTeam(c, args[0], func(ctx context.Context, db *store.DB, team teams.Team) error {
				if len(changes) > 0 {
					if team, err = turn(ctx, db, team.ID, changes); err != nil {
						return err
					}
				}
				lines := make([]switchLine, len(teams.Switches))
				for i, w := range teams.Switches {
					lines[i] = switchLine{w.Name, w.On(team), w.Means}
				}
				return s.showValue(switchView, lines)
			})
		},
	}
}

// settingChange is a switch and where it goes.
type settingChange struct {
	teams.Switch
	on bool
}

// switchesIn reads words such as redraws_enabled=on.
func switchesIn(words []string) ([]settingChange, error) {
	var all []settingChange
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		w, err := teams.SwitchNamed(name)
		if err != nil {
			return nil, err
		}
		if value != "on" && value != "off" {
			return nil, badUsagef("%s must be on or off, such as %s=on", name, name)
		}
		all = append(all, settingChange{w, value == "on"})
	}
	return all, nil
}

func turn(ctx context.Context, db *store.DB, id teams.ID, changes []settingChange) (team teams.Team, err error) {
	err = db.Write(ctx, func(tx *store.Tx) (err error) {
		if team, err = teams.Get(ctx, tx, id); err != nil {
			return err
		}
		for _, change := range changes {
			change.Turn(&team.Settings, change.on)
		}
		return teams.Update(ctx, tx, team)
	})
	return team, err
}
