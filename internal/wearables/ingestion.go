package wearables

import (
	"errors"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/civil"
)

// ReasonPaused is the reason for which nothing of a batch is stored: the connection stores
// no more data. It is not an error, so that a phone does not retry forever.
const ReasonPaused = "connection_paused"

// ErrPaused refuses a batch as a whole, because the connection is paused.
var ErrPaused = errors.New("wearables: the connection is paused")

// CatchUp is the time after ingestion_end in which data of earlier days is accepted.
//
// Reference 7.10.
const CatchUp = 7 * 24 * time.Hour

// HasIngestionEnded reports whether the collection of a user's data has ended: the last day, in
// UTC, and CatchUp after it have passed. Zones do not matter with a week of CatchUp.
func HasIngestionEnded(now time.Time, lastDay *civil.Date) bool {
	return lastDay != nil && !now.Before(lastDay.AddDays(1).In(time.UTC).Add(CatchUp))
}

// IngestionEndedBefore returns a day: collection has ended for users whose last day is before
// it.
func IngestionEndedBefore(now time.Time) civil.Date { return civil.DateOf(now.UTC().Add(-CatchUp)) }

// Reasons for which a sample or summary is not stored. They name the rule and not the
// value.
const (
	UnknownResource   = "unknown_resource"
	UnknownType       = "unknown_type"             // not a type word of the resource
	UnknownWord       = "unknown_"                 // followed by the field's name: not one of its words
	UnknownSource     = "unknown_source_type"      // not one of sourceTypes
	UnknownDevice     = "unknown_device"           // not a device of the user
	UnknownUnit       = "unknown_unit"             // no conversion to the resource's unit
	MissingType       = "missing_type"             // it is required
	MissingField      = "missing_"                 // followed by the field's name: it is required
	MalformedField    = "malformed_"               // followed by the field's name: its value cannot be read
	MissingValue      = "missing_value"            // a blood pressure has two
	NotFinite         = "not_finite"               // NaN or infinite
	ImplausibleValue  = "implausible_value"        // outside of what a living body or a working device gives
	BadTime           = "implausible_time"         // before 2000, or more than 26 hours ahead; of a cycle, a year
	EndBeforeStart    = "end_before_start"         //
	OutOfBounds       = "outside_ingestion_bounds" // the user's ingestion_start and ingestion_end, ± 1 day
	ShortColumns      = "unequal_columns"          // columns of one group, or lists of one summary, differ in length
	OverlappingStages = "overlapping_stages"       // a stage of a sleep begins before the one in front of it ends
	TooLarge          = "too_large"                // the document would not fit into an event
	BadDocument       = "bad_document"             // not a JSON object of the resource's fields
)

// FloatingZone reads a wall-clock time without a zone, as if the clock had shown UTC.
var FloatingZone = time.FixedZone("", 0)

// HasFloatingTimes reports whether the provider's times are wall-clock times: no zone applies.
//
// Reference 7.10, floating time.
func HasFloatingTimes(provider string) bool {
	return provider == "freestyle_libre" || provider == "abbott_libreview"
}

// FallbackFor returns the user's fallback zone for a provider; nil for none. The
// reference has none for Wahoo's instants, and for Hammerhead's unless their offset is
// inferred.
func FallbackFor(user users.User, provider string) *time.Location {
	if user.TimeZone == nil || HasFloatingTimes(provider) || provider == "wahoo" || provider == "hammerhead" {
		return nil
	}
	zone, err := civil.Zone(user.TimeZone.Name)
	if err != nil { // the zone is no longer in the database
		return nil
	}
	return zone
}
