package places_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hale/internal/labs/places"
	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// fixture is a database with two teams.
type fixture struct {
	t        *testing.T
	db       *store.DB
	dir      places.Directory
	one, two places.Viewer
}

func forEachEngine(t *testing.T, fn func(r *fixture)) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := &fixture{t: t, db: db}
		r.write(func(ctx context.Context, tx *store.Tx) error {
			for _, v := range []*places.Viewer{&r.one, &r.two} {
				team, err := teams.Create(ctx, tx, "Team", teams.Production)
				if err != nil {
					return err
				}
				v.Team = team.ID
			}
			return nil
		})
		fn(r)
	})
}

func (r *fixture) write(fn func(ctx context.Context, tx *store.Tx) error) {
	r.t.Helper()
	ctx := store.AsSystem(r.t.Context())
	if err := r.db.Write(ctx, func(tx *store.Tx) error { return fn(ctx, tx) }); err != nil {
		r.t.Fatal(err)
	}
}

// read reads as the team, so that row security applies.
func (r *fixture) read(team teams.ID, fn func(ctx context.Context, tx *store.Tx) error) error {
	ctx := store.WithTeam(r.t.Context(), team.UUID())
	return r.db.Read(ctx, func(tx *store.Tx) error { return fn(ctx, tx) })
}

func (r *fixture) put(owner teams.ID, full bool, sites ...places.Site) (changes []places.Change) {
	r.t.Helper()
	r.write(func(ctx context.Context, tx *store.Tx) (err error) {
		changes, err = places.ImportSites(ctx, tx, owner, sites, full)
		return err
	})
	return changes
}

func (r *fixture) near(who places.Viewer, lab string, miles float64, caps places.Capabilities) (found places.SearchResult, err error) {
	phoenix, _ := places.Zip("85004")
	err = r.read(who.Team, func(ctx context.Context, tx *store.Tx) (err error) {
		found, err = r.dir.Near(ctx, tx, who, places.Query{Lab: lab, From: phoenix.Point, Miles: miles, Capabilities: caps})
		return err
	})
	return found, err
}

func (r *fixture) codes(who places.Viewer, lab string) string {
	r.t.Helper()
	found, err := r.near(who, lab, 25, 0)
	if errors.Is(err, places.ErrNoSites) {
		return "none"
	}
	if err != nil {
		r.t.Fatal(err)
	}
	var codes []string
	for _, s := range found.Sites {
		codes = append(codes, s.Code)
	}
	return strings.Join(codes, " ")
}

// site returns a site some miles north of the center of Phoenix.
func site(lab, code string, north float64) places.Site {
	phoenix, _ := places.Zip("85004")
	hours, _ := places.ParseHours("Mo-Fr 07:00-15:30")
	return places.Site{
		Lab: lab, Code: code, Name: "Draw site " + code, FirstLine: "1 Example Street", City: "Phoenix", State: "AZ", ZIP: "85004",
		Point:    places.Point{Lat: phoenix.Lat + north/69.0934, Lng: phoenix.Lng},
		TimeZone: "America/Phoenix", Phone: "555-555-0100", Hours: hours, Active: true,
	}
}

func TestNear(t *testing.T) {
	forEachEngine(t, func(r *fixture) {
		plain, stat, later := site("lab_one", "B", 3), site("lab_one", "A", 8), site("lab_one", "C", 5)
		stat.Capabilities = places.Stat | places.ScheduledByLab
		later.ValidFrom = civil.DateOf(time.Now().UTC()).AddDays(2)
		shut := site("lab_one", "D", 1)
		shut.Active = false
		r.put(places.AllTeams, false, plain, stat, later, shut, site("lab_one", "E", 40), site("lab_two", "F", 1))

		found, err := r.near(r.one, "lab_one", 25, 0)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]places.Site{plain, stat}, []places.Site{found.Sites[0].Site, found.Sites[1].Site}); diff != "" || found.Total != 2 {
			t.Errorf("found %d: %s", found.Total, diff)
		}
		if math.Abs(found.Sites[0].Miles-3) > 0.001 || math.Abs(found.Sites[1].Miles-8) > 0.001 || found.Capabilities != stat.Capabilities {
			t.Errorf("found %+v", found)
		}
		if found, err := r.near(r.one, "lab_one", 25, places.Stat); err != nil || found.Total != 1 || found.Sites[0].Code != "A" {
			t.Errorf("with stat: %+v, %v", found, err)
		}
		if found, err := r.near(r.one, "lab_one", 25, places.Stat|places.ScheduledByUs); err != nil || len(found.Sites) != 0 {
			t.Errorf("a site must have all capabilities: %+v, %v", found, err)
		}
		if _, err := r.near(r.one, "lab_three", 25, 0); !errors.Is(err, places.ErrNoSites) {
			t.Errorf("a lab without a list: %v", err)
		}
		for code, want := range map[string]error{"A": nil, "B": nil, "C": places.ErrNoSite, "D": places.ErrNoSite, "F": places.ErrNoSite} {
			err := r.read(r.one.Team, func(ctx context.Context, tx *store.Tx) error {
				s, err := r.dir.Site(ctx, tx, r.one, "lab_one", code)
				if err == nil && s.Code != code {
					t.Errorf("asked for %s and got %s", code, s.Code)
				}
				return err
			})
			if !errors.Is(err, want) || want == nil && err != nil {
				t.Errorf("site %s: %v, want %v", code, err, want)
			}
		}
	})
}

