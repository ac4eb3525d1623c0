package catalogue

import (
	"context"
	"sync"
	"testing"
	"time"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// fixture is a database with a team.
type fixture struct {
	*testing.T
	db   *store.DB
	team teams.Team
	ctx  context.Context
}

// forEachEngine runs fn on both engines with a sandbox team that has its seeded
// tests.
func forEachEngine(t *testing.T, fn func(r *fixture)) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		fn(newFixture(t, db, teams.Sandbox))
	})
}

func newFixture(t *testing.T, db *store.DB, env teams.Environment) *fixture {
	t.Helper()
	r := &fixture{T: t, db: db, ctx: store.AsSystem(t.Context())}
	r.write(func(tx *store.Tx) (err error) {
		if r.team, err = teams.Create(r.ctx, tx, "Example team", env); err != nil {
			return err
		}
		return Seed(r.ctx, tx, r.team)
	})
	return r
}

func (r *fixture) write(fn func(tx *store.Tx) error) {
	r.Helper()
	if err := r.db.Write(r.ctx, fn); err != nil {
		r.Fatal(err)
	}
}

func (r *fixture) read(fn func(tx *store.Tx) error) {
	r.Helper()
	if err := r.db.Read(r.ctx, fn); err != nil {
		r.Fatal(err)
	}
}

func (r *fixture) catalogue() (c *Catalogue) {
	r.Helper()
	r.read(func(tx *store.Tx) (err error) {
		c, err = Load(r.ctx, tx, r.team.ID)
		return err
	})
	return c
}

func (r *fixture) tests(f TestFilter) (all []Test) {
	r.Helper()
	r.read(func(tx *store.Tx) (err error) {
		all, err = ListTests(r.ctx, tx, r.team.ID, f)
		return err
	})
	return all
}

// seeded returns the team's seeded lab test of a method.
func (r *fixture) seeded(m Method) Test {
	r.Helper()
	all := r.tests(TestFilter{Methods: []Method{m}})
	if len(all) != 1 {
		r.Fatalf("%d lab tests by %s", len(all), m)
	}
	return all[0]
}

// id returns a marker's id from its lab and number in markers.csv.
func id(lab LabID, number int64) MarkerID { return lab*perLab + number }

const (
	labcorp LabID = 1
	quest   LabID = 2
	birch   LabID = 3
)

func TestSeededTests(t *testing.T) {
	forEachEngine(t, func(r *fixture) {
		for range 2 { // seeding again changes nothing
			r.write(func(tx *store.Tx) error { return Seed(r.ctx, tx, r.team) })
			if all := r.tests(TestFilter{}); len(all) != 4 {
				r.Fatalf("%d lab tests", len(all))
			}
		}
		c := r.catalogue()
		for _, m := range Methods {
			seeded := r.seeded(m)
			if seeded.Status() != Active || seeded.PriceMinor == 0 || len(c.MarkersOf(seeded)) != len(seeded.MarkerIDs) {
				r.Errorf("%s: %+v", m, seeded)
			}
			l, _ := c.Lab(seeded.Lab)
			if err := checkMethod(l, c.MarkersOf(seeded), m, "method"); err != nil {
				r.Errorf("%s: %v", m, err)
			}
		}
		other := newFixture(r.T, r.db, teams.Production)
		if all := other.tests(TestFilter{}); len(all) != 0 {
			r.Errorf("a production team has %d invented lab tests", len(all))
		}
		if labs := other.catalogue().Labs(); len(labs) != 0 {
			r.Errorf("a production team sees %d invented labs", len(labs))
		}
	})
}

func TestCreateChangeAndDeleteALabTest(t *testing.T) {
	forEachEngine(t, func(r *fixture) {
		change := func(of teams.ID, id TestID, u TestUpdate) (got Test) {
			r.write(func(tx *store.Tx) (err error) { got, err = UpdateTest(r.ctx, tx, of, id, u); return err })
			return got
		}
		yes, no, name := true, false, "Renamed Panel"
		n := NewTest{Name: " My Panel ", Description: "d", Method: WalkIn, MarkerIDs: []MarkerID{id(quest, 2), id(quest, 10), id(quest, 2)}}
		var made Test
		r.write(func(tx *store.Tx) (err error) { made, err = CreateTest(r.ctx, tx, r.team.ID, n); return err })
		if made.Status() != PendingApproval || made.Name != "My Panel" || made.Slug != "my-panel" || !made.Fasting || made.PriceMinor != 3100 || len(made.MarkerIDs) != 2 {
			r.Errorf("made %+v", made)
		}
		r.read(func(tx *store.Tx) error {
			got, err := GetTest(r.ctx, tx, r.team.ID, made.ID)
			if got.CreatedAt != made.CreatedAt || got.Fasting != made.Fasting || len(got.MarkerIDs) != 2 {
				r.Errorf("read %+v, made %+v", got, made)
			}
			return err
		})
		if got := change(r.team.ID, made.ID, TestUpdate{Active: &no}); got.Status() != Inactive {
			r.Errorf("archived: %s", got.Status())
		}
		if got := change(r.team.ID, made.ID, TestUpdate{Active: &yes, Name: &name}); got.Status() != Active || got.Slug != "renamed-panel" {
			r.Errorf("unarchived: %s %s", got.Status(), got.Slug)
		}
		for status, want := range map[TestStatus]int{Active: 5, Inactive: 0, PendingApproval: 0} {
			if got := r.tests(TestFilter{Statuses: []TestStatus{status}}); len(got) != want {
				r.Errorf("%d tests are %s, want %d", len(got), status, want)
			}
		}
		other := newFixture(r.T, r.db, teams.Production)
		err := r.db.Write(r.ctx, func(tx *store.Tx) error {
			_, err := UpdateTest(r.ctx, tx, other.team.ID, made.ID, TestUpdate{Name: &name})
			return err
		})
		if err == nil || err.Error() != "Lab test does not exist" {
			r.Errorf("another team's lab test: %v", err)
		}
	})
}

