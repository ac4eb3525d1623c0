// Package nightscout reads what a Nightscout server holds, as its API answers
// and its tools back up: JSON arrays, or one object a line, of entries (what a
// glucose sensor measured), treatments (insulin, carbohydrates, notes) and the
// pump's history in the form of openaps.
//
// Nightscout is the wearer's own server and collects from sensors and pumps of
// any make, so no provider of the catalogue stands for it. Its data is stored
// under `manual`, what the person or the team brings in themselves, with the
// app id "nightscout": naming the maker whose device it may have been would
// mix it with what that maker's own export says.
//
//	kind.go    recognising a file
//	record.go  the fields of all three documents
//	reader.go  the stream of records
//	entry.go, treatment.go  records to samples
//	moment.go  instants and offsets
//
// Facts: the OpenAPI document of cgm-remote-monitor, and public samples.
package nightscout