// A search returns at most thirty sites and counts all of them.
func TestNearReturnsAtMostThirtySites(t *testing.T) {
	forEachEngine(t, func(r *fixture) {
		var many []places.Site
		for i := range 100 {
			many = append(many, site("lab_one", fmt.Sprintf("S%02d", (i*37)%100), float64((i*37)%100)/10))
		}
		r.put(places.AllTeams, true, many...)
		found, err := r.near(r.one, "lab_one", 25, 0)
		if err != nil || len(found.Sites) != 30 || found.Total != 100 {
			t.Fatalf("%d of %d, %v", len(found.Sites), found.Total, err)
		}
		for i, s := range found.Sites {
			if s.Code != fmt.Sprintf("S%02d", i) || s.Name == "" {
				t.Errorf("the %d. is %+v", i, s)
			}
		}
	})
}

// A team's own list comes before the list of all teams, and that before a
// made-up one. No other team sees it.
func TestListPrecedence(t *testing.T) {
	forEachEngine(t, func(r *fixture) {
		sandbox := r.two
		sandbox.Sandbox = true
		if got := r.codes(r.one, "quest"); got != "none" {
			t.Errorf("without a list: %s", got)
		}
		if got := r.codes(sandbox, "quest"); !strings.HasPrefix(got, "SBX") {
			t.Errorf("in sandbox: %s", got)
		}
		if got := r.codes(sandbox, "lab_one"); got != "none" {
			t.Errorf("a lab of which nothing is made up: %s", got)
		}
		r.put(places.AllTeams, false, site("quest", "ALL", 1))
		if one, two := r.codes(r.one, "quest"), r.codes(sandbox, "quest"); one != "ALL" || two != "ALL" {
			t.Errorf("everybody's list: %s, in sandbox %s", one, two)
		}
		r.put(r.one.Team, false, site("quest", "OWN", 1))
		if one, two := r.codes(r.one, "quest"), r.codes(sandbox, "quest"); one != "OWN" || two != "ALL" {
			t.Errorf("with a list of its own: %s, the other team %s", one, two)
		}
		r.write(func(ctx context.Context, tx *store.Tx) error {
			n, err := places.RemoveSites(ctx, tx, places.AllTeams, "quest")
			if n != 1 {
				t.Errorf("%d sites were removed", n)
			}
			return err
		})
		if one, two := r.codes(r.one, "quest"), r.codes(sandbox, "quest"); one != "OWN" || !strings.HasPrefix(two, "SBX") {
			t.Errorf("without everybody's list: %s, in sandbox %s", one, two)
		}
	})
}

// All nodes see an import as soon as it is committed. Importing the same file again
// changes nothing.
func TestImport(t *testing.T) {
	forEachEngine(t, func(r *fixture) {
		other := &fixture{t: r.t, db: r.db, one: r.one} // another node has its own directory
		a, b, c := site("lab_one", "A", 1), site("lab_one", "B", 2), site("lab_one", "C", 3)
		steps := []struct {
			full  bool
			sites []places.Site
			want  places.Change
			codes string
		}{
			{false, []places.Site{a, b}, places.Change{List: "lab_one", Created: 2}, "A B"},
			{false, []places.Site{a, b}, places.Change{List: "lab_one", Unchanged: 2}, "A B"},
			{false, []places.Site{c}, places.Change{List: "lab_one", Created: 1}, "A B C"},
			{true, []places.Site{a, c}, places.Change{List: "lab_one", Unchanged: 2, Ended: 1}, "A C"},
			{true, []places.Site{a, c}, places.Change{List: "lab_one", Unchanged: 2}, "A C"},
			{false, []places.Site{b}, places.Change{List: "lab_one", Updated: 1}, "A B C"},
			{false, []places.Site{site("lab_one", "A", 9)}, places.Change{List: "lab_one", Updated: 1}, "B C A"},
		}
		for i, step := range steps {
			changes := r.put(places.AllTeams, step.full, step.sites...)
			if !slices.Equal(changes, []places.Change{step.want}) {
				t.Errorf("step %d: %+v, want %+v", i, changes, step.want)
			}
			if got, there := r.codes(r.one, "lab_one"), other.codes(r.one, "lab_one"); got != step.codes || there != step.codes {
				t.Errorf("step %d: found %s, on the other node %s, want %s", i, got, there, step.codes)
			}
		}
	})
}

