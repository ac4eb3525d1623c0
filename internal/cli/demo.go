package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"hale/internal/cli/client"
	"hale/internal/platform/fault"
	"hale/internal/wearables/connections"
)

func (s *shell) demoCommand() *cobra.Command {
	var providers []string
	var days int
	c := s.calls(&cobra.Command{
		Use: "demo USER", Short: "create a user with invented wearable data (sandbox)",
		Long: `Connect a user of a sandbox team to providers of invented data, and show the data
that can be read now. The user is created if there is none. USER is a user_id or a
client_user_id. Hale adds new data every two hours, and deletes the user after seven
days.`,
		Example: examples("hale demo anna", "hale demo anna --provider freestyle_libre --days 90"),
		Args:    wantArgs("USER"),

		Annotations: map[string]string{"provider": "--provider", "days": "--days", "client_user_id": "USER"},
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkDemo(providers, days); err != nil {
				return err
			}
			if err := s.checkSandbox(c.Context()); err != nil {
				return err
			}
			id, err := s.findOrCreateUser(c.Context(), args[0])
			if err != nil {
				return err
			}
			for _, provider := range providers {
				body := map[string]any{"user_id": id, "provider": provider, "days": days}
				if _, err := s.call(c.Context(), http.MethodPost, "/v2/link/connect/demo", nil, body); err != nil {
					return err
				}
			}
			found, err := s.awaitDemo(c.Context(), id, providers)
			if err != nil {
				return err
			}
			return s.showDemo(args[0], found)
		},
	})
	c.Flags().StringSliceVar(&providers, "provider", []string{"oura", "apple_health_kit"}, "providers: "+strings.Join(connections.DemoProviders, ", "))
	c.Flags().IntVar(&days, "days", 730, "length of the history, at most 1096")
	return c
}

// mostDemoDays is the longest history of a demo.
const mostDemoDays = 1096

// checkDemo refuses a demo that the server would refuse after its user is created.
func checkDemo(providers []string, days int) error {
	for _, provider := range providers {
		if !slices.Contains(connections.DemoProviders, provider) {
			return fault.NotInEnum(connections.DemoProviders).At("body", "provider")
		}
	}
	if days < 1 || days > mostDemoDays {
		return badUsagef("--days must be 1 to %d", mostDemoDays)
	}
	return nil
}

// checkSandbox refuses a demo of a production team before its user is created. A key that
// may not read the sandbox laboratory learns it from the demo.
func (s *shell) checkSandbox(ctx context.Context) error {
	var answer *client.Error
	err := s.get(ctx, "/v3/sandbox", nil, &struct{}{})
	if errors.As(err, &answer) && answer.Status == http.StatusNotFound && answer.RequestID != "" {
		return withHint(fault.New(fault.Refused, "demo connections are only available in sandbox"), "hale docs production has the steps of a production team")
	}
	return nil
}

// findOrCreateUser returns the id of a user, who is created if there is none.
func (s *shell) findOrCreateUser(ctx context.Context, name string) (string, error) {
	_, id, err := s.findUser(ctx, name)
	if !fault.Is(err, fault.NotFound) {
		return id, err
	}
	body, err := s.call(ctx, http.MethodPost, "/v2/user", nil, map[string]string{"client_user_id": name})
	if err != nil {
		return "", err
	}
	var made struct {
		ID string `json:"user_id"`
	}
	return made.ID, json.Unmarshal(body, &made)
}

// demoData is the data of a user, as `hale demo` shows it.
type demoData struct {
	User string    `json:"user_id"`
	Rows []demoRow `json:"data"`
}

type demoRow struct {
	Provider string    `json:"provider"`
	Resource string    `json:"resource"`
	Days     int       `json:"days_with_data"`
	From     time.Time `json:"from"`
	To       time.Time `json:"to"`
}

// demoPatience limits the wait for demo data, which takes seconds.
const demoPatience = 5 * time.Minute

