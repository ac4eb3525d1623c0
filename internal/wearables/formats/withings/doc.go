// Package withings reads the replies of Withings' API: measures, sleep, activity,
// workouts and devices, as {"status":0,"body":{…}} or as the lists inside.
//
// Instants are seconds since 1970. The zone is an IANA name, beside a list or in its
// elements. Segments of sleep and of a day have none, so the user's fallback zone
// applies.
//
// Totals of a night or a day are Withings' own. The segments of a night with a summary
// become only its stages; a night without one is derived from them. Steps and energy
// within a day become series and do not replace the totals of the day.
//
//	kind.go      the provider
//	resource.go  recognizes documents
//	device.go    kinds of devices; devices
//	measure.go   weighings and other spot measurements
//	meastype.go  the types of measures
//	body.go      the parts of a weighing without a series
//	night.go     summaries of nights
//	stretch.go   segments of nights
//	day.go       days; minutes of days
//	workout.go, sport.go
//
// Facts come from Withings' API reference and public samples.
package withings
