package places

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"hale/internal/people/users/person"
	"hale/internal/platform/civil"
)

var (
	slugForm = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)
	codeForm = regexp.MustCompile(`^[!-~]([ -~]{0,62}[!-~])?$`)
	teleForm = regexp.MustCompile(`^[0-9+(][0-9 ().,+/x#-]{2,39}$`)
)

// siteFields are the fields of a site.
var siteFields = []string{
	"lab_slug", "site_code", "name", "first_line", "second_line", "city", "state", "zip_code", "lat", "lng",
	"phone", "fax", "website", "timezone", "capabilities", "hours", "active", "valid_from", "valid_to",
}

// ReadSites reads a file of service centers: CSV with a header, JSON with one
// object per line, or GeoJSON. lab is the slug for lines that name none. It
// returns an error if the file as a whole cannot be read.
func ReadSites(file io.Reader, lab string) (ImportFile[Site], error) {
	return readLines(file, siteFields, func(f *form) Site { return f.site(lab) },
		func(s Site) string { return s.Lab + "\n" + s.Code })
}

const longestText = 200

func (f *form) site(lab string) Site {
	if own := f.fields["lab_slug"]; own == "" {
		f.fields["lab_slug"] = lab
	} else if lab != "" && own != lab {
		f.addProblem("lab_slug", "is another lab than the one that was named")
	}
	s := Site{
		Lab:        f.formattedText("lab_slug", slugForm, "a lab's slug, such as lab_one"),
		Code:       f.formattedText("site_code", codeForm, "1 to 64 letters, digits and signs"),
		Name:       f.requiredText("name", longestText),
		FirstLine:  f.requiredText("first_line", longestText),
		SecondLine: f.text("second_line", longestText),
		City:       f.requiredText("city", longestText),
		State:      strings.ToUpper(f.fields["state"]),
		Phone:      f.telephone("phone"),
		Fax:        f.telephone("fax"),
		Website:    f.website(),
		Active:     f.boolean("active", true),
		ValidFrom:  f.date("valid_from"),
		ValidTo:    f.date("valid_to"),
	}
	if person.States[s.State] == "" {
		f.addProblem("state", "must be the postal code of a state, such as AZ")
	}
	if !s.ValidTo.IsZero() && s.ValidTo.Before(s.ValidFrom) {
		f.addProblem("valid_to", "is before valid_from")
	}
	f.location(&s)
	s.Capabilities = f.capabilities()
	s.Hours = f.hours()
	return s
}

// location reads ZIP code, coordinates and time zone. The ZIP code supplies the
// other two if they are absent.
func (f *form) location(s *Site) {
	s.ZIP = f.fields["zip_code"]
	if !isZIP(s.ZIP) {
		f.addProblem("zip_code", "must be 5 digits, or 5 and 4")
		return
	}
	middle, known := Zip(s.ZIP)
	known = known && middle.Located
	switch lat, lng := f.fields["lat"], f.fields["lng"]; {
	case lat == "" && lng == "" && !known:
		f.addProblem("zip_code", "is not on the map: give lat, lng and timezone")
		return
	case lat == "" && lng == "":
		s.Point = middle.Point
	default:
		s.Point = f.point(lat, lng)
	}
	s.TimeZone = f.fields["timezone"]
	switch _, err := civil.Zone(s.TimeZone); {
	case s.TimeZone == "" && known:
		s.TimeZone = middle.TimeZone
	case s.TimeZone == "" || err != nil:
		f.addProblem("timezone", "must be an IANA time zone, such as America/Phoenix")
	}
}

// point reads coordinates, which must be within the bounds of the United States.
// Swapped or missing coordinates are outside.
func (f *form) point(lat, lng string) Point {
	var p Point
	var err1, err2 error
	p.Lat, err1 = strconv.ParseFloat(lat, 64)
	p.Lng, err2 = strconv.ParseFloat(lng, 64)
	switch {
	case err1 != nil || math.IsNaN(p.Lat):
		f.addProblem("lat", "must be degrees, such as 33.4516")
	case err2 != nil || math.IsNaN(p.Lng):
		f.addProblem("lng", "must be degrees, such as -112.0699")
	case p.Lat < -15 || p.Lat > 72 || p.Lng > -64 && p.Lng < 130 || math.Abs(p.Lng) > 180:
		f.addProblem("lat", "with lng is not in the United States: are the two exchanged?")
	default:
		return p
	}
	return Point{}
}

