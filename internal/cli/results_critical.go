package cli

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"hale/internal/labs/critical"
)

var criticalColumns = []column{
	{"critical result", "id"},
	{"order", "order_id"},
	{"in review", "unmatched_result_id"},
	{"report", "parsing_job_id"},
	{"state", "state"},
	{"received", "raised_at"},
	{"due", "due_at"},
	{"escalated", "escalated_at"},
}

var (
	criticalView  = view{id: "id", columns: append(criticalColumns[:len(criticalColumns):len(criticalColumns)], column{"notified", "acknowledgement.notified_person"})}
	criticalsView = view{list: "data", id: "id", columns: criticalColumns, none: "no critical results"}
)

const listsCritical = "hale results critical list shows all critical results"

func (s *shell) criticalCommand() *cobra.Command {
	return s.calls(noun(&cobra.Command{
		Use: "critical", Short: "list and acknowledge critical results of a team",
		Long: `List critical results, and record who was notified of them. A result that is not
acknowledged in time escalates. See hale docs results.`,
		Example: examples("hale results critical list --state open", `hale results critical acknowledge ID --notified "Dr. Example" --read-back`),

		Annotations: map[string]string{absentHint: listsCritical},
	}, s.criticalList(), s.criticalShow(), s.criticalAcknowledge()))
}

func (s *shell) criticalList() *cobra.Command {
	var state string
	var limit int
	c := &cobra.Command{
		Use: "list", Short: "list critical results, newest first",
		Example: examples("hale results critical list --state open"),
		Args:    wantArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			query := url.Values{"limit": {strconv.Itoa(limit)}}
			setIf(query, "state", state)
			return s.showGet(c.Context(), criticalsView, "/v3/critical_result", query)
		},
	}
	c.Flags().StringVar(&state, "state", "", "only this state: open, acknowledged or closed")
	c.Flags().IntVar(&limit, "limit", 50, "number of items, at most 500")
	return c
}

func criticalPath(word string) (string, error) {
	id, err := idArg[critical.Notice]("ID", "a critical result", word, listsCritical)
	return "/v3/critical_result/" + id.String(), err
}

func (s *shell) criticalShow() *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "show a critical result, its e-mails and its acknowledgement",
		Example: examples("hale results critical show ID -o json"),
		Args:    wantArgs("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			path, err := criticalPath(args[0])
			if err != nil {
				return err
			}
			return s.showGet(c.Context(), criticalView, path, nil)
		},
	}
}

func (s *shell) criticalAcknowledge() *cobra.Command {
	var person, at, by, note string
	var readBack bool
	c := &cobra.Command{
		Use: "acknowledge ID", Aliases: []string{"ack"}, Short: "record who was notified of a critical result",
		Example: examples(`hale results critical acknowledge ID --notified "Dr. Example" --read-back`, `hale results critical acknowledge ID --notified "Dr. Example" --at 2026-03-05T08:10:00Z --by "A. Nurse"`),
		Args:    wantArgs("ID"),

		Annotations: map[string]string{"notified_at": "--at", "acknowledged_by": "--by"},
		RunE: func(c *cobra.Command, args []string) error {
			path, err := criticalPath(args[0])
			if err != nil {
				return err
			}
			if person == "" {
				return badUsagef("--notified must name the person who was notified")
			}
			body := map[string]any{"notified_person": person, "read_back": readBack}
			if at != "" {
				when, err := time.Parse(time.RFC3339, at)
				if err != nil {
					return badUsagef("--at must be a time with an offset, such as 2026-03-05T08:10:00Z")
				}
				body["notified_at"] = when
			}
			for field, text := range map[string]string{"acknowledged_by": by, "note": note} {
				if text != "" {
					body[field] = text
				}
			}
			answer, err := s.call(c.Context(), http.MethodPost, path+"/acknowledge", nil, body)
			if err != nil {
				return err
			}
			s.sayDone("acknowledged")
			return s.show(criticalView, answer)
		},
	}
	flags := c.Flags()
	flags.StringVar(&person, "notified", "", "the person who was notified, such as the ordering physician")
	flags.StringVar(&at, "at", "", "time of that conversation (default: now)")
	flags.BoolVar(&readBack, "read-back", false, "the person repeated the result")
	flags.StringVar(&by, "by", "", "the person who notified (default: the label of the API key)")
	flags.StringVar(&note, "note", "", "a note")
	return c
}
