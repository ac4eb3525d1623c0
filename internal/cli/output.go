package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"hale/internal/platform/fault"
)

// Formats of output.
const (
	formatTable = "table"
	formatJSON  = "json"
	formatLines = "jsonl"
	formatID    = "id"
)

var formats = []string{formatTable, formatJSON, formatLines, formatID}

func checkFormat(format string) error {
	if !slices.Contains(formats, format) {
		return fault.New(fault.Invalid, "-o must be "+strings.Join(formats[:3], ", ")+" or "+formatID)
	}
	return nil
}

// view describes the output of a JSON result as a table. The JSON formats print the whole
// answer, and a table prints only the columns.
type view struct {
	list    string // name of the field that holds the list; empty when the answer is the list or is one thing
	id      string // field that -o id prints
	columns []column
	none    string // what to say when the list is empty
	// prepare adds fields to an item for a table; nil adds none.
	prepare func(item map[string]any)
}

// column is a title and the path of a field, dotted where fields are nested.
type column struct {
	title, path string
}

// show prints a result.
func (s *shell) show(v view, body []byte) error {
	items, one, err := v.items(body)
	if err != nil {
		return err
	}
	switch s.format {
	case formatJSON:
		if one {
			return s.printJSON(items[0])
		}
		return s.printJSON(items)
	case formatLines:
		for _, item := range items {
			line, err := json.Marshal(item)
			if err != nil {
				return err
			}
			fmt.Fprintf(s.out, "%s\n", line)
		}
		return nil
	case formatID:
		for _, item := range items {
			fmt.Fprintln(s.out, cell(field(item, v.id)))
		}
		return nil
	}
	for _, item := range items {
		if fields, ok := item.(map[string]any); ok && v.prepare != nil {
			v.prepare(fields)
		}
	}
	if one {
		return s.printCard(v, items[0])
	}
	return s.printTable(v, items)
}

// showValue prints a result that is a Go value.
func (s *shell) showValue(v view, value any) error {
	body, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return s.show(v, body)
}

// items returns the things in an answer. one reports whether the answer is a single thing
// and not a list.
func (v view) items(body []byte) (items []any, one bool, err error) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var whole any
	if err := decoder.Decode(&whole); err != nil {
		return nil, false, fmt.Errorf("the answer is not JSON: %w", err)
	}
	inner := whole
	if v.list != "" {
		inner = field(whole, v.list)
	}
	switch x := inner.(type) {
	case []any:
		return x, false, nil
	case nil:
		return []any{}, false, nil
	}
	return []any{inner}, true, nil
}

func (s *shell) printJSON(value any) error {
	encoder := json.NewEncoder(s.out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

func (s *shell) printTable(v view, items []any) error {
	if len(items) == 0 {
		if v.none != "" {
			s.say("%s", v.none)
		}
		return nil
	}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	titles := make([]string, len(v.columns))
	for i, c := range v.columns {
		titles[i] = strings.ToUpper(c.title)
	}
	fmt.Fprintln(w, strings.Join(titles, "\t"))
	for _, item := range items {
		cells := make([]string, len(v.columns))
		for i, c := range v.columns {
			cells[i] = shortenTime(cell(field(item, c.path)))
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	return w.Flush()
}

// printCard shows one thing, a line for each column.
func (s *shell) printCard(v view, item any) error {
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	for _, c := range v.columns {
		fmt.Fprintf(w, "%s\t%s\n", c.title, shortenTime(cell(field(item, c.path))))
	}
	return w.Flush()
}

// field follows a dotted path into a value, and returns nil if the path does not exist.
// In a list it returns the field of each item.
func field(value any, path string) any {
	name, rest, nested := strings.Cut(path, ".")
	switch x := value.(type) {
	case map[string]any:
		if !nested {
			return x[name]
		}
		return field(x[name], rest)
	case []any:
		picked := make([]any, len(x))
		for i, item := range x {
			picked[i] = field(item, path)
		}
		return picked
	}
	return nil
}

// cell returns a value as text for one line of a table; an empty value is "-".
func cell(value any) string {
	switch x := value.(type) {
	case nil:
		return "-"
	case string:
		if x == "" {
			return "-"
		}
		return oneLine(x)
	case []any:
		if len(x) == 0 {
			return "-"
		}
		parts := make([]string, len(x))
		for i, item := range x {
			parts[i] = cell(item)
		}
		return strings.Join(parts, ",")
	case map[string]any:
		text, err := json.Marshal(x)
		if err != nil {
			return "-"
		}
		return string(text)
	}
	return fmt.Sprint(value)
}

// shortenTime shortens a time of day to UTC without fractions; other texts stay.
func shortenTime(text string) string {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at.UTC().Format("2006-01-02 15:04:05Z")
	}
	return text
}

// oneLine replaces the control characters of foreign text, so that they do not reach the
// terminal.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, text)
}

// say prints a message to stderr. Results go to stdout.
func (s *shell) say(format string, args ...any) { fmt.Fprintf(s.err, format+"\n", args...) }

// sayDone prints a message about a success if the output is a table. The other formats
// are for programs, which want only results.
func (s *shell) sayDone(format string, args ...any) {
	if s.format == formatTable {
		s.say(format, args...)
	}
}

// paint colors a word by a verdict, on a terminal whose user allows colors
// (https://no-color.org).
func (s *shell) paint(verdict, text string) string {
	if noColor, _ := s.lookupEnv("NO_COLOR"); !s.colour || noColor != "" {
		return text
	}
	codes := map[string]string{verdictOK: "32", verdictWarning: "33", verdictBroken: "31"}
	return "\x1b[" + codes[verdict] + "m" + text + "\x1b[0m"
}
