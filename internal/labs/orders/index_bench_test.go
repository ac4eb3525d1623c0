package orders

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/platform/civil"
)

// BenchmarkMatch filters a million orders, of 50,000 people and of a million,
// and selects a page. It does not read the rows of the page.
func BenchmarkMatch(b *testing.B) {
	today := civil.MustParse("2026-03-01")
	yes := true
	month := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	end := month.AddDate(0, 1, 0)
	cases := []struct {
		name string
		f    Filter
	}{
		{"nothing", Filter{}},
		{"status", Filter{Statuses: []Status{Completed, PartialResults}}},
		{"month", Filter{Created: Span{&month, &end}}},
		{"critical", Filter{Critical: &yes}},
		{"name one in ten", Filter{PatientName: "ada"}},
		{"name of a person", Filter{PatientName: "ada example7b3"}},
		{"search one in ten", Filter{Search: "ada"}},
		{"search a letter", Filter{Search: "a"}},
		{"search a birth date", Filter{Search: "1950-01-08"}},
		{"search without a hit", Filter{Search: "zzyzx"}},
		{"search an id", Filter{Search: "01234567-89ab"}},
		{"by name, deep", Filter{Key: ByPatientName, Page: 19_000}},
		{"by status, deep", Filter{Key: ByLastStatus, Page: 19_000}},
		{"by update, deep", Filter{Key: ByUpdate, Page: 19_000}},
		{"by creation, cursor", Filter{After: &Cursor{}}},
		{"by name, cursor", Filter{Key: ByPatientName, After: &Cursor{Next: 1}}},
		{"by update, cursor", Filter{Key: ByUpdate, After: &Cursor{Next: 1}}},
		{"many", Filter{
			Statuses: []Status{Completed, Ordered}, Methods: []Method{catalogue.WalkIn, catalogue.TestKit}, Activations: []Activation{CurrentOrders},
			PatientName: "a", Recipient: "e", Search: "r", Updated: Span{From: &month}, Key: ByLastStatus,
		}},
	}
	for _, people := range []int{50_000, 1_000_000} {
		m := filledIndex(1_000_000, people)
		for _, c := range cases {
			c.f.Page, c.f.Size = max(1, c.f.Page), 50
			if c.f.After != nil {
				c.f.After.After = []Anchor{{m.created[500_000], m.ids[500_000]}}
			}
			b.Run(fmt.Sprintf("%s/people=%d", c.name, people), func(b *testing.B) {
				for b.Loop() {
					into := m.buffer()
					m.page(m.match(*into, c.f, m.rows, nil, today), c.f)
					m.buffers.Put(into)
				}
			})
		}
	}
}

// BenchmarkFill fills an index without reading or unsealing.
func BenchmarkFill(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		filledIndex(1_000_000, 50_000)
	}
}

// filledIndex returns the index of a year's orders.
func filledIndex(orders, people int) *teamIndex {
	rng := rand.New(rand.NewPCG(1, 2))
	id := func(n int) (id [16]byte) {
		binary.BigEndian.PutUint64(id[:], uint64(n))
		binary.LittleEndian.PutUint64(id[8:], rng.Uint64())
		return id
	}
	first := []string{"ada", "grace", "alan", "edsger", "barbara", "donald", "frances", "john", "radia", "ken"}
	persons := make([]indexRow, people)
	for i := range persons {
		persons[i].user = id(i)
		n := searchNames{first: first[rng.IntN(10)], last: fmt.Sprintf("example%x", i), birth: 19500101 + int32(rng.IntN(28))}
		n.recipient = n.first + " " + n.last
		persons[i].names = n
	}
	year := time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC)
	m := newTeamIndex()
	for i := range orders {
		r := persons[i%people]
		r.id = id(i)
		r.created = year.Add(time.Duration(rng.Int64N(int64(365 * 24 * time.Hour)))).UnixMicro()
		r.updated, r.kind = r.created+1, kindOf(Statuses[rng.IntN(len(Statuses))], catalogue.Methods[rng.IntN(len(catalogue.Methods))])
		r.result = resultOf(Interpretations[rng.IntN(len(Interpretations))], rng.IntN(10) == 0)
		m.append(&r)
	}
	m.arrange(0, nil)
	m.byPatient.update(m)
	return m
}
