// Package fhir writes an order and its results as FHIR R4 resources, in one
// bundle of type collection.
//
//	bundle := fhir.Export(order, now)
//	body, err := json.Marshal(bundle)
//
// Every resource has an id that follows from the order's id. An order that is
// exported twice has the same resources, and references in the bundle are URNs
// of those ids. Nothing is sent anywhere.
//
// The standard: https://hl7.org/fhir/R4/.
//
// # Reading order
//
//	input.go      the input: plain structs, independent of FHIR and of the service
//	export.go     the bundle, and the people and organizations in it
//	request.go    the order, and its answers at order entry
//	report.go     the report and its results
//	codes.go      our words as codes of the standard
//	resources.go  the wire types, with only the elements in use
package fhir
