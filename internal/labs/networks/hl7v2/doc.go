// Package hl7v2 is the network of laboratories that use HL7 version 2, over
// MLLP or in files.
//
// Orders go out as OML^O21 or ORM^O01. Results and statuses come in as
// ORU^R01, ORL, ORR, ORM and OML. Settings describe the connection to each lab
// and the lab's variant of the standard; no lab is known in code. docs/hl7.md
// explains how to connect a lab.
//
// Sending is idempotent: the message of an order has the same bytes each time,
// control number included, and the order's id is the placer number. A message
// of a lab is acknowledged only when the Inbox has it on disk.
//
// # Reading order
//
//	settings.go   the settings
//	network.go    the listener and the connections
//	peer.go       the peers that may speak for a lab
//	files.go      orders and results in files
//	place.go      sending an order and reading the answer
//	order.go      the order message
//	receive.go    storing and acknowledging a message
//	reports.go    the tests and the orders of a message
//	results.go, observation.go   the results of an order
//	status.go     the status of an order
package hl7v2
