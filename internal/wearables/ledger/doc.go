// Package ledger keeps what came in as it came: the bodies that phones pushed
// and the files that were uploaded. A mapping that was wrong is mended and the
// ledger is read again, without asking a phone or a person for anything.
//
//	payload.go   what a payload is, and Pack, which compresses one
//	mapping.go   the version of today's mapping of each kind
//	keep.go      Keep: a body, in the transaction that stores what it says
//	digest.go    telling the same body again from a new one
//	hour.go      which bodies lie together
//	file.go      KeepFile and Restore: an upload, a mebibyte at a time
//	read.go      List, Get, Body; Touch: a file is being read
//	items.go     which payload a summary was read from
//	forget.go    the end of the retention, and of a user
//
// A payload is compressed, cut into chunks of a mebibyte and sealed with the
// user's key, so that erasing the user erases it in every copy. It lies in the
// database, where every node reaches it; docs/decisions/0006-raw-ledger.md
// says why. Below it, replay reads a user's payloads again.
package ledger
