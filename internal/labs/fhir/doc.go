// Package fhir writes an order and its results as FHIR R4 resources, in one
// bundle of type collection.
//
//	bundle := fhir.Export(order, now)
//	body, err := json.Marshal(bundle)
//
// Reads in this order: input.go (what is asked of the caller: plain structs
// that know neither FHIR nor the rest of the service), export.go (the bundle
// and who is in it), people.go, request.go, answers.go, report.go,
// observation.go (race and ethnicity, an order, its answers at order entry, its
// report, one result), codes.go (our words as codes of the
// standard's), resources.go and types.go (the wire shapes, with only the
// elements that are in use).
//
// Every resource has an id made of the order's, so an order that is exported
// twice has the same resources, and references within the bundle are URNs of
// those ids. Nothing is sent anywhere.
//
// The standard: https://hl7.org/fhir/R4/.
package fhir
