// Package hl7 reads and writes HL7 version 2 messages, 2.1 to 2.8, in the
// pipe-and-hat encoding that laboratories speak.
//
//	message, err := hl7.Parse(raw)
//	for _, s := range message.Segments {
//		if s.Name() == "OBX" {
//			code, text := s.Get(3), s.Get(3, 2)
//		}
//	}
//
// Reads in this order: message.go (segments and how a value is asked for),
// parse.go (bytes to message), charset.go, escape.go, emit.go (message to
// bytes), build.go (a message of our own), ack.go, batch.go, time.go, flags.go
// (HL7 table 0078).
//
// Parsing copies the text once. Segments and fields are pieces of that copy,
// and components are cut when somebody asks, so a message with a report of
// megabytes costs little more than the report. Nothing is checked against the
// segment tables of a version: labs differ too much for that, and what a field
// means is the matter of the package that reads it.
//
// Messages are about people. Errors say where something is wrong, as segment,
// field and byte, and never what stands there.
package hl7
