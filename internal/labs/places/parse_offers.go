package places

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// offerFields are the fields of an offer.
var offerFields = []string{"provider", "zip_code", "tier", "days", "earliest", "latest", "lead_hours"}

// ReadOffers reads a file of phlebotomy coverage: CSV with titles, or JSON
// with an object on each line.
func ReadOffers(file io.Reader) (Read[Offer], error) {
	return lines(file, offerFields, (*form).offer,
		func(o Offer) string { return o.Provider + "\n" + o.ZIP + "\n" + string(o.Tier) })
}

// longestLead is a month: what takes longer is not coverage.
const longestLead = 31 * 24

func (f *form) offer() Offer {
	o := Offer{
		Provider: f.matched("provider", slugForm, "a provider's slug, such as visits_one"),
		Tier:     Tier(strings.ToLower(f.fields["tier"])),
		ZIP:      f.fields["zip_code"],
		Days:     EveryDay, Earliest: 7 * 60, Latest: 18 * 60, LeadHours: 24,
	}
	if !zipForm(o.ZIP) {
		f.bad("zip_code", "must be 5 digits")
	} else if place, known := Zip(o.ZIP); !known || !place.Located {
		f.bad("zip_code", "is not on the map")
	} else {
		o.ZIP, o.TimeZone = place.ZIP, place.TimeZone
	}
	if o.Tier != AppointmentReady && o.Tier != AppointmentRequest {
		f.bad("tier", fmt.Sprintf("must be %s or %s", AppointmentReady, AppointmentRequest))
	}
	if text := f.fields["days"]; text != "" {
		var err error
		if o.Days, err = ParseWeekdays(strings.ReplaceAll(text, ";", ",")); err != nil {
			f.bad("days", "must be such as Mo-Fr or Mo,We,Sa")
		}
	}
	o.Earliest, o.Latest = f.clock("earliest", o.Earliest), f.clock("latest", o.Latest)
	if o.Earliest >= o.Latest {
		f.bad("latest", "must be after earliest")
	}
	if text := f.fields["lead_hours"]; text != "" {
		hours, err := strconv.Atoi(text)
		if err != nil || hours < 0 || hours > longestLead {
			f.bad("lead_hours", fmt.Sprintf("must be 0 to %d", longestLead))
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
		f.bad(field, "must be a time, such as 07:00")
	}
	return minute
}