func TestProductionApproves(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, teams.Production)
		r.write(func(tx *store.Tx) error {
			_, err := Import(r.ctx, tx, "", acmeLab(), acmeList(), true)
			return err
		})
		l, _ := r.catalogue().LabBySlug("acme_lab")
		m, _ := r.catalogue().MarkerByCode(l.ID, "A1")
		var made Test
		r.write(func(tx *store.Tx) (err error) {
			made, err = CreateTest(r.ctx, tx, r.team.ID, NewTest{Name: "n", Method: WalkIn, MarkerIDs: []MarkerID{m.ID}})
			return err
		})
		yes := true
		r.write(func(tx *store.Tx) (err error) {
			made, err = UpdateTest(r.ctx, tx, r.team.ID, made.ID, TestUpdate{Active: &yes})
			return err
		})
		if made.Status() != PendingApproval {
			r.Errorf("a team approved its own lab test: %s", made.Status())
		}
		r.write(func(tx *store.Tx) (err error) { made, err = ApproveTest(r.ctx, tx, r.team.ID, made.ID); return err })
		if made.Status() != Active {
			r.Errorf("approved: %s", made.Status())
		}
	})
}

func TestListOfLabTests(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	storetest.EachAt(t, func() time.Time { now = now.Add(time.Second); return now }, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, teams.Sandbox)
		for i, numbers := range [][]MarkerID{{2}, {2, 8}, {8, 13}, {13}} {
			n := NewTest{Name: string(rune('A'+i)) + "_100%", Method: WalkIn}
			for _, number := range numbers {
				n.MarkerIDs = append(n.MarkerIDs, id(labcorp, number))
			}
			r.write(func(tx *store.Tx) error { _, err := CreateTest(r.ctx, tx, r.team.ID, n); return err })
		}
		names := func(f TestFilter) (s string) {
			f.Statuses = []TestStatus{PendingApproval}
			for _, t := range r.tests(f) {
				s += t.Name[:1]
			}
			return s
		}
		lab, unknown := labcorp, LabID(99)
		code := "800008"
		for _, x := range []struct {
			f    TestFilter
			want string
		}{
			{TestFilter{}, "ABCD"},
			{TestFilter{Descending: true}, "DCBA"},
			{TestFilter{Order: ByPrice}, "ADBC"},
			{TestFilter{Order: ByPrice, Descending: true, Limit: 2}, "CB"},
			{TestFilter{MarkerIDs: []MarkerID{id(lab, 2)}}, "AB"},
			{TestFilter{MarkerIDs: []MarkerID{id(lab, 8), id(lab, 2), id(lab, 2)}}, "B"},
			{TestFilter{ProviderIDs: []string{code}}, "BC"},
			{TestFilter{Name: "b_1"}, "B"},
			{TestFilter{Name: "%"}, "ABCD"},
			{TestFilter{Name: "x"}, ""},
			{TestFilter{Labs: []LabID{lab, unknown}}, "ABCD"},
			{TestFilter{Labs: []LabID{unknown}}, ""},
			{TestFilter{Methods: []Method{TestKit}}, ""},
		} {
			if got := names(x.f); got != x.want {
				r.Errorf("%+v: %s, want %s", x.f, got, x.want)
			}
		}
		for _, order := range []TestOrder{ByCreation, ByUpdate, ByPrice} {
			for _, descending := range []bool{false, true} {
				f := TestFilter{Order: order, Descending: descending, Limit: 3}
				whole := r.tests(TestFilter{Order: order, Descending: descending})
				var pages []Test
				for {
					page := r.tests(f)
					if pages = append(pages, page...); len(page) < f.Limit {
						break
					}
					place := f.Place(page[len(page)-1])
					f.After = &place
				}
				if len(pages) != 8 || len(whole) != 8 {
					r.Fatalf("%s: %d by page, %d at once", order, len(pages), len(whole))
				}
				for i := range pages {
					if pages[i].ID != whole[i].ID {
						r.Errorf("%s, descending %t: place %d differs", order, descending, i)
					}
				}
			}
		}
	})
}

