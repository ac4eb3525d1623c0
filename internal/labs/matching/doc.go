// Package matching finds the order of a result that does not say it clearly,
// and keeps what stays in doubt in a queue for the team to decide.
//
// The inbox brings what fits no order: the sample is unknown, the name on the
// report is another, the order was cancelled, the lab is another one. Such a
// report is stored at once (take.go) and judged in a job of its own (match.go):
// candidates are looked for by sample and by person (find.go), and each is
// given a score with its grounds (score.go). The verdict (verdict.go) is one of
// nine decisions. Only a verdict that is beyond doubt becomes the order's
// result by itself (safe): one order, the same person down to the birth date.
// Everything else waits for somebody who accepts it, rejects it or passes it on
// (accept.go, resolve.go).
//
// A report has the power to put one person's health data into another's
// record, so doubt always goes to the queue.
//
// Until it is known whose a result is, it is sealed with a key of its own,
// which is destroyed when the result is forgotten (forget.go).
//
// # Reading order
//
//	words.go      decisions, reasons, statuses
//	item.go       a result in the queue
//	person.go, markers.go, score.go, verdict.go   judging; pure functions
//	take.go, find.go, match.go   from the inbox to a verdict
//	rows.go, list.go             storing, listing, searching
//	accept.go, target.go, resolve.go   what the team decides
//	operate.go    what those who run the service decide
//	announce.go   events
//	forget.go     retention and erasure
//
// Package drill rehearses all of it in the sandbox.
//
// Reference 1.17.
package matching
