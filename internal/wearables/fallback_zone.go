package wearables

import (
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/civil"
)

// Floats says whether the provider's times are what a clock showed, to be read
// as they stand: no zone moves them.
//
// Reference 7.10, floating time.
func Floats(provider string) bool {
	return provider == "freestyle_libre" || provider == "abbott_libreview"
}

// FallbackFor is the user's fallback zone for a provider; nil for none. The
// reference leaves Wahoo's instants without one, and Hammerhead's unless their
// offset is inferred.
func FallbackFor(user users.User, provider string) *time.Location {
	if user.TimeZone == nil || Floats(provider) || provider == "wahoo" || provider == "hammerhead" {
		return nil
	}
	zone, err := civil.Zone(user.TimeZone.Name)
	if err != nil { // a zone that left the database since
		return nil
	}
	return zone
}