// awaitDemo waits for the history of the providers.
func (s *shell) awaitDemo(ctx context.Context, id string, providers []string) (demoData, error) {
	for pause, waited := 50*time.Millisecond, time.Duration(0); ; pause = min(2*pause, time.Second) {
		data, complete, err := s.readDemo(ctx, id, providers)
		if err != nil || complete {
			return data, err
		}
		if waited += pause; waited > demoPatience {
			return data, withHint(fault.New(fault.Unavailable, fmt.Sprintf("the data is not complete after %v", demoPatience)),
				"hale jobs list --kind connections.demo_fill shows the state")
		}
		if err := sleep(ctx, pause); err != nil {
			return data, err
		}
	}
}

// readDemo reads which history a user has. It is complete when no resource of the
// providers is in progress.
func (s *shell) readDemo(ctx context.Context, id string, providers []string) (data demoData, complete bool, err error) {
	type pull struct {
		Status string     `json:"status"`
		Days   int        `json:"days_with_data"`
		From   *time.Time `json:"range_start"`
		To     *time.Time `json:"range_end"`
	}
	var answer struct {
		Data []struct {
			Provider map[string]struct {
				Pulled map[string]pull `json:"pulled"`
			} `json:"provider"`
		} `json:"data"`
	}
	if err := s.get(ctx, "/v2/introspect/historical_pull", url.Values{"user_id": {id}}, &answer); err != nil {
		return data, false, err
	}
	data.User, complete = id, len(answer.Data) > 0
	for _, one := range answer.Data {
		for _, provider := range providers {
			pulls := one.Provider[provider].Pulled
			complete = complete && len(pulls) > 0
			for _, resource := range slices.Sorted(maps.Keys(pulls)) {
				p := pulls[resource]
				complete = complete && p.Status != "in_progress"
				if p.From != nil && p.To != nil {
					data.Rows = append(data.Rows, demoRow{provider, resource, p.Days, *p.From, *p.To})
				}
			}
		}
	}
	return data, complete, nil
}

// showDemo prints the data of a user, and commands that read it.
func (s *shell) showDemo(name string, data demoData) error {
	if s.format != formatTable {
		return s.showValue(view{id: "user_id"}, data)
	}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "PROVIDER\tFROM\tTO\tRESOURCES")
	for i := 0; i < len(data.Rows); {
		first, last := data.Rows[i], data.Rows[i]
		var resources []string
		for ; i < len(data.Rows) && data.Rows[i].Provider == first.Provider; i++ {
			resources = append(resources, data.Rows[i].Resource)
			if data.Rows[i].From.Before(first.From) {
				first.From = data.Rows[i].From
			}
			if data.Rows[i].To.After(last.To) {
				last.To = data.Rows[i].To
			}
		}
		from, to := first.From.Format(time.DateOnly), last.To.Format(time.DateOnly)
		for n, line := range wrapWords(resources, 36) {
			if n > 0 {
				first.Provider, from, to = "", "", ""
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", first.Provider, from, to, line)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	week := s.now().AddDate(0, 0, -7).Format(time.DateOnly)
	word := shellWord(name)
	fmt.Fprintf(s.out, `
The data is invented. Hale deletes the user after seven days. Read the data:

  USER_ID=$(hale users get %[1]s -o id)
  hale api "/v2/summary/sleep/$USER_ID?start_date=%[2]s"
  hale api "/v2/timeseries/$USER_ID/heartrate/grouped?start_date=%[2]s"
  hale query %[1]s --past 7d -d '{"select":[{"func":"sum",
    "arg":{"timeseries":"steps","field":"value"}}]}'

`, word, week)
	return nil
}

// wrapWords joins words with commas to lines of at most width characters.
func wrapWords(words []string, width int) (lines []string) {
	var line string
	for i, word := range words {
		if i < len(words)-1 {
			word += ","
		}
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}

// shellWord quotes a word for a shell if it needs quotes.
func shellWord(word string) string {
	plainRune := func(r rune) bool {
		return r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
	}
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !plainRune(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(oneLine(word), "'", `'\''`) + "'"
}