// A list that was read in a failed transaction is never shown after it.
func TestImportThatFails(t *testing.T) {
	forEachEngine(t, func(r *fixture) {
		r.put(places.AllTeams, false, site("lab_one", "A", 1))
		ctx, stop := store.AsSystem(t.Context()), errors.New("stop")
		err := r.db.Write(ctx, func(tx *store.Tx) error {
			if _, err := places.ImportSites(ctx, tx, places.AllTeams, []places.Site{site("lab_one", "B", 2)}, false); err != nil {
				return err
			}
			phoenix, _ := places.Zip("85004")
			found, err := r.dir.Near(ctx, tx, r.one, places.Query{Lab: "lab_one", From: phoenix.Point, Miles: 25})
			if err != nil || found.Total != 2 {
				t.Errorf("inside: %+v, %v", found, err)
			}
			return stop
		})
		if !errors.Is(err, stop) {
			t.Fatal(err)
		}
		r.put(places.AllTeams, false, site("lab_one", "C", 3))
		if got := r.codes(r.one, "lab_one"); got != "A C" {
			t.Errorf("found %s", got)
		}
	})
}

func TestCoverage(t *testing.T) {
	forEachEngine(t, func(r *fixture) {
		offer := places.Offer{ZIP: "85004", Provider: "getlabs", Tier: places.AppointmentReady, Days: 1, Earliest: 480, Latest: 600, LeadHours: 3}
		other := places.Offer{ZIP: "85004", Provider: "visits", Tier: places.AppointmentRequest, Days: 2, Earliest: 400, Latest: 500, LeadHours: 4}
		put := func(owner teams.ID, full bool, offers ...places.Offer) (changes []places.Change) {
			r.write(func(ctx context.Context, tx *store.Tx) (err error) {
				changes, err = places.ImportOffers(ctx, tx, owner, offers, full)
				return err
			})
			return changes
		}
		covers := func(who places.Viewer, zip string) (text string) {
			err := r.read(who.Team, func(ctx context.Context, tx *store.Tx) error {
				offers, err := places.Coverage(ctx, tx, who, zip)
				for _, o := range offers {
					text += fmt.Sprintf("%s %s %dh %s; ", o.Provider, o.Tier, o.LeadHours, o.TimeZone)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		sandbox := r.two
		sandbox.Sandbox = true
		const ready = "getlabs appointment-ready %dh America/Phoenix; "
		for _, c := range []struct {
			who       places.Viewer
			zip, want string
		}{
			{r.one, "85004", ""},
			{sandbox, "85004", fmt.Sprintf(ready, 12)},
			{sandbox, "85004-1234", fmt.Sprintf(ready, 12)},
			{sandbox, "54650", "phlebfinders appointment-request 24h America/Chicago; "},
			{sandbox, "85005", ""},
			{sandbox, "09001", ""},
			{sandbox, "00000", ""},
			{sandbox, "none", ""},
		} {
			if got := covers(c.who, c.zip); got != c.want {
				t.Errorf("%s: %q, want %q", c.zip, got, c.want)
			}
		}
		put(places.AllTeams, false, offer, other)
		const request = "visits appointment-request 4h America/Phoenix; "
		if one, two := covers(r.one, "85004"), covers(sandbox, "85004"); one != fmt.Sprintf(ready, 3)+request || two != one {
			t.Errorf("everybody's: %q, in sandbox %q", one, two)
		}
		own := offer
		own.LeadHours = 1
		put(r.one.Team, false, own)
		if one, two := covers(r.one, "85004"), covers(sandbox, "85004"); one != fmt.Sprintf(ready, 1)+request || two != fmt.Sprintf(ready, 3)+request {
			t.Errorf("the team's own: %q, the other's %q", one, two)
		}
		moved := offer
		moved.ZIP = "85003"
		if got := put(places.AllTeams, true, moved); !slices.Equal(got, []places.Change{{List: "getlabs", Created: 1, Ended: 1}}) {
			t.Errorf("a full import did %+v", got)
		}
		if got := put(places.AllTeams, true, moved); !slices.Equal(got, []places.Change{{List: "getlabs", Unchanged: 1}}) {
			t.Errorf("the same again did %+v", got)
		}
		if got := covers(r.two, "85004"); got != request {
			t.Errorf("another provider's coverage stays: %q", got)
		}
	})
}
