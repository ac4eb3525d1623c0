package orders

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// After any changes, the index lists the orders of a patient's name like one pass
// over all rows.
func TestRowsOfPatientsFollowChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		index := newTeamIndex()
		last := 0
		parts := []string{"example299", "ada", "unknown"}
		draw := func(created int64) *indexRow {
			last++
			r := &indexRow{created: created}
			binary.BigEndian.PutUint64(r.id[:], uint64(last))
			r.names = searchNames{first: "ada", last: fmt.Sprintf("example%d", rapid.IntRange(0, 300).Draw(t, "name"))}
			return r
		}
		appendSome := func(n int, created int64) {
			first := len(index.ids)
			for range n {
				r := draw(created)
				at, _ := index.locate(first, key{r.created, r.id})
				first = min(first, at)
				index.append(r)
			}
			index.arrange(first, nil)
		}
		appendSome(2*patientTail, 10)
		index.byPatient.update(index)
		for range rapid.IntRange(0, 4).Draw(t, "changes") {
			switch rapid.IntRange(0, 4).Draw(t, "change") {
			case 0: // new orders
				appendSome(rapid.IntRange(1, 100).Draw(t, "new"), 20)
			case 1: // an order between the others, of another node
				appendSome(1, 5)
			case 2: // another name
				row := rapid.IntRange(0, len(index.ids)-1).Draw(t, "row")
				r := draw(index.created[row])
				r.id = index.ids[row]
				parts = append(parts, index.names.lines[index.patients[row]].text, r.names.last)
				index.set(row, r)
			case 3:
				index.arrange(0, map[ID]bool{index.ids[rapid.IntRange(0, len(index.ids)-1).Draw(t, "erased")]: true})
			case 4:
				index.byPatient.update(index)
			}
		}
		rows := index.rows
		if rapid.Bool().Draw(t, "filtered") { // every third order has passed another filter
			rows = nil
			for row := 0; row < len(index.rows); row += 3 {
				rows = append(rows, int32(row))
			}
		}
		patients, _ := index.names.find(rapid.SampledFrom(parts).Draw(t, "part"))
		want := chooseIn(make([]int32, len(rows)), rows, index.patients, patients)
		into := slices.Clone(rows) // the rows may be in the result's place
		if got := index.choosePatients(into, into, patients); !slices.Equal(got, want) {
			t.Fatalf("%d rows, want %d: %v, want %v", len(got), len(want), got, want)
		}
	})
}
