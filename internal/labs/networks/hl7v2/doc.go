// Package hl7v2 is the network of laboratories that speak HL7 version 2 over
// MLLP: orders go out as OML^O21 or ORM^O01, results and statuses come in as
// ORU^R01, ORL, ORR, ORM and OML.
//
// Settings say how each lab is reached and how it wants to be spoken to; no
// lab is known in code. docs/hl7.md is the guide for whoever connects one.
//
// Reads in this order: settings.go; network.go (the two sides of the
// networks.Network contract); place.go and answer.go (an order, out and
// answered), order.go with person.go and insurance.go (an order as a
// message); receive.go (a message in, stored, acknowledged), requests.go (the
// tests that a message speaks of), reports.go (the orders that those belong
// to), results.go with missing.go, observation.go and specimen.go (what an
// order's tests brought), status.go (what became of the order itself).
//
// Sending is idempotent: the message of an order is the same bytes each time,
// control number included, and carries the order's id as placer number. And a
// lab hears that its message arrived only when the Inbox has it on disk.
package hl7v2