func (f *form) telephone(field string) string {
	s := f.fields[field]
	if s != "" && !teleForm.MatchString(s) {
		f.addProblem(field, "must be a telephone number")
	}
	return s
}

func (f *form) website() string {
	s := f.text("website", 2*longestText)
	if u, err := url.Parse(s); s != "" && (err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "") {
		f.addProblem("website", "must be an http or https address")
	}
	return s
}

func (f *form) boolean(field string, absent bool) bool {
	switch strings.ToLower(f.fields[field]) {
	case "":
		return absent
	case "true", "yes", "y", "t", "1":
		return true
	case "false", "no", "n", "f", "0":
		return false
	}
	f.addProblem(field, "must be true or false")
	return false
}

func (f *form) date(field string) civil.Date {
	d, err := parseOptionalDate(f.fields[field])
	if err != nil {
		f.addProblem(field, "must be a date, YYYY-MM-DD")
	}
	return d
}

func (f *form) capabilities() Capabilities {
	words := strings.FieldsFunc(f.fields["capabilities"], func(c rune) bool { return strings.ContainsRune(";,| ", c) })
	all, ok := CapabilitiesOf(words...)
	if !ok {
		f.addProblem("capabilities", "must be of "+strings.Join(CapabilityNames[:], ", ")+", with ; between")
	}
	return all
}

func (f *form) hours() *Hours {
	text := f.fields["hours"]
	if text == "" {
		return nil
	}
	h, err := ParseHours(text)
	if err != nil || len(text) > 4*longestText*10 {
		f.addProblem("hours", "must be such as Mo-Fr 07:00-15:30; Sa 08:00-12:00, or JSON by day of the week")
		return nil
	}
	return h
}

// offerFields are the fields of an offer.
var offerFields = []string{"provider", "zip_code", "tier", "days", "earliest", "latest", "lead_hours"}

// ReadOffers reads a file of phlebotomy coverage: CSV with a header, or JSON
// with one object per line.
func ReadOffers(file io.Reader) (ImportFile[Offer], error) {
	return readLines(file, offerFields, (*form).offer,
		func(o Offer) string { return o.Provider + "\n" + o.ZIP + "\n" + string(o.Tier) })
}

// longestLead limits the lead time to a month.
const longestLead = 31 * 24

func (f *form) offer() Offer {
	o := Offer{
		Provider: f.formattedText("provider", slugForm, "a provider's slug, such as visits_one"),
		Tier:     Tier(strings.ToLower(f.fields["tier"])),
		ZIP:      f.fields["zip_code"],
		Days:     EveryDay, Earliest: 7 * 60, Latest: 18 * 60, LeadHours: 24,
	}
	if !isZIP(o.ZIP) {
		f.addProblem("zip_code", "must be 5 digits")
	} else if place, known := Zip(o.ZIP); !known || !place.Located {
		f.addProblem("zip_code", "is not on the map")
	} else {
		o.ZIP, o.TimeZone = place.ZIP, place.TimeZone
	}
	if o.Tier != AppointmentReady && o.Tier != AppointmentRequest {
		f.addProblem("tier", fmt.Sprintf("must be %s or %s", AppointmentReady, AppointmentRequest))
	}
	if text := f.fields["days"]; text != "" {
		var err error
		if o.Days, err = ParseWeekdays(strings.ReplaceAll(text, ";", ",")); err != nil {
			f.addProblem("days", "must be such as Mo-Fr or Mo,We,Sa")
		}
	}
	o.Earliest, o.Latest = f.clock("earliest", o.Earliest), f.clock("latest", o.Latest)
	if o.Earliest >= o.Latest {
		f.addProblem("latest", "must be after earliest")
	}
	if text := f.fields["lead_hours"]; text != "" {
		hours, err := strconv.Atoi(text)
		if err != nil || hours < 0 || hours > longestLead {
			f.addProblem("lead_hours", fmt.Sprintf("must be 0 to %d", longestLead))
		}
		o.LeadHours = hours
	}
	return o
}

