// Package hl7 reads and writes HL7 version 2 messages, 2.1 to 2.8, in the
// pipe-and-hat encoding that laboratories use.
//
//	message, err := hl7.Parse(raw)
//	for _, s := range message.Segments {
//		if s.Name() == "OBX" {
//			code, text := s.Get(3), s.Get(3, 2)
//		}
//	}
//
// Reading order:
//
//	message.go  segments and their values
//	parse.go    bytes to message
//	charset.go, escape.go
//	build.go    a new message, and message to bytes
//	ack.go, batch.go, time.go
//	flags.go    HL7 table 0078
//
// Parsing copies the text once. Segments and fields are slices of that copy,
// and components are cut on request. So a message with a report of megabytes
// costs little more than the report. Nothing is checked against the segment
// tables of a version: labs differ too much for that. The package that reads a
// field knows its meaning.
//
// Messages are about people. Errors name the segment, field and byte of a
// problem, and never the content.
package hl7
