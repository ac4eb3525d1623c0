package healthconnect

import (
	"encoding/binary"
	"io"
	"os"

	"hale/internal/platform/fault"
)

// SQLite reads and parses a database's whole schema before any statement. A few
// hundred megabytes of small views would take all memory. So the reader
// measures the schema first, without SQLite. A phone's schema has a few hundred
// entries and a few hundred kilobytes.
const (
	maxEntries = 2000    // tables, views, indexes and triggers, and pages of them
	maxSchema  = 4 << 20 // bytes
)

var errSchema = fault.Newf(fault.Unprocessable, "the database has more than %d tables and views, or longer ones than any phone's", maxEntries)

// The schema is the table whose tree begins on the first page, after the file's header.
// Numbers are big-endian.
//
// Source: https://sqlite.org/fileformat2.html, 1.3 and 1.6.
const (
	fileHeader   = 100
	pageSizeAt   = 16
	interiorPage = 5
	leafPage     = 13
)

// boundSchema refuses a database whose schema is too large to read. A tree with a loop
// has more pages than any limit. SQLite itself detects other pages as damage.
func boundSchema(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return schemaFits(file)
}

func schemaFits(file io.ReaderAt) error {
	header := make([]byte, fileHeader)
	if n, _ := file.ReadAt(header, 0); n < fileHeader { // SQLite will report why it cannot read the file
		return nil
	}
	size := int64(binary.BigEndian.Uint16(header[pageSizeAt:]))
	if size == 1 {
		size = 1 << 16
	}
	if size < 512 {
		return nil
	}
	page, entries, length := make([]byte, size), 0, uint64(0)
	for waiting := []int64{1}; len(waiting) > 0; {
		number := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		n, _ := file.ReadAt(page, (number-1)*size)
		clear(page[n:])
		at := 0
		if number == 1 {
			at = fileHeader
		}
		kind, cells := page[at], cellsOf(page, at)
		if kind != interiorPage && kind != leafPage {
			continue
		}
		if entries += 1 + len(cells); entries > maxEntries {
			return errSchema
		}
		if kind == interiorPage {
			waiting = append(waiting, int64(binary.BigEndian.Uint32(page[at+8:])))
			for _, cell := range cells {
				waiting = append(waiting, int64(binary.BigEndian.Uint32(cell)))
			}
			continue
		}
		for _, cell := range cells {
			if length += min(varint(cell), maxSchema+1); length > maxSchema {
				return errSchema
			}
		}
	}
	return nil
}

// cellsOf returns the cells of a page. Each runs from the cell's start to the end of the
// page. at is the position of the page's header. Cells that begin outside of the page are
// left out.
func cellsOf(page []byte, at int) (all [][]byte) {
	count, first := int(binary.BigEndian.Uint16(page[at+3:])), at+8
	if page[at] == interiorPage {
		first += 4
	}
	for i := range count {
		pointer := first + 2*i
		if pointer+2 > len(page) {
			break
		}
		if start := int(binary.BigEndian.Uint16(page[pointer:])); start+4 <= len(page) {
			all = append(all, page[start:])
		}
	}
	return all
}

// varint decodes SQLite's number of one to nine bytes.
func varint(b []byte) (v uint64) {
	for i, c := range b[:min(len(b), 9)] {
		if i == 8 {
			return v<<8 | uint64(c)
		}
		v = v<<7 | uint64(c&0x7f)
		if c < 0x80 {
			break
		}
	}
	return v
}
