// Package nightscout reads the data of a Nightscout server, as its API and backup tools
// write it: JSON arrays, or one object a line. The records are entries (sensor
// readings), treatments (insulin, carbohydrates, notes) and the pump's history in the
// form of openaps.
//
// Nightscout is the wearer's own server and collects from sensors and pumps of any
// manufacturer, so no provider of the catalogue matches. Its data is stored under
// `manual` with the app id "nightscout". The name of a manufacturer would mix it with
// that manufacturer's own export.
//
//	kind.go    recognizes a file
//	record.go  the fields of all three documents
//	reader.go  the stream of records
//	entry.go, treatment.go  converts records to samples
//	moment.go  instants and offsets
//
// Facts come from the OpenAPI document of cgm-remote-monitor and public samples.
package nightscout
