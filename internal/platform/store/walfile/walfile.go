// Package walfile makes SQLite's log cheaper to write. SQLite writes a frame of
// its log in two pieces, the 24 bytes of its head and the page, each with a call
// of the system: a commit of fifty pages makes a hundred. Here pieces that
// follow one another are gathered and written with one call, at the latest when
// the frame that ends the transaction is whole. And what is synced is the data
// of the log, with as much of the file's own record as it takes to read it
// again (fdatasync), as SQLite does wherever it is compiled for Linux with
// HAVE_FDATASYNC; the library we use is compiled without.
//
// What is on disk, and in which order it gets there, stays the same. The order
// matters at the end of a commit only: other connections learn of its frames
// when all of them have been written, and the caller when they are synced.
//
// SQLite: https://www.sqlite.org/vfs.html, https://www.sqlite.org/fileformat2.html#the_write_ahead_log
package walfile

import "encoding/binary"

// mostPending is how much is gathered at most. SQLite's own methods, which write
// it then, take no more at once.
const mostPending = 1<<17 - 1

// frameHead is the size of the head of a frame. Its second word is the size of
// the database in pages when the frame ends a transaction, and else 0.
const frameHead = 24

func endsTransaction(head []byte) bool { return binary.BigEndian.Uint32(head[4:8]) != 0 }

// gathered is what was written and has not reached the file yet.
type gathered struct {
	at   int64
	data []byte
	// through says that the last head was that of a frame which ends a transaction:
	// it and what comes after it go to the file at once. Such a head may come alone,
	// when SQLite writes the checksums of frames anew.
	through bool
}

// add takes a piece, and tells whether it must reach the file now.
func (g *gathered) add(piece []byte, at int64) (now bool) {
	if len(g.data) == 0 {
		g.at = at
	}
	g.data = append(g.data, piece...)
	if len(piece) == frameHead {
		g.through = endsTransaction(piece)
	}
	return g.through
}

func (g *gathered) drop() { g.data = g.data[:0] }

// takes says whether a piece can be gathered with those before it.
func (g *gathered) takes(at int64, n int) bool {
	return len(g.data) == 0 || at == g.at+int64(len(g.data)) && len(g.data)+n <= mostPending
}

// touches says whether part of what lies there has not reached the file.
func (g *gathered) touches(at int64, n int) bool {
	return len(g.data) > 0 && at < g.at+int64(len(g.data)) && g.at < at+int64(n)
}
