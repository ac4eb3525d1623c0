package fit

import (
	"bytes"
	"context"
	"encoding/binary"

	"github.com/muktihari/fit/decoder"

	"hale/internal/platform/fault"
	"hale/internal/wearables/formats/files"
)

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
