package places

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"
)

// fiction says how many sites a lab has in sandbox, and where.
type fiction struct {
	sites  int
	state  string       // the only one; empty for all
	always Capabilities // of every site
	often  Capabilities // of two sites in three
}

// fictions are the labs of which sandbox makes sites up: 20,000 in all. They
// are those that area lookups speak of, and differ as these do: two schedule
// through us, one of them works in Arizona alone.
var fictions = map[string]fiction{
	"quest":        {sites: 8_000, often: ScheduledByUs},
	"labcorp":      {sites: 7_000, often: ScheduledByLab},
	"bioreference": {sites: 4_000},
	"sonora_quest": {sites: 1_000, state: "AZ", always: ScheduledByUs},
}

// MadeUpLabs are the labs that have sites in sandbox without an import.
func MadeUpLabs() []string {
	var labs []string
	for lab := range fictions {
		labs = append(labs, lab)
	}
	slices.Sort(labs)
	return labs
}

// madeUp is a list of sites that do not exist. All that is kept of a site is
// its ZIP code; the rest is drawn from its number, the same on every node and
// in every version of the program.
type madeUp struct {
	lab   string
	seed  uint64
	zips  []int32 // line of each site's ZIP code
	about fiction
}

// madeUpLists are drawn by the first search of each, in a few hundredths of a
// second: neither the start of the service nor a team that never looks for a
// service center pays for them.
var madeUpLists = func() map[string]func() *list {
	all := map[string]func() *list{}
	for lab, f := range fictions {
		all[lab] = sync.OnceValue(func() *list { return drawList(lab, f) })
	}
	return all
}()

// madeUpFor is the made-up list of a lab for a viewer, or ErrNoSites.
func madeUpFor(who Viewer, lab string) (*list, error) {
	if who.Sandbox {
		if l := madeUpList(lab); l != nil {
			return l, nil
		}
	}
	return nil, ErrNoSites
}

// madeUpList is the made-up list of a lab, or nil.
func madeUpList(lab string) *list {
	if draw := madeUpLists[lab]; draw != nil {
		return draw()
	}
	return nil
}

// MadeUp is the whole made-up list of a lab; nil for a lab without one.
func MadeUp(lab string) []Site {
	l := madeUpList(lab)
	if l == nil {
		return nil
	}
	sites := make([]Site, len(l.made.zips))
	for i := range sites {
		sites[i] = l.made.site(i)
	}
	return sites
}

func drawList(lab string, f fiction) *list {
	h := fnv.New64a()
	h.Write([]byte(lab))
	m := &madeUp{lab: lab, seed: h.Sum64(), about: f, zips: make([]int32, f.sites)}
	lines, weights := everywhere()
	if f.state != "" {
		lines, weights = zips().inhabited(f.state)
	}
	spots := make([]spot, f.sites)
	for i := range m.zips {
		d := m.dice(i)
		m.zips[i] = lines[sort.SearchInts(weights, d.below(weights[len(weights)-1])+1)]
		_, at, caps := m.where(i, &d)
		spots[i] = newSpot(at, caps, i)
	}
	return &list{index: newIndex(spots), made: m}
}

// everywhere is what most lists are drawn from.
var everywhere = sync.OnceValues(func() ([]int32, []int) { return zips().inhabited("") })

// inhabited are the lines of ZIP codes where people live, and the running sum
// of their weights. There is no census in the table, but the postal service
// makes codes where there are people; those of a city with many codes count for
// more, so that large cities get many sites and empty counties few.
func (z *zipTable) inhabited(state string) (lines []int32, weights []int) {
	type city struct{ state, name string }
	cities := make([]city, 0, len(z.begins)) // of the lines
	codes := make(map[city]int, len(z.begins)/2)
	for i := range z.begins {
		p, source := z.place(i)
		if source != 'c' || p.City == "" || state != "" && p.State != state {
			continue
		}
		here := city{p.State, p.City}
		lines, cities = append(lines, int32(i)), append(cities, here)
		codes[here]++
	}
	sum := 0
	weights = make([]int, 0, len(cities))
	for _, here := range cities {
		sum += int(100 * math.Sqrt(float64(codes[here])))
		weights = append(weights, sum)
	}
	return lines, weights
}

