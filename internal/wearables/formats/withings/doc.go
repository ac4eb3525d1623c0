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
//	reader.go   the provider; recognizes documents; devices
//	measure.go  weighings and other spot measurements, by the types of measures
//	sleep.go    summaries of nights and their segments
//	day.go      days, minutes of days, workouts and their sports
//
// Facts come from Withings' API reference and public samples.
package withings
