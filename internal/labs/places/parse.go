package places

import (
	"io"
	"math"
	"net/url"
	"regexp"
	"strconv"
	"strings"

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

// ReadSites reads a file of service centers: CSV with titles, JSON with an
// object on each line, or GeoJSON. lab is the slug for lines that name none.
// An error is a file that cannot be read as a whole.
func ReadSites(file io.Reader, lab string) (Read[Site], error) {
	return lines(file, siteFields, func(f *form) Site { return f.site(lab) },
		func(s Site) string { return s.Lab + "\n" + s.Code })
}

const longestText = 200

func (f *form) site(lab string) Site {
	if own := f.fields["lab_slug"]; own == "" {
		f.fields["lab_slug"] = lab
	} else if lab != "" && own != lab {
		f.bad("lab_slug", "is another lab than the one that was named")
	}
	s := Site{
		Lab:        f.matched("lab_slug", slugForm, "a lab's slug, such as lab_one"),
		Code:       f.matched("site_code", codeForm, "1 to 64 letters, digits and signs"),
		Name:       f.needed("name", longestText),
		FirstLine:  f.needed("first_line", longestText),
		SecondLine: f.text("second_line", longestText),
		City:       f.needed("city", longestText),
		State:      strings.ToUpper(f.fields["state"]),
		Phone:      f.telephone("phone"),
		Fax:        f.telephone("fax"),
		Website:    f.website(),
		Active:     f.yes("active", true),
		ValidFrom:  f.date("valid_from"),
		ValidTo:    f.date("valid_to"),
	}
	if person.States[s.State] == "" {
		f.bad("state", "must be the postal code of a state, such as AZ")
	}
	if !s.ValidTo.IsZero() && s.ValidTo.Before(s.ValidFrom) {
		f.bad("valid_to", "is before valid_from")
	}
	f.where(&s)
	s.Capabilities = f.capabilities()
	s.Hours = f.hours()
	return s
}

// where reads ZIP code, coordinates and time zone, of which the first stands
// in for the others.
func (f *form) where(s *Site) {
	s.ZIP = f.fields["zip_code"]
	if !zipForm(s.ZIP) {
		f.bad("zip_code", "must be 5 digits, or 5 and 4")
		return
	}
	middle, known := Zip(s.ZIP)
	known = known && middle.Located
	switch lat, lng := f.fields["lat"], f.fields["lng"]; {
	case lat == "" && lng == "" && !known:
		f.bad("zip_code", "is not on the map: give lat, lng and timezone")
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
		f.bad("timezone", "must be an IANA time zone, such as America/Phoenix")
	}
}

// point reads coordinates, which must lie where the United States reach:
// exchanged or missing ones fall outside.
func (f *form) point(lat, lng string) Point {
	var p Point
	var err1, err2 error
	p.Lat, err1 = strconv.ParseFloat(lat, 64)
	p.Lng, err2 = strconv.ParseFloat(lng, 64)
	switch {
	case err1 != nil || math.IsNaN(p.Lat):
		f.bad("lat", "must be degrees, such as 33.4516")
	case err2 != nil || math.IsNaN(p.Lng):
		f.bad("lng", "must be degrees, such as -112.0699")
	case p.Lat < -15 || p.Lat > 72 || p.Lng > -64 && p.Lng < 130 || math.Abs(p.Lng) > 180:
		f.bad("lat", "with lng is not in the United States: are the two exchanged?")
	default:
		return p
	}
	return Point{}
}

func (f *form) telephone(field string) string {
	s := f.fields[field]
	if s != "" && !teleForm.MatchString(s) {
		f.bad(field, "must be a telephone number")
	}
	return s
}

func (f *form) website() string {
	s := f.text("website", 2*longestText)
	if u, err := url.Parse(s); s != "" && (err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "") {
		f.bad("website", "must be an http or https address")
	}
	return s
}

func (f *form) yes(field string, absent bool) bool {
	switch strings.ToLower(f.fields[field]) {
	case "":
		return absent
	case "true", "yes", "y", "t", "1":
		return true
	case "false", "no", "n", "f", "0":
		return false
	}
	f.bad(field, "must be true or false")
	return false
}

func (f *form) date(field string) civil.Date {
	d, err := dateOrNone(f.fields[field])
	if err != nil {
		f.bad(field, "must be a date, YYYY-MM-DD")
	}
	return d
}

func (f *form) capabilities() Capabilities {
	words := strings.FieldsFunc(f.fields["capabilities"], func(c rune) bool { return strings.ContainsRune(";,| ", c) })
	all, ok := CapabilitiesOf(words...)
	if !ok {
		f.bad("capabilities", "must be of "+strings.Join(CapabilityNames[:], ", ")+", with ; between")
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
		f.bad("hours", "must be such as Mo-Fr 07:00-15:30; Sa 08:00-12:00, or JSON by day of the week")
		return nil
	}
	return h
}
