// Package testlab is an independent test laboratory. It receives orders and sends
// results as HL7 version 2.5.1, over MLLP or as files.
//
// It shares no code with the service. It writes and reads messages by its own
// reading of the standard and of the laboratory orders guide (LOI). So a
// mistake of the service meets another opinion. It refuses an order that breaks
// the guide, and keeps the fault in Complaints.
//
//	lab.go       the orders of the laboratory and its answers
//	order.go     reading an order
//	report.go    writing a report
//	segments.go  the text of messages
//	mllp.go, folder.go   the transports
package testlab
