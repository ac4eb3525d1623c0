// Package webhooks delivers events to the endpoints of a team, at least once
// each, signed, and shows the result of every attempt.
//
// Once the API has answered 2xx, the events of the request and their deliveries are
// on disk. Each event has one delivery for each endpoint that listens to it (package
// events does that). A delivery reaches its endpoint or is shown as failed or held.
// It can be sent again for as long as it is kept.
//
//	endpoints.go   endpoints: URL, filters, rate, state; changing them
//	targets.go     where posts go: URLs and custom headers
//	addresses.go   which URLs and addresses are allowed
//	signing.go     secrets, their rotation, and signatures
//	schedule.go    when to retry
//	health.go      when to switch an endpoint off
//
//	deliverer.go      the queues of all endpoints, and the sweep that finds their work
//	endpointqueue.go  one endpoint's queue: claims, lanes, window and rate limit
//	claim.go          the SQL of claims
//	worker.go         one attempt, and what follows from it
//	post.go           one HTTP exchange, and the connections that carry it
//	record.go         the SQL of results
//	hold_rule.go      holding older deliveries of an endpoint that is switched on
//
//	deliveries.go  deliveries and attempts to look at; accounting for a range of numbers
//	replay.go      sending again
//	example.go     posting an example
//
// # Path of a delivery
//
// A delivery is a row that is pending and due. There is one path:
//
//  1. A commit wakes the queues of the team's endpoints.
//  2. A queue claims due rows.
//  3. A worker posts.
//  4. The recorder writes the result.
//
// Retries, replays and rows that another node left use the same path; a timer, a
// notification or the sweep wakes the queue.
//
// A queue claims up to a couple of hundred rows at a time and skips claimed rows. On
// SQLite a set in memory marks them, on PostgreSQL the node's id in the row. Posts
// are made outside of any transaction, at most 32 at a time to one endpoint, and
// results are recorded in groups. A row stays claimed until its result is on disk.
// After a crash in between, the post is made again with the same message id: that is
// the only way to a duplicate.
//
// Each endpoint has its own queue, workers, rate and connections, so one that hangs
// delays no other.
//
// A delivery to an endpoint that is off stays pending and is shown as held. After
// the endpoint is switched on again, its owner chooses the time from which held ones
// are sent. The others stay held until they are replayed. Nothing is sent before
// that is decided for all of them.
package webhooks
