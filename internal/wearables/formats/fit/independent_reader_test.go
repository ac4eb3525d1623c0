package fit

import (
	"encoding/binary"
	"slices"
)

// This file has another reader and a writer of FIT, written from the text of the protocol
// and without the library. The tests compare with them.

// rawMessage is a message: the raw integer of each field.
type rawMessage struct {
	num    uint16
	fields map[byte]uint64
	arrays map[byte][]byte // as in the file
}

// readByHand lists the messages of a file. It stops at the first unknown construct.
func readByHand(raw []byte) []rawMessage {
	type field struct{ num, size byte }
	type definition struct {
		num    uint16
		order  binary.ByteOrder
		fields []field
		skip   int // bytes of developer fields
	}
	var (
		defs     [16]*definition
		all      []rawMessage
		lastTime uint32
	)
	at, end := int(raw[0]), int(raw[0])+int(binary.LittleEndian.Uint32(raw[4:]))
	for at < min(end, len(raw)) {
		head := raw[at]
		at++
		local := head & 0x0F
		if head&0xC0 == 0x40 { // a definition
			if at+5 > len(raw) {
				return all
			}
			d := &definition{order: binary.LittleEndian}
			if raw[at+1] == 1 {
				d.order = binary.BigEndian
			}
			d.num = d.order.Uint16(raw[at+2:])
			n := int(raw[at+4])
			at += 5
			for range n {
				d.fields = append(d.fields, field{raw[at], raw[at+1]})
				at += 3
			}
			if head&0x20 != 0 {
				n := int(raw[at])
				at++
				for range n {
					d.skip += int(raw[at+1])
					at += 3
				}
			}
			defs[local] = d
			continue
		}
		m := rawMessage{fields: map[byte]uint64{}, arrays: map[byte][]byte{}}
		if head&0x80 != 0 { // a short header that holds the last bits of the time
			local = head >> 5 & 3
			lastTime += (uint32(head) - lastTime) & 0x1F
			m.fields[253] = uint64(lastTime)
		}
		d := defs[local]
		if d == nil {
			return all
		}
		m.num = d.num
		for _, f := range d.fields {
			if at+int(f.size) > len(raw) {
				return all
			}
			b := slices.Clone(raw[at : at+int(f.size)])
			m.arrays[f.num] = raw[at : at+int(f.size)]
			if d.order == binary.BigEndian {
				slices.Reverse(b)
			}
			v := uint64(0)
			for i, c := range b[:min(len(b), 8)] {
				v |= uint64(c) << (8 * i)
			}
			m.fields[f.num] = v
			at += int(f.size)
		}
		if at += d.skip; at > len(raw) {
			return all
		}
		if t, ok := m.fields[253]; ok {
			lastTime = uint32(t)
		}
		all = append(all, m)
	}
	return all
}

// value is one field to write. size is 1, 2 or 4 bytes. The base type is the unsigned one
// of that size.
type value struct {
	num, size byte
	v         int64
}

var baseTypes = map[byte]byte{1: 0x02, 2: 0x84, 4: 0x86}

// baseType returns the base type of a field. In messages of heart rates it is uint8 for
// the list of rates and byte for the times of the beats, whatever their length.
func (m *message) baseType(f value) byte {
	switch {
	case m.num == numHr && f.num == 6:
		return 0x02
	case m.num == numHr && f.num == 10:
		return 0x0D
	}
	return baseTypes[f.size]
}

// writeByHand writes one file of messages.
func writeByHand(messages ...message) []byte {
	var data []byte
	for _, m := range messages {
		data = append(data, 0x40, 0, 0)
		data = binary.LittleEndian.AppendUint16(data, m.num)
		data = append(data, byte(len(m.fields)))
		for _, f := range m.fields {
			data = append(data, f.num, f.size, m.baseType(f))
		}
		data = append(data, 0)
		for _, f := range m.fields {
			b := binary.LittleEndian.AppendUint64(nil, uint64(f.v))
			data = append(data, b[:f.size]...)
		}
	}
	raw := []byte{14, 0x20, 0x54, 0x08}
	raw = binary.LittleEndian.AppendUint32(raw, uint32(len(data)))
	raw = append(raw, ".FIT"...)
	raw = append(raw, 0, 0) // no checksum of the header alone
	raw = append(raw, data...)
	return binary.LittleEndian.AppendUint16(raw, slowSum(raw))
}

type message struct {
	num    uint16
	fields []value
}

// slowSum computes the checksum bit by bit: CRC-16 with the polynomial 0xA001.
func slowSum(raw []byte) uint16 {
	sum := uint16(0)
	for _, b := range raw {
		sum ^= uint16(b)
		for range 8 {
			if sum&1 != 0 {
				sum = sum>>1 ^ 0xA001
			} else {
				sum >>= 1
			}
		}
	}
	return sum
}
