package places

import (
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/teams"
)

// Capabilities is a set of services of a service center, one bit each.
type Capabilities uint8

// The capabilities, in the order of listings.
//
// Spec: PSC info, capabilities.
const (
	Stat Capabilities = 1 << iota
	ScheduledByUs
	ScheduledByLab
)

// CapabilityNames are the words of the wire for the bits, lowest first.
var CapabilityNames = [3]string{"stat", "appointment_scheduling_via_junction", "appointment_scheduling_with_lab"}

// Names returns the words for the bits that are set.
func (c Capabilities) Names() []string {
	names := []string{}
	for i, name := range CapabilityNames {
		if c>>i&1 == 1 {
			names = append(names, name)
		}
	}
	return names
}

// CapabilitiesOf returns the set of some words, or false for an unknown word.
func CapabilitiesOf(words ...string) (all Capabilities, ok bool) {
	for _, word := range words {
		bit := Capabilities(0)
		for i, name := range CapabilityNames {
			if word == name {
				bit = 1 << i
			}
		}
		if bit == 0 {
			return 0, false
		}
		all |= bit
	}
	return all, true
}

// Site is a patient service center: a location of a lab that draws samples.
//
// Spec: Patient service center (PSC).
type Site struct {
	Lab          string // slug
	Code         string // the lab's code for it, unique within the lab
	Name         string
	FirstLine    string
	SecondLine   string
	City         string
	State        string // postal code
	ZIP          string // 5 digits, or 5 and 4
	Point               // of the site, or of the center of its ZIP code
	TimeZone     string // IANA name
	Phone        string
	Fax          string
	Website      string
	Capabilities Capabilities
	Hours        *Hours // nil if unknown
	Active       bool
	ValidFrom    civil.Date // zero for no limit
	ValidTo      civil.Date // last day
}

// Open reports whether the site is open for patients on a day.
func (s Site) Open(day civil.Date) bool {
	return s.Active && (s.ValidFrom.IsZero() || !day.Before(s.ValidFrom)) && (s.ValidTo.IsZero() || !day.After(s.ValidTo))
}

// Viewer is the team that searches. A team sees its own lists before those of all
// teams, and in sandbox made-up lists if there are none.
type Viewer struct {
	Team    teams.ID
	Sandbox bool
}

// AllTeams owns the lists of all teams.
var AllTeams teams.ID

// ErrNoSites is returned for a lab that has no list for the viewer.
//
// Reference 1.14.
var ErrNoSites = fault.New(fault.NotFound, "Lab not supported for PSC info.")

// ErrNoSite is returned for a site code that the lab does not have, or no longer.
var ErrNoSite = fault.New(fault.NotFound, "Site not found.")

const siteColumns = `lab, site_code, name, first_line, second_line, city, state, zip_code, lat, lng, time_zone,
	phone, fax, website, capabilities, hours, active, valid_from, valid_to`

type scanner interface{ Scan(dest ...any) error }

func scanSite(row scanner) (Site, error) {
	var s Site
	var caps int64
	var hours, from, to string
	err := row.Scan(&s.Lab, &s.Code, &s.Name, &s.FirstLine, &s.SecondLine, &s.City, &s.State, &s.ZIP, &s.Lat, &s.Lng, &s.TimeZone,
		&s.Phone, &s.Fax, &s.Website, &caps, &hours, &s.Active, &from, &to)
	if err != nil {
		return Site{}, err
	}
	s.Capabilities = Capabilities(caps)
	if hours != "" {
		if s.Hours, err = ParseHours(hours); err != nil {
			return Site{}, err
		}
	}
	if s.ValidFrom, err = parseOptionalDate(from); err != nil {
		return Site{}, err
	}
	s.ValidTo, err = parseOptionalDate(to)
	return s, err
}

// columns returns the values of siteColumns.
func (s Site) columns() []any {
	return []any{
		s.Lab, s.Code, s.Name, s.FirstLine, s.SecondLine, s.City, s.State, s.ZIP, s.Lat, s.Lng, s.TimeZone,
		s.Phone, s.Fax, s.Website, int64(s.Capabilities), hoursText(s.Hours), s.Active, dateText(s.ValidFrom), dateText(s.ValidTo),
	}
}

func hoursText(h *Hours) string {
	if h == nil {
		return ""
	}
	return h.String()
}

func parseOptionalDate(text string) (civil.Date, error) {
	if text == "" {
		return civil.Date{}, nil
	}
	return civil.ParseDate(text)
}

func dateText(d civil.Date) string {
	if d.IsZero() {
		return ""
	}
	return d.String()
}

// setDates sets the first and last day of a spot to those of the site.
func (s Site) setDates(spot *spot) {
	if !s.ValidFrom.IsZero() {
		spot.from = dayNumber(s.ValidFrom)
	}
	if !s.ValidTo.IsZero() {
		spot.til = dayNumber(s.ValidTo)
	}
}

var epoch = civil.Date{Year: 1970, Month: 1, Day: 1}

func dayNumber(d civil.Date) int32 { return int32(d.DaysSince(epoch)) }
