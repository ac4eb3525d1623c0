// Package webhooks delivers events to the endpoints of a team, at least once
// each, signed, and shows what became of every attempt.
//
// Once the API has answered 2xx, each event that the request caused is on disk
// with one delivery for each endpoint that listens to it (package events does
// that), and will reach the endpoint or be seen as failed or held, and can be
// sent again for as long as it is kept.
//
//	endpoints.go settings.go      endpoints: URL, filters, rate, state, and how they change
//	targets.go secrets.go         what sending needs to know of one; rotation
//	secret.go sign.go headers.go  rules that need no database:
//	urls.go guard.go              signatures, custom headers, addresses
//	schedule.go health.go         when to try again, when to give an endpoint up
//
//	deliverer.go sweep.go         the loop over all endpoints
//	line.go claiming.go worker.go one endpoint's share of it
//	fresh.go                      deliveries that are handed over as they are written
//	queue.go bucket.go            what waits in memory, and the rate at which it goes
//	bell.go                       telling this process that endpoints changed
//	post.go                       one HTTP exchange, and the connections that carry it
//	claim.go record.go            the SQL of claims and results
//	record_refused.go             results that the database does not take
//	record_health.go              what results say of an endpoint
//	hold.go                       what waits for an endpoint that is switched on
//
//	log.go attempts.go            deliveries and attempts to look at
//	replay.go reconcile.go        sending again; accounting for a range of numbers
//	example.go                    an example posted at once
//
// # How a delivery goes
//
// A delivery is a row that is pending and due. While an endpoint keeps up, the
// transaction that writes many events hands their rows over as it commits
// (fresh.go), and nothing is looked for. Everything else waits in the database:
// single events, retries, what comes while an endpoint is behind, what another
// node left. The deliverer claims due rows of one endpoint at a time, up to a
// couple of hundred, passing over those already in hand: on SQLite a set in
// memory, on PostgreSQL the node's id in the row.
//
// Posts are made outside of any transaction, at most 32 at a time to one
// endpoint, and results are recorded in groups. Only when a result is on disk
// is the row no longer in hand. A crash in between repeats a post, with the
// same message id: that is the only way to a duplicate.
//
// Each endpoint has its own queue, workers, rate and connections, so one that
// hangs delays no other.
//
// A delivery to an endpoint that is off stays pending and is shown as held.
// When the endpoint is switched on again, its owner chooses from when on the
// held ones are sent; the others become held for good, until they are replayed.
// Nothing is sent before they are.
package webhooks
