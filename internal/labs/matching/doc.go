// Package matching finds the order of a result that does not name it clearly. It keeps
// doubtful results in a queue for the team to decide.
//
// The inbox passes results that match no order. For example, the sample is unknown, the
// report has another name, the order was cancelled, or the lab is another one. A job
// judges each (match.go). It looks for candidates by sample and by person, and scores
// them with reasons (score.go). Then it chooses one of nine decisions (verdict.go). Only
// a safe match becomes the order's result automatically (isSafe). In a safe match, the
// report names one order and the same person by the rule of package identity. Every
// other result waits until a person accepts, rejects or forwards it (review.go).
//
// A wrong match puts one person's health data into another person's record, so
// a doubtful result always goes to the queue.
//
// Until its user is known, a result is sealed with a key of its own. The key
// is destroyed when the result is forgotten (retention.go).
//
// # Reading order
//
//	types.go      decisions, reasons, statuses; a result in the queue
//	score.go, verdict.go   judging; pure functions
//	match.go      from the inbox to a decision
//	rows.go       storing, listing, searching
//	review.go, target.go   the decisions of the team and of operators
//	unassigned.go results for which no team was found
//	events.go     events
//	retention.go  retention and erasure
//
// Package rehearsal tests all of it in the sandbox.
//
// Reference 1.17.
package matching
