// Package ledger stores payloads as received: pushed bodies and uploaded files. When a
// mapping is corrected, stored payloads are reprocessed, without asking a phone or a person
// to send them again.
//
//	payload.go   payloads, their hours, and the version of the current mapping of each kind
//	write.go     Keep: a body, in the transaction that stores its data
//	digest.go    ids by content, to find duplicates
//	file.go      KeepFile and Restore: an upload, a mebibyte at a time
//	read.go      List, Get, Body; Touch; the payload of a summary
//	remove.go    the end of the retention
//
// A payload is compressed, cut into chunks of a mebibyte and sealed with the user's key.
// So erasing the user erases it in every copy. It is in the database, which every node
// can read; see docs/decisions/0006-raw-ledger.md. Package replay reprocesses the
// payloads of users.
package ledger
