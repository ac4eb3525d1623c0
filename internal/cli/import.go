package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hale/internal/cli/client"
	"hale/internal/cli/progress"
	"hale/internal/wearables/imports"
)

// importOrder holds the options of an import command.
type importOrder struct {
	kind        string // empty lets the server recognise it
	user        string
	historyOnly bool
	noWait      bool
}

func (s *shell) importCommand() *cobra.Command {
	c := s.calls(s.importVerb(&cobra.Command{
		Use: "import FILE", Short: "import a file of health data",
		Long: `Import a file of health data for a user. The file is an export, such as the
export.zip of Apple Health, or a recording, such as a FIT, TCX or GPX file. Hale
recognizes the kind of the file from its content. You can also name the kind; a dash and an
underscore are the same: apple-health, apple_health.

The file streams to the server, which answers when it is on disk. Ctrl-C, or a
restart of the server, does not stop the import after that. Importing a file
again is safe: data that did not change stays the same.`,
		Example: examples(
			"hale import export.zip --user anna",
			"hale import morning-run.fit --user anna",
			"hale import apple-health export.xml --user 0198… --history-only",
			"hale import export.zip --user anna --no-wait -o id",
		),
	}, ""))
	one := c.Args
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 2 { // a word before the file, which is no sub-command
			return withHint(badUsagef("takes one FILE; %q is not a kind of file", args[0]), "hale import --help lists the kinds; without a kind Hale recognizes the file")
		}
		return one(c, args)
	}
	for _, name := range imports.Kinds() { // a sub-command names the kind; without one the server recognises it
		kind := strings.ReplaceAll(name, "_", "-")
		c.AddCommand(s.importVerb(&cobra.Command{
			Use: kind + " FILE", Short: "import a file of the kind " + kind,
			Example: examples("hale import " + kind + " FILE --user anna"),
			Aliases: aliasesOf(kind),
		}, kind))
	}
	return c
}

// aliasesOf returns the spelling of a kind with underscores, as the API and the
// documentation of formats write it.
func aliasesOf(kind string) []string {
	if name := strings.ReplaceAll(kind, "-", "_"); name != kind {
		return []string{name}
	}
	return nil
}

func (s *shell) importVerb(c *cobra.Command, kind string) *cobra.Command {
	order := importOrder{kind: kind}
	c.Args = wantArgs("FILE")
	flags := c.Flags()
	flags.StringVar(&order.user, "user", "", "owner of the data: user_id or client_user_id")
	flags.BoolVar(&order.historyOnly, "history-only", false, "send only historical events, no event for each value")
	flags.BoolVar(&order.noWait, "no-wait", false, "exit after the upload")
	c.RunE = func(c *cobra.Command, args []string) error {
		if order.user == "" {
			return badUsagef("needs --user, a user_id or client_user_id")
		}
		return s.importFile(c.Context(), args[0], order)
	}
	return c
}

// importState holds the fields of an import that the command reads.
type importState struct {
	ID       string `json:"id"`
	Status   string `json:"status"`
	Error    string `json:"error"`
	Progress struct {
		Step    string `json:"step"`
		Done    int64  `json:"bytes_done"`
		Total   int64  `json:"bytes_total"`
		Records int64  `json:"records"`
	} `json:"progress"`
	Report struct {
		Truncated bool `json:"truncated"`
		Types     map[string]struct {
			Read   int64 `json:"read"`
			Mapped int64 `json:"mapped"`
			Copies int64 `json:"copies"`
		} `json:"types"`
		FirstSkipped map[string]struct {
			Record int64  `json:"record"`
			Reason string `json:"reason"`
		} `json:"first_skipped"`
		Rejections    map[string]int64 `json:"rejections"` // by resource: rule
		FirstRejected map[string]struct {
			At         string `json:"at"`
			SourceType string `json:"source_type"`
		} `json:"first_rejected"`
	} `json:"report"`
}

var importView = view{
	id: "id",
	columns: []column{
		{"import", "id"},
		{"kind", "kind"},
		{"status", "status"},
		{"records", "progress.records"},
		{"created", "created"},
		{"updated", "updated"},
		{"unchanged", "unchanged"},
		{"rejected", "rejected"},
		{"skipped", "skipped"},
		{"duplicates", "report.copies"},
		{"days", "report.days"},
		{"workouts", "report.workouts"},
		{"damaged sections", "report.damaged"},
		{"truncated", "report.truncated"},
		{"error", "error"},
	},
}

