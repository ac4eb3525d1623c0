package fit

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/google/uuid"
	"github.com/muktihari/fit/decoder"

	"hale/internal/platform/fault"
	"hale/internal/wearables/formats/files"
)

// Kind is that of FIT files.
var Kind = files.Kind{Name: "fit", Title: "FIT file", Recording: true, Check: check, Run: run}

// defaultLimit bounds a file, in bytes: a week at one record a second takes
// half of it.
const defaultLimit = 32 << 20

// The two lengths that a header may have, and the word in it.
const (
	shortHeader = 12
	longHeader  = 14
	magic       = ".FIT"
)

func isHeader(raw []byte) bool {
	return len(raw) >= shortHeader && (raw[0] == shortHeader || raw[0] == longHeader) && bytes.Equal(raw[8:12], []byte(magic))
}

func check(path string, limit int64) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	head := make([]byte, shortHeader)
	if _, err := io.ReadFull(file, head); err != nil || !isHeader(head) {
		return files.NewUnlikeError("this is not a FIT file: the header of one is missing")
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if most := atMost(limit); info.Size() > most {
		return fault.Newf(fault.TooLarge, "a FIT file may have at most %d bytes", most)
	}
	return nil
}

func atMost(limit int64) int64 {
	if limit <= 0 {
		return defaultLimit
	}
	return min(limit, defaultLimit)
}

// run imports a file. It reads the file as a whole, which is small, because the
// sessions of the records follow them.
func run(ctx context.Context, in files.Input) (*files.Outcome, error) {
	outcome := files.NewOutcome()
	if err := check(in.Path, in.Limit); err != nil {
		return outcome, err
	}
	raw, err := os.ReadFile(in.Path)
	if err != nil {
		return outcome, err
	}
	parts, err := readChain(ctx, raw, outcome)
	if err != nil {
		return outcome, err
	}
	stores := map[string]*files.Store{} // a chain may hold files of several makers
	var nights []*fileContent
	owned := &devices{in.Device, map[files.Device]uuid.UUID{}}
	useful := false
	for _, p := range parts {
		found, err := p.find(ctx, owned)
		if err != nil {
			return outcome, err
		}
		if found.empty() {
			continue
		}
		useful = true
		store := stores[found.provider]
		if store == nil {
			if store, err = in.Store(ctx, found.provider, outcome); err != nil {
				return outcome, err
			}
			stores[found.provider] = store
		}
		if err := found.keep(ctx, store, outcome); err != nil {
			return outcome, err
		}
		if found.statesNights() {
			nights = append(nights, found)
		}
		store.ReportProgress(p.end, int64(len(raw)), outcome.Records, outcome.Skipped())
	}
	if !useful {
		return outcome, fault.New(fault.Unprocessable, "the FIT file holds no workout, monitoring or measurement: "+describe(parts))
	}
	for _, provider := range slices.Sorted(maps.Keys(stores)) {
		if err := stores[provider].Finish(ctx); err != nil {
			return outcome, err
		}
	}
	for _, found := range nights { // the sleeps of the file are stored by now
		if err := found.joinNights(ctx, stores[found.provider], outcome); err != nil {
			return outcome, err
		}
	}
	return outcome, nil
}

// describe names the sort of a file that has no usable data.
func describe(parts []*part) string {
	for _, p := range parts {
		if p.undated {
			return "its times count from when the device was switched on, so the time of day is unknown"
		}
		if word := typeWord(p.id.Type); word != "" {
			return "it is a file of the type " + word
		}
	}
	return "it is empty or damaged"
}

// maxParts bounds the files of one chain.
const maxParts = 10_000

// readChain reads every file of a chain. It keeps the readable part of a damaged or
// truncated file: an activity that ended with an empty battery is still an activity.
// Only a completely unreadable chain is a fault.
func readChain(ctx context.Context, raw []byte, outcome *files.Outcome) ([]*part, error) {
	outcome.Bytes = int64(len(raw))
	var parts []*part
	for at, n := 0, 0; at < len(raw); n++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !isHeader(raw[at:]) || n >= maxParts {
			outcome.Damaged++ // the last file is followed by more data
			break
		}
		p := newPart(outcome)
		length := p.read(raw[at:])
		at += length
		p.end = int64(at)
		if p.cut {
			p.strap.breakOff()
		}
		if n := len(parts); n > 0 && p.isStrap() {
			parts[n-1].join(p)
			continue
		}
		parts = append(parts, p)
	}
	if outcome.Records == 0 {
		return nil, fault.New(fault.Unprocessable, "the FIT file is damaged: there is no message in it that can be read")
	}
	return parts, nil
}

// read decodes the file at the start of raw, and returns its length in bytes.
func (p *part) read(raw []byte) int {
	header := int(raw[0])
	size := int(binary.LittleEndian.Uint32(raw[4:8]))
	whole := header + size + 2 // with the checksum behind it
	if size == 0 || header > len(raw) || size > len(raw) || whole > len(raw) {
		// Devices write the size when they close a file.
		p.outcome.Truncated, p.cut = true, true
		whole = len(raw)
		raw = bytes.Clone(raw)
		binary.LittleEndian.PutUint32(raw[4:8], uint32(max(1, whole-header)))
	} else if sum := binary.LittleEndian.Uint16(raw[whole-2 : whole]); sum != crc16(raw[:whole-2]) {
		// Some devices write a wrong sum or none, so the readable part counts.
		p.outcome.Damaged++
	}
	// The library checks the sum as if headers had one of their own, which
	// many have not: it would refuse one good file in five.
	d := decoder.New(bytes.NewReader(raw[:whole]), decoder.WithIgnoreChecksum(), decoder.WithBroadcastOnly(), decoder.WithMesgListener(p))
	if _, err := d.Decode(); err != nil {
		p.cut = true
		if !p.outcome.Truncated {
			p.outcome.Damaged++
		}
	}
	return whole
}

// crc16 returns the checksum of FIT. It processes four bits at a time.
//
// FIT protocol, CRC.
func crc16(raw []byte) uint16 {
	sum := uint16(0)
	for _, b := range raw {
		for _, nibble := range [2]byte{b & 0xF, b >> 4} {
			sum = sum>>4&0x0FFF ^ crcTable[sum&0xF] ^ crcTable[nibble]
		}
	}
	return sum
}

var crcTable = [16]uint16{
	0x0000, 0xCC01, 0xD801, 0x1400, 0xF001, 0x3C00, 0x2800, 0xE401,
	0xA001, 0x6C00, 0x7800, 0xB401, 0x5000, 0x9C01, 0x8801, 0x4400,
}
