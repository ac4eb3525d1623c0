// Package documents makes the papers of a lab order as PDF: the requisition
// that goes with the patient or the sample, labels for tubes, the notice that
// an insurance may not pay, what a patient must know to give a sample, and the
// report of the results when the lab sent none of its own.
//
// Nothing is stored: a document is made of the order when it is asked for. The
// same order gives the same bytes, because the dates in the file are the
// order's and nothing in it depends on when or where it was made. What names a
// person stands on the pages and nowhere else: titles, properties and file
// names have none of it.
//
// # Reading order
//
//	order.go        an order with everything that its papers say
//	requisition.go, labels.go, notice.go, report.go   the papers of an order
//	instructions.go, advice.go                        how a sample is given
//	links.go        addresses that open a requisition for a week
//	page.go, blocks.go   what a page is made of
//	letters.go      which letters there are, and what becomes of the others
//	barcode.go      bar codes, drawn as rectangles
package documents
