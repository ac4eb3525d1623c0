// Package events announces changes: durably, in order and without gaps.
//
// A domain calls Emit inside the transaction of its change. The event, and one
// delivery for each endpoint that listens to its type, commit together with the
// change, or not at all. No second store could miss an event.
//
//	emit.go       writing events and their deliveries
//	envelope.go   the bytes that are stored, signed and sent
//	body.go       how a body is stored
//	id.go         the text form of an event's id
//	catalogue.go  the event types; domains define them, the app registers them
//	feed.go       reading events by number: GET /v2/events?after=N
//	sequence.go   numbering on PostgreSQL; the greatest number, for answers of reads
//	retention.go  deleting old events
//
// # Numbers
//
// Each event of a team has a number, one greater than the event before. A reader
// that has everything up to N asks for what comes after N, and can prove that
// nothing is missing. That holds only if a number never becomes visible before a
// smaller one. SQLite has one writer, so events are numbered as they are written.
// On PostgreSQL transactions commit in another order than they began, so events
// commit without a number. A sequencer then numbers the visible events, under a
// lock, in the order in which they were written; deliveries wait for that. So an
// event has a greater number than every event that was committed before its
// transaction began.
//
// A transaction that emits an event has locked the object of the event. It emits
// after the statement that changes the object, or locks the object before it reads it.
// Otherwise a concurrent change could be announced before the change that it
// replaced.
//
// The next number is the greatest so far plus one, so retention keeps each team's
// last event whatever its age.
package events
