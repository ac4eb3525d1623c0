package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

type settingLine struct {
	Name  string `json:"setting"`
	On    *bool  `json:"on,omitempty"` // of a switch
	Value string `json:"value"`        // on, off or a text
	Means string `json:"means"`
}

var settingsView = view{id: "setting", columns: []column{{"setting", "setting"}, {"value", "value"}, {"description", "means"}}}

func settingLines(team teams.Team) []settingLine {
	var lines []settingLine
	for _, w := range teams.Switches {
		on, word := w.On(team), "off"
		if on {
			word = "on"
		}
		lines = append(lines, settingLine{w.Name, &on, word, w.Means})
	}
	for _, v := range teams.Values {
		lines = append(lines, settingLine{v.Name, nil, v.Of(team), v.Means})
	}
	return lines
}

func (s *shell) teamsSettings() *cobra.Command {
	return &cobra.Command{
		Use: "settings TEAM [SETTING=VALUE]…", Short: "show or change a team's settings",
		Long: `Show a team's settings, or change some of them. A change applies from the next
request; a restart of hale serve is not needed. Switches take on, off, true or false. An empty
value removes an address.`,
		Example: examples(
			"hale teams settings Acme",
			"hale teams settings Acme result_reviews_enabled=on partial_webhooks_enabled=off",
			"hale teams settings Acme critical_result_notification_email=lab@example.org",
		),
		Annotations: map[string]string{"setting": "SETTING"},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return badUsagef("needs TEAM")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			changes, err := settingsIn(args[1:])
			if err != nil {
				return err
			}
			return s.forTeam(c, args[0], func(ctx context.Context, db *store.DB, team teams.Team) error {
				if len(changes) > 0 {
					if team, err = change(ctx, db, team.ID, changes); err != nil {
						return err
					}
				}
				return s.showValue(settingsView, settingLines(team))
			})
		},
	}
}

// settingChange changes a team's settings.
type settingChange func(*teams.Settings) error

// switchWords are the values of a switch.
var switchWords = map[string]bool{"on": true, "off": false, "true": true, "false": false}

// settingsIn reads words such as redraws_enabled=on.
func settingsIn(words []string) ([]settingChange, error) {
	var all []settingChange
	for _, word := range words {
		name, value, given := strings.Cut(word, "=")
		toggle, text, err := teams.FindSetting(name)
		if err != nil {
			return nil, err
		}
		switch {
		case toggle != nil:
			on, known := switchWords[strings.ToLower(value)]
			if !known {
				return nil, badUsagef("%s must be on or off, such as %s=on", name, name)
			}
			all = append(all, func(s *teams.Settings) error { toggle.Turn(s, on); return nil })
		case !given:
			return nil, badUsagef("%s needs a value, such as %s=VALUE", name, name)
		default:
			all = append(all, func(s *teams.Settings) error { return text.Set(s, value) })
		}
	}
	return all, nil
}

func change(ctx context.Context, db *store.DB, id teams.ID, changes []settingChange) (team teams.Team, err error) {
	err = db.Write(ctx, func(tx *store.Tx) (err error) {
		team, err = teams.Change(ctx, tx, id, func(team *teams.Team) error {
			for _, apply := range changes {
				if err := apply(&team.Settings); err != nil {
					return err
				}
			}
			return nil
		})
		return err
	})
	return team, err
}
