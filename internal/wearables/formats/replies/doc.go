// Package replies reads JSON of providers' APIs: one reply, a list of them, one a line,
// pages, or one object that holds several under names.
//
// No field of a document names its kind, and file names are not used, so the fields
// that only one resource has identify it. So one file may hold several resources, and
// providers stay separate.
//
// A provider is one value (maker.go) and a function that opens its reading. The reading
// is the table of its resources, each with the method that stores its documents. State
// between documents is a field of the receiver:
//
//	var maker = replies.Maker{Kind: "oura", Title: "Oura JSON", Provider: "oura", Lists: []string{"data"}, Open: open}
//
//	var Kind = maker.Files()
//
//	func open(r *replies.Reader) replies.Reading {
//		m := &reader{Reader: r}
//		return replies.Reading{Resources: []replies.Resource{
//			{Name: "heartrate", Keys: []string{"bpm", "source", "timestamp"}, Take: m.heartrate},
//			{Name: "tag", Keys: []string{"day", "tags"}}, // no resource: counted and skipped
//		}, End: m.join}
//	}
//
// The provider's values are stored unchanged. A reader computes only values that follow
// from them, such as the time awake from the time asleep. It counts parts without a
// resource by name.
//
//	maker.go       a provider; recognizes its documents
//	kind.go        recognizes a file; the run of an import; files about several people
//	walk.go        splits bytes into documents
//	truncation.go  the complete part of a truncated file
//	document.go    the fields of a document
//	time.go        its dates and instants
//	reader.go      counting, gathering, storing
//	summary.go     days, nights and their stages as summaries
//	body.go        body values without a series
//	nightly.go     values about a night from other documents
package replies
