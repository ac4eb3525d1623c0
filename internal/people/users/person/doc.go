// Package person has the parts that descriptions of people share (names,
// addresses, telephone numbers, guarantors) and the rules they must keep.
//
// A Form checks the fields of one request, tidies them and collects every
// fault, so that a caller learns all of them at once. Faults name the field and
// never its value.
//
// Reference 1.9 (names, zip codes, states, telephone numbers), 5.7 and 5.8.
package person
