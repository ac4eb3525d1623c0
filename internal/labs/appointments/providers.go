package appointments

import "hale/internal/labs/places"

// provider is what is known of who draws samples.
//
// Reference 2.1.
type provider struct {
	kind Kind
	// tier of phlebotomy; empty for labs with service centers.
	tier places.Tier
	// confirms later: a booking is held until the provider says so by itself,
	// and can then not be changed through us.
	confirmsLater bool
}

// providers are those that the contract names. A network may bring others of
// phlebotomy: these are taken as offering what the coverage says.
var providers = map[string]provider{
	"getlabs":      {kind: Phlebotomy, tier: places.AppointmentReady},
	"phlebfinders": {kind: Phlebotomy, tier: places.AppointmentRequest},
	"quest":        {kind: AtCenter},
	sonora:         {kind: AtCenter, confirmsLater: true},
}

// sonora works in Arizona alone, for teams that asked for it.
const sonora = "sonora_quest"

// Centers are the labs whose service centers take appointments.
//
// Reference: AppointmentPSCLabs.
var Centers = []string{"quest", sonora}

// Providers are all names that appointments can have.
var Providers = []string{"getlabs", "phlebfinders", "quest", sonora}

// fixed reports that an appointment with the provider cannot be changed or
// cancelled by call.
func fixed(name string) bool { return providers[name].confirmsLater }