// Two orders of the same single markers use the same generated lab test. An
// archived one is active again when its markers are ordered.
func TestGeneratedTests(t *testing.T) {
	forEachEngine(t, func(r *fixture) {
		var first, second, third Panel
		r.write(func(tx *store.Tx) (err error) {
			first, err = PanelOf(r.ctx, tx, r.team.ID, []MarkerID{id(quest, 2), id(quest, 10)}, WalkIn)
			return err
		})
		if got := first.Test; got.Slug == "" || !got.AutoGenerated || got.Status() != Active {
			r.Errorf("generated %+v", got)
		}
		off := false
		r.write(func(tx *store.Tx) error {
			_, err := UpdateTest(r.ctx, tx, r.team.ID, first.Test.ID, TestUpdate{Active: &off})
			return err
		})
		r.write(func(tx *store.Tx) (err error) {
			way := WalkIn
			second, err = ResolveOrderSet(r.ctx, tx, r.team.ID, OrderSet{MarkerIDs: []MarkerID{id(quest, 10), id(quest, 2)}}, &way, nil)
			return err
		})
		r.read(func(tx *store.Tx) error {
			stored, err := GetTest(r.ctx, tx, r.team.ID, first.Test.ID)
			if second.Test.ID != first.Test.ID || second.Test.Status() != Active || stored.Status() != Active {
				r.Errorf("ordered again: %+v", second.Test)
			}
			return err
		})
		r.write(func(tx *store.Tx) (err error) {
			third, err = PanelOf(r.ctx, tx, r.team.ID, []MarkerID{id(quest, 2), id(quest, 10)}, WalkIn)
			return err
		})
		if third.Test.ID != first.Test.ID {
			r.Error("the same markers made another lab test")
		}
	})
}

// Concurrent changes of a lab test do not undo each other.
func TestChangesAtOnce(t *testing.T) {
	forEachEngine(t, func(r *fixture) {
		id := r.seeded(WalkIn).ID
		name, off := "Another name", false
		var once sync.Once
		begun, done := make(chan struct{}), make(chan error, 1)
		go func() {
			done <- r.db.Write(r.ctx, func(tx *store.Tx) error {
				_, err := UpdateTest(r.ctx, tx, r.team.ID, id, TestUpdate{Name: &name})
				once.Do(func() { close(begun) })
				time.Sleep(100 * time.Millisecond) // the other one is in progress
				return err
			})
		}()
		<-begun
		r.write(func(tx *store.Tx) error {
			_, err := UpdateTest(r.ctx, tx, r.team.ID, id, TestUpdate{Active: &off})
			return err
		})
		if err := <-done; err != nil {
			r.Fatal(err)
		}
		r.read(func(tx *store.Tx) error {
			got, err := GetTest(r.ctx, tx, r.team.ID, id)
			if got.Name != name || got.Status() != Inactive {
				r.Errorf("%s, %s", got.Name, got.Status())
			}
			return err
		})
	})
}

// A retired import does not affect the sandbox's own markers: new teams are
// created, and can order their tests.
func TestImportedMarkersThatAreRetired(t *testing.T) {
	forEachEngine(t, func(r *fixture) {
		real := acmeLab()
		real.Slug = "quest"
		list := acmeList()
		list.Markers[0].ProviderID, list.Markers[1].ProviderID = "70002", "70007"
		list.Markers[1].Unorderable = true
		r.write(func(tx *store.Tx) error { _, err := Import(r.ctx, tx, "quest", real, list, true); return err })
		list.Markers = list.Markers[1:]
		r.write(func(tx *store.Tx) error { _, err := Import(r.ctx, tx, "quest", nil, list, true); return err })
		other := newFixture(r.T, r.db, teams.Sandbox)
		if m, ok := other.catalogue().MarkerByCode(quest, "70002"); !ok || !m.Active || m.ID != id(quest, 2) {
			r.Errorf("the code is that of %+v", m)
		}
		if m, ok := other.catalogue().MarkerByCode(quest, "70007"); !ok || m.Name != "Small Panel" {
			r.Errorf("the code is that of %+v", m)
		}
		seeded := other.seeded(WalkIn)
		other.write(func(tx *store.Tx) error {
			_, err := ResolveOrderSet(other.ctx, tx, other.team.ID, OrderSet{TestIDs: []TestID{seeded.ID}}, nil, nil)
			return err
		})
	})
}