// where draws what an index holds of a site.
func (m *madeUp) where(n int, d *dice) (Place, Point, Capabilities) {
	p, _ := zips().place(int(m.zips[n]))
	// Up to two miles off the middle of the code, wherever that is on the globe.
	at := Point{
		Lat: fourDigits(p.Lat + d.fraction()*0.04 - 0.02),
		Lng: fourDigits(p.Lng + (d.fraction()*0.04-0.02)/math.Cos(p.Lat*math.Pi/180)),
	}
	caps := m.about.always
	if d.below(3) > 0 {
		caps |= m.about.often
	}
	if d.below(8) == 0 {
		caps |= Stat
	}
	return p, at, caps
}

// site draws a site from its number.
func (m *madeUp) site(n int) Site {
	d := m.dice(n)
	d.next() // the one that drew its ZIP code
	p, at, caps := m.where(n, &d)
	s := Site{
		Lab: m.lab, Code: fmt.Sprintf("SBX%05d", n), Active: true, Point: at, Capabilities: caps,
		City: p.City, State: p.State, ZIP: p.ZIP, TimeZone: p.TimeZone,
	}
	s.Name = pick(&d, colours) + " " + pick(&d, creatures) + " Draw Site (sandbox)"
	s.FirstLine = fmt.Sprintf("%d %s Way", 100+d.below(9900), pick(&d, streets))
	if d.below(4) == 0 {
		s.SecondLine = fmt.Sprintf("Suite %d", 100+d.below(300))
	}
	s.Phone, s.Fax = pretendNumber(&d), pretendNumber(&d)
	s.Hours = pick(&d, weeks)
	return s
}

// find is the site of a code, or ErrNoSite.
func (m *madeUp) find(code string) (Site, error) {
	var n int
	if number, ok := strings.CutPrefix(code, "SBX"); !ok || len(number) != 5 || !digits(number) {
		return Site{}, ErrNoSite
	} else if _, err := fmt.Sscanf(number, "%d", &n); err != nil || n >= len(m.zips) {
		return Site{}, ErrNoSite
	}
	return m.site(n), nil
}

var (
	colours   = []string{"Amber", "Copper", "Crimson", "Indigo", "Ivory", "Jade", "Lilac", "Saffron", "Scarlet", "Teal"}
	creatures = []string{"Badger", "Basilisk", "Dragon", "Gryphon", "Heron", "Otter", "Phoenix", "Unicorn", "Walrus", "Yeti"}
	streets   = []string{"Imaginary", "Make-Believe", "Nowhere", "Pretend", "Storybook", "Wonderland"}
	weeks     = []*Hours{
		mustHours("Mo-Fr 07:00-15:30"), mustHours("Mo-Fr 06:30-15:00; Sa 07:00-11:00"),
		mustHours("Mo-Fr 07:00-12:00,13:00-16:00"), mustHours("Mo-Sa 06:00-14:00"), nil,
	}
)

func mustHours(text string) *Hours {
	h, err := ParseHours(text)
	if err != nil {
		panic(err) // a constant of this file
	}
	return h
}

// pretendNumber is of an exchange that no telephone company gives out.
func pretendNumber(d *dice) string { return fmt.Sprintf("555-555-01%02d", d.below(100)) }

func fourDigits(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// dice are numbers that look random and follow from a seed (splitmix64). The
// standard library's own would do, but may change with its version, and then
// a site would move.
type dice uint64

func (m *madeUp) dice(n int) dice { return dice(m.seed ^ uint64(n)<<32) }

func (d *dice) next() uint64 {
	*d += 0x9e3779b97f4a7c15
	x := uint64(*d)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (d *dice) below(n int) int { return int(d.next() % uint64(n)) }

func (d *dice) fraction() float64 { return float64(d.next()>>11) / (1 << 53) }

func pick[T any](d *dice, from []T) T { return from[d.below(len(from))] }
