// Package ledger stores payloads as received: pushed bodies and uploaded files. When a
// mapping is corrected, stored payloads are reprocessed, without asking a phone or a person
// to send them again.
//
//	payload.go   payloads, and Pack, which compresses one
//	mapping.go   the version of the current mapping of each kind
//	keep.go      Keep: a body, in the transaction that stores its data
//	digest.go    ids by content, to find duplicates
//	hour.go      the hour of a body
//	file.go      KeepFile and Restore: an upload, a mebibyte at a time
//	read.go      List, Get, Body; Touch
//	items.go     the payload of a summary
//	forget.go    the end of the retention
//
// A payload is compressed, cut into chunks of a mebibyte and sealed with the user's key.
// So erasing the user erases it in every copy. It is in the database, which every node
// can read; see docs/decisions/0006-raw-ledger.md. Package replay reprocesses the
// payloads of users.
package ledger
