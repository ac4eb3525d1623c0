// Package replies reads JSON as the web interfaces of makers reply it: one
// reply, a list of them, one a line, pages, or one object that holds several
// under names.
//
// A document in such a file says in no field what it is, and a file's name is
// not looked at, so each is told by the fields that only its resource has. That
// also lets one file hold several resources, and keeps makers apart.
//
// A maker is one value (maker.go) and a function that opens its reading: the
// table of its resources, each with the method that takes its documents. What
// methods remember between documents is a field of their receiver:
//
//	var maker = replies.Maker{Kind: "oura", Title: "Oura JSON", Provider: "oura", Lists: []string{"data"}, Open: open}
//
//	var Kind = maker.Files()
//
//	func open(r *replies.Reader) replies.Reading {
//		m := &reader{Reader: r}
//		return replies.Reading{Resources: []replies.Resource{
//			{Name: "heartrate", Keys: []string{"bpm", "source", "timestamp"}, Take: m.heartrate},
//			{Name: "tag", Keys: []string{"day", "tags"}}, // no home: counted and skipped
//		}, End: m.join}
//	}
//
// What a maker states is stored as it stands. A reader computes nothing that
// does not follow from it, as the time awake does from the time asleep, and
// counts what has no home by its name.
//
//	maker.go     what a maker is; telling its documents apart
//	kind.go      recognising a file; the run of an import
//	walk.go      from bytes to documents
//	cut.go       what is whole of a file that ends in the middle
//	document.go  a document's fields
//	time.go      its dates and instants
//	reader.go    counting, gathering, storing
//	summary.go   days, nights and their stages as summaries
//	body.go      what no series has of a body
//	nightly.go   what is said of a night elsewhere
//	whose.go     files about several people
package replies