func (f *form) clock(field string, absent int) int {
	text := f.fields[field]
	if text == "" {
		return absent
	}
	minute, ok := ParseClock(text)
	if !ok {
		f.addProblem(field, "must be a time, such as 07:00")
	}
	return minute
}

// ImportFile is the content of a file of sites or coverage.
type ImportFile[T any] struct {
	Rows     []T // lines without problems
	Lines    int // all lines
	Problems []Problem
	Unlisted int      // problems that are not listed
	Ignored  []string // unknown fields
}

func (r *ImportFile[T]) problem(p Problem) {
	if len(r.Problems) == mostProblems {
		r.Unlisted++
		return
	}
	r.Problems = append(r.Problems, p)
}

// readLines reads a file with a parser of its records. known lists the known
// fields; identity returns the part of a row that must be unique.
func readLines[T any](file io.Reader, known []string, parse func(*form) T, identity func(T) string) (ImportFile[T], error) {
	var all ImportFile[T]
	ignored, seen := map[string]bool{}, map[string]int{}
	err := records(file, func(r record, err error) {
		all.Lines++
		var broken errLine
		if errors.As(err, &broken) {
			all.problem(broken.Problem)
			return
		}
		for name := range r.fields {
			if name != "" && !slices.Contains(known, name) {
				ignored[name] = true
			}
		}
		f := &form{record: r}
		row := parse(f)
		if len(f.problems) == 0 {
			id := identity(row)
			if first := seen[id]; first > 0 {
				f.addProblem("", fmt.Sprintf("is there already, on line %d", first))
			} else {
				seen[id] = r.line
			}
		}
		for _, p := range f.problems {
			all.problem(p)
		}
		if len(f.problems) == 0 {
			all.Rows = append(all.Rows, row)
		}
	})
	for name := range ignored {
		all.Ignored = append(all.Ignored, shorten(name))
	}
	slices.Sort(all.Ignored)
	return all, err
}

// form reads the fields of a record and collects their problems.
type form struct {
	record
	problems []Problem
}

func (f *form) addProblem(field, text string) {
	f.problems = append(f.problems, Problem{f.line, field, text})
}

// text reads a line of at most most characters.
func (f *form) text(field string, most int) string {
	s := f.fields[field]
	switch {
	case utf8.RuneCountInString(s) > most:
		f.addProblem(field, fmt.Sprintf("has more than %d characters", most))
	case strings.ContainsFunc(s, unicode.IsControl):
		f.addProblem(field, "has characters that cannot be printed")
	}
	return s
}

// requiredText reads a required text.
func (f *form) requiredText(field string, most int) string {
	s := f.text(field, most)
	if s == "" {
		f.addProblem(field, "is missing")
	}
	return s
}

// formattedText reads a required text with a given form; what describes the form.
func (f *form) formattedText(field string, shape *regexp.Regexp, what string) string {
	s := f.fields[field]
	if s == "" {
		f.addProblem(field, "is missing")
	} else if !shape.MatchString(s) {
		f.addProblem(field, "must be "+what)
	}
	return s
}

// WriteSites writes sites as the CSV that ReadSites reads.
func WriteSites(w io.Writer, sites []Site) error {
	out := csv.NewWriter(w)
	if err := out.Write(siteFields); err != nil {
		return err
	}
	for _, s := range sites {
		err := out.Write([]string{
			s.Lab, s.Code, s.Name, s.FirstLine, s.SecondLine, s.City, s.State, s.ZIP, decimal(s.Lat), decimal(s.Lng),
			s.Phone, s.Fax, s.Website, s.TimeZone, strings.Join(s.Capabilities.Names(), ";"), hoursText(s.Hours),
			strconv.FormatBool(s.Active), dateText(s.ValidFrom), dateText(s.ValidTo),
		})
		if err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
