// Package withings reads the replies of Withings' web interface: measures,
// sleep, activity, workouts and devices, as {"status":0,"body":{…}} or as the
// lists inside.
//
// Instants are seconds since 1970. The zone stands beside a list or in its
// elements as an IANA name; stretches of sleep and of a day state none, so
// that the user's fallback zone holds there.
//
// What a night or a day comes to is kept as Withings states it. The stretches
// of a night that has a summary become its stages only; a night that has none
// is derived from them. Steps and energy within a day become series and are
// not added up in place of the totals of the day.
//
//	kind.go      what Withings is among the makers
//	resource.go  telling documents apart
//	device.go    what kind of device something comes from; devices
//	measure.go   weighings and other spot measurements
//	meastype.go  the types of measures
//	body.go      the parts of a weighing that no series has
//	night.go     summaries of nights
//	stretch.go   stretches of nights
//	day.go       days; minutes of days
//	workout.go, sport.go
//
// Facts: Withings' API reference, and public samples.
package withings
