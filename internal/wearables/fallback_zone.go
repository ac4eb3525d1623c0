package wearables

import (
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/civil"
)

// Floating reads a wall-clock time without a zone, as if the clock had shown UTC.
var Floating = time.FixedZone("", 0)

// Floats reports whether the provider's times are wall-clock times: no zone applies.
//
// Reference 7.10, floating time.
func Floats(provider string) bool {
	return provider == "freestyle_libre" || provider == "abbott_libreview"
}

// FallbackFor returns the user's fallback zone for a provider; nil for none. The
// reference has none for Wahoo's instants, and for Hammerhead's unless their offset is
// inferred.
func FallbackFor(user users.User, provider string) *time.Location {
	if user.TimeZone == nil || Floats(provider) || provider == "wahoo" || provider == "hammerhead" {
		return nil
	}
	zone, err := civil.Zone(user.TimeZone.Name)
	if err != nil { // the zone is no longer in the database
		return nil
	}
	return zone
}