func (s *shell) importFile(ctx context.Context, path string, order importOrder) error {
	file, size, err := openExport(path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, user, err := s.findUser(ctx, order.user)
	if err != nil {
		return err
	}
	body, err := s.upload(ctx, file, size, user, order)
	if err != nil {
		return err
	}
	var started importState
	if err := json.Unmarshal(body, &started); err != nil {
		return fmt.Errorf("unexpected answer to the upload: %w", err)
	}
	if order.noWait {
		s.sayDone("uploaded; hale jobs wait %s waits for the import", started.ID)
		return s.show(importView, body)
	}
	return s.awaitImport(ctx, client.Path("v2", "user", user, "imports", started.ID), started.ID)
}

// openExport opens a file and returns its size. It refuses files that cannot be uploaded.
func openExport(path string) (*os.File, int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, fileTrouble(path, err)
	}
	if info.IsDir() {
		return nil, 0, withHint(badUsagef("%s is a folder", path), "name a file in it")
	}
	if info.Size() == 0 {
		return nil, 0, badUsagef("%s is empty", path)
	}
	file, err := os.Open(path)
	return file, info.Size(), fileTrouble(path, err)
}

func (s *shell) upload(ctx context.Context, file *os.File, size int64, user string, order importOrder) (json.RawMessage, error) {
	server, err := s.client()
	if err != nil {
		return nil, err
	}
	if size > wholeAtOnce {
		return s.uploadInParts(ctx, server, file, size, user, order)
	}
	query := url.Values{}
	if order.kind != "" {
		query.Set("kind", order.kind)
	}
	if order.historyOnly {
		query.Set("history_only", "true")
	}
	meter := progress.Start(s.err, progress.Options{Label: "upload", Unit: progress.Bytes, Total: size, Terminal: s.terminal})
	body, err := server.Call(ctx, client.Request{
		Method: http.MethodPost, Path: client.Path("v2", "user", user, "imports"), Query: query,
		Raw: meter.Reader(file), Length: size, Timeout: -1,
		Header: http.Header{"Content-Type": {"application/octet-stream"}},
	})
	meter.Finish(err == nil)
	if errors.Is(err, context.Canceled) {
		return nil, withHint(errInterrupted, "nothing was imported; run the same command to start again")
	}
	return body, err
}

// awaitImport follows the import of an upload and reports its outcome. It shows the
// number of records, but the percentage and the remaining time come from bytes.
func (s *shell) awaitImport(ctx context.Context, path, id string) error {
	var state importState
	body, err := s.await(ctx, path, waitedFor{label: "import", unit: progress.Bytes, read: func(body []byte) (step, error) {
		state = importState{}
		if err := json.Unmarshal(body, &state); err != nil {
			return step{}, err
		}
		p := state.Progress
		note := progress.Count(p.Records) + " records"
		if p.Step != "" && p.Step != "reading" {
			note += ", " + p.Step
		}
		return step{done: p.Done, total: p.Total, note: note, over: hasEnded(state.Status), ok: state.Status == jobSucceeded}, nil
	}})
	if errors.Is(err, context.Canceled) {
		return withHint(errInterrupted, "the import continues on the server: hale jobs wait %s waits for it, hale jobs cancel %s stops it", id, id)
	}
	if err != nil {
		return err
	}
	if err := s.show(importView, body); err != nil {
		return err
	}
	if state.Report.Truncated {
		s.say("truncated: the file ends in the middle; the data before that was imported")
	}
	s.sayRejected(&state)
	s.sayLeft(&state)
	return outcome("import", state.Status, state.Error)
}

// mostLeft limits how many left-out types of records are printed.
const mostLeft = 12

// sayLeft prints the data that was left out, with the reasons, most frequent first.
// Programs read the report instead.
func (s *shell) sayLeft(state *importState) {
	types := slices.SortedFunc(maps.Keys(state.Report.FirstSkipped), func(a, b string) int {
		return cmp.Or(cmp.Compare(state.left(b), state.left(a)), cmp.Compare(a, b))
	})
	for i, name := range types {
		if i == mostLeft {
			s.sayDone("and %d more types; -o json lists all", len(types)-i)
			return
		}
		first := state.Report.FirstSkipped[name]
		where := ""
		if first.Record > 0 {
			where = fmt.Sprintf(", first at record %d of this type", first.Record)
		}
		s.sayDone("skipped: %d of %s (%s%s)", state.left(name), name, leftReason(first.Reason), where)
	}
}

// sayRejected prints the rules that values broke, most frequent first.
func (s *shell) sayRejected(state *importState) {
	all := state.Report.Rejections
	rules := slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return cmp.Or(cmp.Compare(all[b], all[a]), cmp.Compare(a, b))
	})
	for i, name := range rules {
		if i == mostLeft {
			s.sayDone("and %d more rules; -o json lists all", len(rules)-i)
			return
		}
		first, example := state.Report.FirstRejected[name], ""
		if first.At != "" {
			example = ", first at " + first.At
		}
		if first.SourceType != "" {
			example += " of source type " + first.SourceType
		}
		resource, rule, _ := strings.Cut(name, ": ")
		s.sayDone("rejected: %d of %s (%s%s)", all[name], resource, leftReason(rule), example)
	}
}

// left counts the left-out records of a type.
func (s *importState) left(name string) int64 {
	t := s.Report.Types[name]
	return t.Read - t.Mapped - t.Copies
}

// leftReason returns a reason as text for people.
func leftReason(word string) string {
	if word == "skipped" {
		return "no matching resource"
	}
	return strings.ReplaceAll(word, "_", " ")
}
