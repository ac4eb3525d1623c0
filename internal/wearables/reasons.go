package wearables

// Reasons for which a sample or summary is not stored. They name the rule and not the
// value.
const (
	UnknownResource = "unknown_resource"
	UnknownType     = "unknown_type"             // not a type word of the resource
	UnknownWord     = "unknown_"                 // followed by the field's name: not one of its words
	UnknownSource   = "unknown_source_type"      // not one of sourceTypes
	UnknownDevice   = "unknown_device"           // not a device of the user
	UnknownUnit     = "unknown_unit"             // no conversion to the resource's unit
	MissingType     = "missing_type"             // it is required
	Missing         = "missing_"                 // followed by the field's name: it is required
	Malformed       = "malformed_"               // followed by the field's name: its value cannot be read
	MissingValue    = "missing_value"            // a blood pressure has two
	NotFinite       = "not_finite"               // NaN or infinite
	Implausible     = "implausible_value"        // outside of what a living body or a working device gives
	BadTime         = "implausible_time"         // before 2000, or more than 26 hours ahead; of a cycle, a year
	EndBeforeStart  = "end_before_start"         //
	OutOfBounds     = "outside_ingestion_bounds" // the user's ingestion_start and ingestion_end, ± 1 day
	ShortColumns    = "unequal_columns"          // columns of one group, or lists of one summary, differ in length
	Overlapping     = "overlapping_stages"       // a stage of a sleep begins before the one in front of it ends
	TooLarge        = "too_large"                // the document would not fit into an event
	BadDocument     = "bad_document"             // not a JSON object of the resource's fields
)
