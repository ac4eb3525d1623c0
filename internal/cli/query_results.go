package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
)

// table is the result of a query: columns of equal length, in the order of
// what was selected.
type table struct {
	names   []string
	columns [][]any
}

// UnmarshalJSON reads {column: [values]} and keeps the order of the columns,
// which a map would lose.
func (t *table) UnmarshalJSON(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if _, err := decoder.Token(); err != nil {
		return err
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return err
		}
		var values []any
		if err := decoder.Decode(&values); err != nil {
			return err
		}
		if len(t.columns) > 0 && len(values) != t.rows() {
			return errors.New("its columns differ in length")
		}
		t.names, t.columns = append(t.names, fmt.Sprint(name)), append(t.columns, values)
	}
	return nil
}

// rows counts the rows.
func (t *table) rows() int {
	if len(t.columns) == 0 {
		return 0
	}
	return len(t.columns[0])
}

// showResults prints the answer unchanged, as a line for each row, or as tables.
func (s *shell) showResults(answer []byte) error {
	if s.format == formatJSON {
		s.printBody(answer)
		return nil
	}
	var results struct {
		Results []struct {
			Table table `json:"table"`
		} `json:"results"`
	}
	if err := json.Unmarshal(answer, &results); err != nil {
		return fmt.Errorf("unexpected answer: %w", err)
	}
	for i := range results.Results {
		t := &results.Results[i].Table
		var err error
		switch {
		case s.format == formatLines:
			err = s.printLines(t)
		case t.rows() == 0:
			s.say("no rows")
		default:
			if i > 0 {
				fmt.Fprintln(s.out)
			}
			err = s.printColumns(t)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// printLines prints an object for each row, with its columns in order.
func (s *shell) printLines(t *table) error {
	for row := range t.rows() {
		var line bytes.Buffer
		for i, name := range t.names {
			key, err := json.Marshal(name)
			if err != nil {
				return err
			}
			value, err := json.Marshal(t.columns[i][row])
			if err != nil {
				return err
			}
			line.WriteByte("{,"[min(i, 1)])
			line.Write(key)
			line.WriteByte(':')
			line.Write(value)
		}
		fmt.Fprintf(s.out, "%s}\n", line.Bytes())
	}
	return nil
}

// printColumns prints a table for people.
func (s *shell) printColumns(t *table) error {
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.ToUpper(strings.Join(t.names, "\t")))
	for row := range t.rows() {
		cells := make([]string, len(t.columns))
		for i := range t.columns {
			cells[i] = cell(t.columns[i][row])
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	return w.Flush()
}
