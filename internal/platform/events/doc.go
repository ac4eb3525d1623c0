// Package events announces what happened: durably, in order and without gaps.
//
// A domain calls Emit inside the transaction of its change. The event, and one
// delivery for each endpoint that listens to its type, commit together with
// the change, or not at all: there is no moment at which one exists without
// the other, and no second store that could miss it.
//
//	emit.go       writing an event and its deliveries
//	many.go       the same for many events, in a batch of the caller's
//	envelope.go, rows.go   the bytes that are stored, signed and sent, always the same
//	body.go, id.go         a stored body; how an event's id looks outside
//	courier.go    handing new deliveries over to who posts them
//	bell.go       telling this process that events or deliveries are new
//	recent.go     the newest envelopes, in memory
//	catalogue.go  the types there are, with a sentence and an example each
//	types*.go     the catalogue's contents
//	feed.go, await.go      reading events by number: GET /v2/events?after=N
//	position.go   whether a reader has the events that we have
//	sequence.go   numbering on PostgreSQL
//	retention.go  forgetting old events, and a user's when the user is erased
//
// # Numbers
//
// Each event of a team has a number, one greater than the event before. A
// reader that has everything up to N asks for what comes after N, and can
// prove that nothing is missing. That holds only if a number never becomes
// visible before a smaller one. SQLite has one writer, so there an event is
// numbered as it is written. On PostgreSQL transactions commit in another
// order than they began, so events commit without a number and a sequencer
// numbers, under a lock, what has become visible, in the order in which it was
// written; deliveries wait for that. A transaction that ends with its events (Add)
// takes that lock and numbers them itself, after what the team has committed
// without a number until then, unless that is the backlog of an outage. So an
// event has a greater number than every event that was committed before its
// transaction began.
//
// Who emits an event holds what it is about: it emits after the statement that
// changes that, or locks it before it reads it. Else what somebody else changes
// meanwhile is told before what it replaced.
//
// The next number is the greatest so far plus one, so retention keeps each
// team's last event whatever its age.
package events
