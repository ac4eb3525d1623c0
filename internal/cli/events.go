package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"hale/internal/app"
)

func (s *shell) eventsCommand() *cobra.Command {
	return s.calls(noun(&cobra.Command{
		Use: "events", Short: "read the event feed",
		Long: `Read the event feed. The events of a team have the numbers 1, 2, 3, … without a gap.
A reader that continues after its last number misses no event.`,
		Example: examples("hale events list --after 0", "hale events tail", "hale events types"),
	}, s.eventsList(), s.eventsTail(), s.eventsTypes()))
}

var eventsView = view{
	list: "events", id: "id",
	columns: []column{{"number", "seq"}, {"type", "event_type"}, {"user", "event.user_id"}, {"created", "created_at"}, {"id", "id"}},
	none:    "no events after that number",
}

func (s *shell) eventsList() *cobra.Command {
	var after int64
	var limit int
	var types []string
	c := &cobra.Command{
		Use: "list", Short: "list events after a number",
		Example: examples(
			"hale events list --after 0 --limit 20",
			"hale events list --after 1200 --types daily.data.sleep.created -o jsonl",
		),
		Args: wantArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			query := url.Values{
				"after": {strconv.FormatInt(after, 10)}, "limit": {strconv.Itoa(limit)}, "types": types,
			}
			body, err := s.call(c.Context(), http.MethodGet, "/v2/events", query, nil)
			if err != nil {
				return err
			}
			var page feedPage
			if err := json.Unmarshal(body, &page); err != nil {
				return err
			}
			if page.HasMore {
				s.sayDone("more events follow: --after %d", page.Next)
			}
			return s.show(eventsView, body)
		},
	}
	c.Flags().Int64Var(&after, "after", 0, "list the events after this number")
	c.Flags().IntVar(&limit, "limit", 100, "number of items, at most 1000")
	addTypes(c, &types)
	return c
}

func addTypes(c *cobra.Command, types *[]string) {
	c.Flags().StringSliceVar(types, "types", nil, "only these event types; separated by commas or repeated")
	_ = c.RegisterFlagCompletionFunc("types", completeTypes)
}

// completeTypes completes the names of event types in a shell.
func completeTypes(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, t := range app.EventTypes().Types() {
		names = append(names, t.Name+"\t"+t.Sentence)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (s *shell) eventsTail() *cobra.Command {
	var after int64
	var types []string
	c := &cobra.Command{
		Use: "tail", Short: "print events as they happen",
		Long: `Print events as they happen, until Ctrl-C. The first one is the next event, or the
event after the number given by --after. -o jsonl prints whole events.`,
		Example: examples("hale events tail", "hale events tail --after 0 --types provider.connection.created -o jsonl"),
		Args:    wantArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			f, err := s.feed(types)
			if err != nil {
				return err
			}
			if !c.Flags().Changed("after") {
				if after, err = s.lastNumber(c.Context()); err != nil {
					return err
				}
			}
			return followError(f.follow(c.Context(), after, s.printEvent))
		},
	}
	c.Flags().Int64Var(&after, "after", 0, "start after this number instead of now")
	addTypes(c, &types)
	return c
}

func (s *shell) printEvent(e feedEvent) error {
	switch s.format {
	case formatID:
		fmt.Fprintln(s.out, e.ID)
	case formatTable:
		fmt.Fprintf(s.out, "%8d  %s  %s\n", e.Seq, e.ID, e.Type)
	default:
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		fmt.Fprintf(s.out, "%s\n", line)
	}
	return nil
}

// feed returns a reader of the feed. The reader prints a message while the server is
// unavailable.
func (s *shell) feed(types []string) (feed, error) {
	server, err := s.client()
	return feed{server: server, types: types, away: func(err error) { s.say("%s; trying again", plainWords(err.Error())) }}, err
}

// lastNumber returns the number of the newest event, or 0 if there is none.
func (s *shell) lastNumber(ctx context.Context) (int64, error) {
	var page feedPage
	err := s.get(ctx, "/v2/events", url.Values{"limit": {"1"}}, &page)
	return page.Last, err
}

// followError returns nil if Ctrl-C ended an endless command, which is no failure. It returns
// other errors unchanged.
func followError(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func (s *shell) eventsTypes() *cobra.Command {
	return &cobra.Command{
		Use: "types", Short: "list all event types",
		Example: examples("hale events types", "hale events types -o id | grep sleep"),
		Args:    wantArgs(),
		RunE: func(*cobra.Command, []string) error {
			type line struct {
				Name     string `json:"event_type"`
				Sentence string `json:"sentence"`
			}
			var lines []line
			for _, t := range app.EventTypes().Types() {
				lines = append(lines, line{t.Name, t.Sentence})
			}
			return s.showValue(view{id: "event_type", columns: []column{{"type", "event_type"}, {"description", "sentence"}}}, lines)
		},
	}
}
