package catalogue

import (
	"context"
	"testing"
	"time"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// rig is a team at a database.
type rig struct {
	*testing.T
	db   *store.DB
	team teams.Team
	ctx  context.Context
}

// each runs fn on both engines with a sandbox team that has its seeded tests.
func each(t *testing.T, fn func(r *rig)) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		fn(newRig(t, db, teams.Sandbox))
	})
}

func newRig(t *testing.T, db *store.DB, env teams.Environment) *rig {
	t.Helper()
	r := &rig{T: t, db: db, ctx: store.AsSystem(t.Context())}
	r.write(func(tx *store.Tx) (err error) {
		if r.team, err = teams.Create(r.ctx, tx, "Example team", env); err != nil {
			return err
		}
		return Seed(r.ctx, tx, r.team)
	})
	return r
}

func (r *rig) write(fn func(tx *store.Tx) error) {
	r.Helper()
	if err := r.db.Write(r.ctx, fn); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) read(fn func(tx *store.Tx) error) {
	r.Helper()
	if err := r.db.Read(r.ctx, fn); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) catalogue() (c *Catalogue) {
	r.Helper()
	r.read(func(tx *store.Tx) (err error) {
		c, err = For(r.ctx, tx, r.team.ID)
		return err
	})
	return c
}

func (r *rig) tests(f TestFilter) (all []Test) {
	r.Helper()
	r.read(func(tx *store.Tx) (err error) {
		all, err = ListTests(r.ctx, tx, r.team.ID, f)
		return err
	})
	return all
}

// seeded is the team's lab test of a method.
func (r *rig) seeded(m Method) Test {
	r.Helper()
	all := r.tests(TestFilter{Method: m})
	if len(all) != 1 {
		r.Fatalf("%d lab tests by %s", len(all), m)
	}
	return all[0]
}

// id is a marker's id by its lab and number in markers.csv.
func id(lab LabID, number int64) MarkerID { return lab*perLab + number }

const (
	labcorp LabID = 1
	quest   LabID = 2
	birch   LabID = 3
)

func TestSeededTests(t *testing.T) {
	each(t, func(r *rig) {
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
			if err := offered(l, c.MarkersOf(seeded), m, "method"); err != nil {
				r.Errorf("%s: %v", m, err)
			}
		}
		other := newRig(r.T, r.db, teams.Production)
		if all := other.tests(TestFilter{}); len(all) != 0 {
			r.Errorf("a production team has %d invented lab tests", len(all))
		}
		if labs := other.catalogue().Labs(); len(labs) != 0 {
			r.Errorf("a production team sees %d invented labs", len(labs))
		}
	})
}

func TestLifeOfALabTest(t *testing.T) {
	each(t, func(r *rig) {
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
			if got := r.tests(TestFilter{Status: status}); len(got) != want {
				r.Errorf("%d tests are %s, want %d", len(got), status, want)
			}
		}
		other := newRig(r.T, r.db, teams.Production)
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
		r := newRig(t, db, teams.Production)
		r.write(func(tx *store.Tx) error {
			_, err := Import(r.ctx, tx, "", acmeLab(), acmeList(), true)
			return err
		})
		l, _ := r.catalogue().LabNamed("acme_lab")
		m, _ := r.catalogue().MarkerCoded(l.ID, "A1")
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
		r := newRig(t, db, teams.Sandbox)
		for i, numbers := range [][]MarkerID{{2}, {2, 8}, {8, 13}, {13}} {
			n := NewTest{Name: string(rune('A'+i)) + "_100%", Method: WalkIn}
			for _, number := range numbers {
				n.MarkerIDs = append(n.MarkerIDs, id(labcorp, number))
			}
			r.write(func(tx *store.Tx) error { _, err := CreateTest(r.ctx, tx, r.team.ID, n); return err })
		}
		names := func(f TestFilter) (s string) {
			f.Status = PendingApproval
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
			{TestFilter{Lab: &lab}, "ABCD"},
			{TestFilter{Lab: &unknown}, ""},
			{TestFilter{Method: TestKit}, ""},
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
