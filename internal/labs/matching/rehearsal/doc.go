// Package rehearsal tests the queue of unmatched results in the sandbox. It
// creates orders in certain states, or uses given ones, and writes a result
// that matches them in a certain way. It has the result judged like any other,
// and checks that the decision is the expected one. The result in the queue is
// real except for its people: it can be accepted, rejected and forwarded.
//
// A run is a background job that goes through the stages and reports the
// current one. A request has a key, so sending it twice starts one run.
//
// Reading order: run.go (cases, requests and answers), execute.go (the
// stages), orders.go (orders that a run creates), report.go (the result).
//
// Reference 1.17, sandbox fixtures.
package rehearsal
