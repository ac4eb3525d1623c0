package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
)

const (
	fitRides = 8
	fullRide = 12 * 60 * 60 // seconds, one record each
)

// recordings imports long rides, of which every second has a place, a height,
// a heart rate and a speed. The clock runs from the first upload until the last
// import is done.
func (in *ingest) recordings(ctx context.Context, user string) error {
	rides := make([][]byte, fitRides)
	size, length := 0, scaledCount(fullRide)
	for i := range rides {
		rides[i] = ride(yearStart.AddDate(1, 0, i), int64(length))
		size += len(rides[i])
	}
	start := time.Now()
	all := make([]string, fitRides)
	for i, file := range rides {
		var err error
		if all[i], err = in.uploadFile(ctx, user, "fit", "application/octet-stream", bytes.NewReader(file)); err != nil {
			return err
		}
	}
	for _, id := range all {
		if err := in.imported(ctx, user, id); err != nil {
			return err
		}
	}
	took := time.Since(start).Seconds()
	in.report.line("FIT", fmt.Sprintf("%.1f MB/s", float64(size)/1e6/took), fmt.Sprintf("%s records, %d rides of %v", perSecond(float64(fitRides*length)/took), fitRides, time.Duration(length)*time.Second), "")
	return nil
}

// imported waits until an import is done.
func (b *bench) imported(ctx context.Context, user, id string) error {
	for {
		status, err := b.importStatus(ctx, user, id)
		if err != nil {
			return err
		}
		switch status {
		case "succeeded":
			return nil
		case "failed":
			return errors.New("the import failed")
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// fitField is a field of a FIT message: its number, its size in bytes and the
// code of its type.
type fitField struct{ number, size, kind byte }

// These types follow the messages of the FIT profile.
var (
	fileID  = []fitField{{0, 1, 0x00}, {1, 2, 0x84}, {2, 2, 0x84}, {3, 4, 0x8C}}                                                           // type, maker, product, serial number
	record  = []fitField{{253, 4, 0x86}, {0, 4, 0x85}, {1, 4, 0x85}, {2, 2, 0x84}, {3, 1, 0x02}, {4, 1, 0x02}, {5, 4, 0x86}, {6, 2, 0x84}} // time, place, height, pulse, cadence, distance, speed
	session = []fitField{{253, 4, 0x86}, {2, 4, 0x86}, {5, 1, 0x00}, {7, 4, 0x86}, {8, 4, 0x86}, {9, 4, 0x86}}                             // time, start, sport, times, distance
)

// fitEpoch is 1989-12-31, from which FIT counts seconds.
const fitEpoch = 631_065_600

// ride returns a FIT file of one ride around a lake. length is its duration in seconds.
func ride(from time.Time, length int64) []byte {
	start := from.Unix() - fitEpoch
	var data []byte
	data = fitMessage(data, true, 0, fileID, 4, 1, 3113, start)
	for s := range length {
		angle := float64(s) / 2000
		lat, lng := 46.45+0.05*math.Sin(angle), 6.55+0.15*math.Cos(angle)
		data = fitMessage(data, s == 0, 20, record, start+s, semicircles(lat), semicircles(lng),
			5*(500+372+s%40), 110+s/7%50, 80+s%12, 100*8*s, 8000+s%900)
	}
	data = fitMessage(data, true, 18, session, start+length, start, 2, 1000*length, 1000*length, 100*8*length)
	file := []byte{14, 0x20, 0x54, 0x08}
	file = binary.LittleEndian.AppendUint32(file, uint32(len(data)))
	file = append(append(append(file, ".FIT"...), 0, 0), data...)
	return binary.LittleEndian.AppendUint16(file, crc16(file))
}

func semicircles(degrees float64) int64 { return int64(degrees * (1 << 31) / 180) }

// fitMessage appends a message. If define is set, it first appends the definition of its
// fields.
func fitMessage(data []byte, define bool, number uint16, fields []fitField, values ...int64) []byte {
	if define {
		data = append(data, 0x40, 0, 0)
		data = binary.LittleEndian.AppendUint16(data, number)
		data = append(data, byte(len(fields)))
		for _, f := range fields {
			data = append(data, f.number, f.size, f.kind)
		}
	}
	data = append(data, 0)
	for i, f := range fields {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], uint64(values[i]))
		data = append(data, b[:f.size]...)
	}
	return data
}

// crc16 returns the checksum of a FIT file. Its polynomial is 0xA001, low bit first.
func crc16(raw []byte) uint16 {
	sum := uint16(0)
	for _, b := range raw {
		sum ^= uint16(b)
		for range 8 {
			carry := sum & 1
			sum = sum>>1 ^ 0xA001*carry
		}
	}
	return sum
}
