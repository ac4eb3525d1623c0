// Package person checks names, addresses, telephone numbers and guarantors.
//
// A Form checks and normalizes the fields of one request. It collects every fault,
// so that a caller sees all of them at once. Faults name the field and never its
// value.
//
// Reference 1.9 (names, zip codes, states, telephone numbers), 5.7 and 5.8.
package person
