// Package documents renders the documents of a lab order as PDF.
//
// The documents are:
//
//   - the requisition for the patient or the sample
//   - labels for tubes
//   - the notice that an insurance may not pay
//   - the instructions for giving a sample
//   - the report of the results, if the lab sent none
//
// Nothing is stored: a document is rendered from the order on request. The
// same order gives the same bytes, because the dates in the file are the
// order's and nothing depends on the time or the machine. People are named
// only on the pages, not in titles, properties or file names.
//
// # Reading order
//
//	subject.go      an order with the data of its documents
//	times.go        times in the zone of the place
//	requisition.go  the requisition and the labels
//	notice.go       the notice that Medicare may not pay
//	report.go       the report of the results
//	instructions.go how to give a sample
//	links.go        links that open a requisition for a week
//	page.go         pages and their blocks
//	text.go         fonts, letters, and units as people write them
//	barcode.go      bar codes, drawn as rectangles
package documents
