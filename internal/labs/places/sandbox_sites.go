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

// sandboxLab is the number and distribution of a lab's sites in sandbox.
type sandboxLab struct {
	sites  int
	state  string       // restricts sites to one state; empty for all
	always Capabilities // of every site
	often  Capabilities // of two sites in three
}

// sandboxLabs are the labs with made-up sites in sandbox, 20,000 sites in all.
// They are the labs that area lookups return. Like these, two of them schedule
// appointments through us, and one works only in Arizona.
var sandboxLabs = map[string]sandboxLab{
	"quest":        {sites: 8_000, often: ScheduledByUs},
	"labcorp":      {sites: 7_000, often: ScheduledByLab},
	"bioreference": {sites: 4_000},
	"sonora_quest": {sites: 1_000, state: "AZ", always: ScheduledByUs},
}

// MadeUpLabs returns the labs that have sites in sandbox without an import.
func MadeUpLabs() []string {
	var labs []string
	for lab := range sandboxLabs {
		labs = append(labs, lab)
	}
	slices.Sort(labs)
	return labs
}

// sandboxSites is a list of made-up sites. It stores only the ZIP code of each
// site. The other fields follow from the number of the site, the same on every
// node and in every version of the program.
type sandboxSites struct {
	lab   string
	seed  uint64
	zips  []int32 // line of each site's ZIP code
	about sandboxLab
}

// sandboxLists are generated on first use, in about 30 ms each, so that startup and other
// teams do not pay for them.
var sandboxLists = func() map[string]func() *list {
	all := map[string]func() *list{}
	for lab, f := range sandboxLabs {
		all[lab] = sync.OnceValue(func() *list { return drawList(lab, f) })
	}
	return all
}()

// viewerMadeUpList returns the made-up list of a lab for a viewer, or ErrNoSites.
func viewerMadeUpList(who Viewer, lab string) (*list, error) {
	if who.Sandbox {
		if l := sandboxList(lab); l != nil {
			return l, nil
		}
	}
	return nil, ErrNoSites
}

// sandboxList returns the made-up list of a lab, or nil.
func sandboxList(lab string) *list {
	if draw := sandboxLists[lab]; draw != nil {
		return draw()
	}
	return nil
}

// MadeUpSites returns the whole made-up list of a lab; nil for a lab without one.
func MadeUpSites(lab string) []Site {
	l := sandboxList(lab)
	if l == nil {
		return nil
	}
	sites := make([]Site, len(l.made.zips))
	for i := range sites {
		sites[i] = l.made.drawSite(i)
	}
	return sites
}

func drawList(lab string, f sandboxLab) *list {
	h := fnv.New64a()
	h.Write([]byte(lab))
	m := &sandboxSites{lab: lab, seed: h.Sum64(), about: f, zips: make([]int32, f.sites)}
	lines, weights := wholeCountry()
	if f.state != "" {
		lines, weights = zips().inhabited(f.state)
	}
	spots := make([]spot, f.sites)
	for i := range m.zips {
		d := m.dice(i)
		m.zips[i] = lines[sort.SearchInts(weights, d.intN(weights[len(weights)-1])+1)]
		_, at, caps := m.drawLocation(i, &d)
		spots[i] = newSpot(at, caps, i)
	}
	return &list{index: newIndex(spots), made: m}
}

// wholeCountry returns the ZIP codes and weights of the whole country.
var wholeCountry = sync.OnceValues(func() ([]int32, []int) { return zips().inhabited("") })

// inhabited returns the lines of ZIP codes where people live, and the running sum
// of their weights. The table has no population counts. The postal service assigns
// more codes where more people live, so a code in a city with many codes has a
// higher weight. Large cities get many sites, empty counties few.
func (z *zipTable) inhabited(state string) (lines []int32, weights []int) {
	type city struct{ state, name string }
	cities := make([]city, 0, len(z.begins)) // of the lines
	codes := make(map[city]int, len(z.begins)/2)
	for i := range z.begins {
		p, source := z.parseLine(i)
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

// drawLocation draws the fields of a site that an index has.
func (m *sandboxSites) drawLocation(n int, d *dice) (Place, Point, Capabilities) {
	p, _ := zips().parseLine(int(m.zips[n]))
	// Up to two miles from the center of the ZIP code.
	at := Point{
		Lat: fourDigits(p.Lat + d.fraction()*0.04 - 0.02),
		Lng: fourDigits(p.Lng + (d.fraction()*0.04-0.02)/math.Cos(p.Lat*math.Pi/180)),
	}
	caps := m.about.always
	if d.intN(3) > 0 {
		caps |= m.about.often
	}
	if d.intN(8) == 0 {
		caps |= Stat
	}
	return p, at, caps
}

// drawSite draws a site from its number.
func (m *sandboxSites) drawSite(n int) Site {
	d := m.dice(n)
	d.next() // skip the value that selected the ZIP code
	p, at, caps := m.drawLocation(n, &d)
	s := Site{
		Lab: m.lab, Code: fmt.Sprintf("SBX%05d", n), Active: true, Point: at, Capabilities: caps,
		City: p.City, State: p.State, ZIP: p.ZIP, TimeZone: p.TimeZone,
	}
	s.Name = pick(&d, colours) + " " + pick(&d, creatures) + " Draw Site (sandbox)"
	s.FirstLine = fmt.Sprintf("%d %s Way", 100+d.intN(9900), pick(&d, streets))
	if d.intN(4) == 0 {
		s.SecondLine = fmt.Sprintf("Suite %d", 100+d.intN(300))
	}
	s.Phone, s.Fax = pretendNumber(&d), pretendNumber(&d)
	s.Hours = pick(&d, weeks)
	return s
}

// findSite returns the site of a code, or ErrNoSite.
func (m *sandboxSites) findSite(code string) (Site, error) {
	var n int
	if number, ok := strings.CutPrefix(code, "SBX"); !ok || len(number) != 5 || !isDigits(number) {
		return Site{}, ErrNoSite
	} else if _, err := fmt.Sscanf(number, "%d", &n); err != nil || n >= len(m.zips) {
		return Site{}, ErrNoSite
	}
	return m.drawSite(n), nil
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

// pretendNumber returns a telephone number that is never assigned.
func pretendNumber(d *dice) string { return fmt.Sprintf("555-555-01%02d", d.intN(100)) }

func fourDigits(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// dice generates pseudo-random numbers from a seed (splitmix64). The standard
// library's generator may change with its version, which would move the sites.
type dice uint64

func (m *sandboxSites) dice(n int) dice { return dice(m.seed ^ uint64(n)<<32) }

func (d *dice) next() uint64 {
	*d += 0x9e3779b97f4a7c15
	x := uint64(*d)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (d *dice) intN(n int) int { return int(d.next() % uint64(n)) }

func (d *dice) fraction() float64 { return float64(d.next()>>11) / (1 << 53) }

func pick[T any](d *dice, from []T) T { return from[d.intN(len(from))] }
