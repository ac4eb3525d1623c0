// Package drill rehearses the queue of unmatched results in the sandbox: it
// makes (or is given) orders that stand in a certain place, writes a result
// that fits them in a certain way, has it judged like any other, and looks
// whether the verdict is the expected one. What lies in the queue afterwards is
// real but for the people in it, and can be accepted, rejected and passed on.
//
// A run is a background job that goes through the stages and tells in which it
// is. It is asked for with a key, so that asking twice starts it once.
//
// Reading order: cases.go, run.go (asking and answering), play.go (the stages),
// people.go (orders that it makes itself), report.go (the result).
//
// Reference 1.17, sandbox fixtures.
package drill
