package users

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"hale/internal/people/users/person"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
)

// longestClientID is in characters; it is our choice, the spec names no limit.
const longestClientID = 256

// longestZone is longer than any IANA name; longer text is not repeated back.
const longestZone = 64

func (n NewUser) check(today civil.Date) error {
	bounds := boundsFault(n.IngestionStart, n.IngestionEnd)
	return fault.Join(clientIDFault(n.ClientUserID), zoneFault(n.TimeZone), birthDateFault(n.BirthDate, today), bounds)
}

// check looks at the update alone; bounds are checked against what is stored.
func (u Update) check(today civil.Date) error {
	var faults []*fault.Error
	if u.ClientUserID.Set && !u.ClientUserID.Null {
		faults = append(faults, clientIDFault(u.ClientUserID.Value))
	}
	if u.TimeZone.Set && !u.TimeZone.Null {
		faults = append(faults, zoneFault(&u.TimeZone.Value))
	}
	if u.BirthDate.Set && !u.BirthDate.Null {
		faults = append(faults, birthDateFault(&u.BirthDate.Value, today))
	}
	return fault.Join(faults...)
}

// clientIDFault finds what is wrong with a client_user_id. It is kept byte for
// byte: no trimming, no folding.
func clientIDFault(id string) *fault.Error {
	bad := func(code, msg string) *fault.Error {
		return fault.New(fault.Invalid, msg).At("client_user_id").WithType(code)
	}
	switch {
	case id == "":
		return bad("string_too_short", "String should have at least 1 character")
	case utf8.RuneCountInString(id) > longestClientID:
		return bad("string_too_long", fmt.Sprintf("String should have at most %d characters", longestClientID))
	case !utf8.ValidString(id) || strings.ContainsRune(id, 0):
		return bad("value_error", "Value error, client_user_id must be text without NUL characters")
	}
	return nil
}

func zoneFault(name *string) *fault.Error {
	if name == nil {
		return nil
	}
	if _, err := civil.Zone(*name); err == nil {
		return nil
	}
	msg := "Value error, Invalid IANA time zone"
	if len(*name) <= longestZone {
		msg += ": " + *name
	}
	return fault.New(fault.Invalid, msg).At("fallback_time_zone")
}

func birthDateFault(day *civil.Date, today civil.Date) *fault.Error {
	if day == nil {
		return nil
	}
	form := person.NewForm(today)
	form.BirthDate("fallback_birth_date", *day)
	return form.First()
}

// boundsFault finds an ingestion window that ends before it starts. Both days
// belong to the window, so a window of one day is fine.
func boundsFault(start, end *civil.Date) *fault.Error {
	if start == nil || end == nil || !end.Before(*start) {
		return nil
	}
	return fault.New(fault.Invalid, "Value error, ingestion_end must not be before ingestion_start").At("ingestion_end")
}

func checkBounds(start, end *civil.Date) error {
	return fault.Join(boundsFault(start, end))
}
