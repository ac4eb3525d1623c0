// Package webhooks delivers events to the endpoints of a team, at least once
// each, signed, and shows the result of every attempt.
//
// Once the API has answered 2xx, each event of the request is on disk with one
// delivery for each endpoint that listens to it (package events does that). It
// reaches the endpoint or is shown as failed or held, and can be sent again for as
// long as it is kept.
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
//	hold.go           holding older deliveries of an endpoint that is switched on
//
//	deliveries.go  deliveries and attempts to look at; accounting for a range of numbers
//	replay.go      sending again
//	example.go     posting an example
//
// # Path of a delivery
//
// A delivery is a row that is pending and due. There is one path: a commit wakes
// the queues of the team's endpoints, a queue claims due rows, a worker posts, the
// recorder writes the result. Retries, replays and rows that another node left take
// the same path; a timer, a notification or the sweep wakes the queue.
//
// A queue claims up to a couple of hundred rows at a time and passes over those that
// are claimed: on SQLite a set in memory, on PostgreSQL the node's id in the row.
// Posts are made outside of any transaction, at most 32 at a time to one endpoint,
// and results are recorded in groups. A row stays claimed until its result is on
// disk. After a crash in between, the post is made again with the same message id:
// that is the only way to a duplicate.
//
// Each endpoint has its own queue, workers, rate and connections, so one that hangs
// delays no other.
//
// A delivery to an endpoint that is off stays pending and is shown as held. When the
// endpoint is switched on again, its owner chooses from when on the held ones are
// sent; the others stay held until they are replayed. Nothing is sent before that is
// decided for all of them.
package webhooks
