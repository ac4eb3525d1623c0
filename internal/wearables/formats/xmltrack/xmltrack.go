// Package xmltrack contains the common parts of the XML formats for recorded workouts,
// TCX and GPX: recognizing, bounding, reading and storing a file. The formats define
// the meaning of elements.
package xmltrack

import (
	"context"
	"errors"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/fault"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/xmlscan"
)

// defaultLimit bounds a document, in bytes. It is twice the size of the longest course
// with all fields.
const defaultLimit = 256 << 20

// headSize bounds the position of the first element.
const headSize = 64 << 10

// Format is one XML format.
type Format struct {
	Name, Title string
	Root        string // the first element, without prefix
	// New returns the reader of one document.
	New func(d *Document) Elements
}

// Elements handle the elements of a document in order.
type Elements interface {
	// Open handles the start of an element. text is its text.
	Open(name string, tag *xmlscan.Tag, text string)
	// Close handles the end of an element. An element without content ends just after
	// Open.
	Close(name string) error
	// End is called at the end of the input, in the middle of anything if the document
	// is truncated. It returns the reason if there is nothing of use.
	End() error
}

// Kind returns the kind of the format's files.
func (f Format) Kind() files.Kind {
	return files.Kind{Name: f.Name, Title: f.Title, Recording: true, Check: f.check, Run: f.run}
}

func (f Format) check(path string, limit int64) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if !f.begins(file) {
		return files.NewUnlikeError("this is not a " + f.Title + ": its first element is not " + f.Root)
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if most := atMost(limit); info.Size() > most {
		return fault.Newf(fault.TooLarge, "a %s may have at most %d bytes", f.Title, most)
	}
	return nil
}

// begins reports whether the first element is the right one.
func (f Format) begins(in io.Reader) bool {
	text, err := xmlscan.UTF8(io.LimitReader(in, headSize))
	if err != nil {
		return false
	}
	name, _, err := xmlscan.NewWalker(text).Next()
	return err == nil && name == f.Root
}

func atMost(limit int64) int64 {
	if limit <= 0 {
		return defaultLimit
	}
	return min(limit, defaultLimit)
}

func (f Format) run(ctx context.Context, in files.Input) (*files.Outcome, error) {
	d := &Document{Outcome: files.NewOutcome(), ctx: ctx, in: in, stores: map[string]*files.Store{}, owned: map[files.Device]uuid.UUID{}}
	if err := f.check(in.Path, in.Limit); err != nil {
		return d.Outcome, err
	}
	file, err := os.Open(in.Path)
	if err != nil {
		return d.Outcome, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return d.Outcome, err
	}
	d.size = info.Size()
	if err := d.read(file, f.New(d)); err != nil {
		return d.Outcome, err
	}
	for _, provider := range slices.Sorted(maps.Keys(d.stores)) {
		if err := d.stores[provider].Finish(ctx); err != nil {
			return d.Outcome, err
		}
	}
	return d.Outcome, nil
}

// Document is one file during reading.
type Document struct {
	Outcome *files.Outcome

	ctx    context.Context
	in     files.Input
	size   int64
	walker *xmlscan.Walker
	stores map[string]*files.Store
	owned  map[files.Device]uuid.UUID // the user's devices
}

// read gives every element to its reader. It reads a truncated document up to its end,
// and skips damaged tags.
func (d *Document) read(in io.Reader, to Elements) error {
	text, err := xmlscan.UTF8(in)
	if err != nil {
		return fault.New(fault.Unprocessable, err.Error())
	}
	d.walker = xmlscan.NewWalker(text)
	for n := 0; ; n++ {
		name, tag, err := d.walker.Next()
		switch {
		case err == nil:
		case errors.Is(err, io.EOF), xmlscan.IsCut(err):
			d.Outcome.Truncated = !errors.Is(err, io.EOF) || d.walker.Depth() > 0
			d.Outcome.Bytes, d.Outcome.Damaged = d.walker.Offset(), d.walker.Damaged
			return to.End()
		default:
			return err
		}
		if tag == nil {
			if err := to.Close(name); err != nil {
				return err
			}
			continue
		}
		to.Open(name, tag, d.text(tag))
		if n&0xfff == 0 {
			if err := d.ctx.Err(); err != nil {
				return err
			}
		}
	}
}

// Parent returns the name of the element around the one that was opened last, or "".
func (d *Document) Parent() string { return d.walker.Parent() }

// Within reports whether an element of that name is open.
func (d *Document) Within(name string) bool { return d.walker.Within(name) }

// text returns the text of an element up to the next tag.
func (d *Document) text(tag *xmlscan.Tag) string {
	if tag.Kind != xmlscan.Opening {
		return ""
	}
	return d.walker.PeekText()
}

// Give stores one workout. device is the hardware that recorded it, or nil if that is not
// certain.
func (d *Document) Give(provider string, r files.Recording, device *files.Device) error {
	r.Source.Provider = provider
	if device != nil {
		device.Provider, device.SourceType = provider, r.Source.Type
		var err error
		if r.Source.DeviceID, err = d.own(*device); err != nil {
			return err
		}
	}
	store := d.stores[provider]
	if store == nil {
		var err error
		if store, err = d.in.Store(d.ctx, provider, d.Outcome); err != nil {
			return err
		}
		d.stores[provider] = store
	}
	one := []files.Recording{r}
	if err := store.Recordings(d.ctx, one); err != nil {
		return err
	}
	d.Outcome.Workouts++
	if len(one[0].Route) > 0 {
		d.Outcome.Routes++
	}
	store.ReportProgress(min(d.walker.Offset(), d.size), d.size, d.Outcome.Records, d.Outcome.Skipped())
	return nil
}

// own returns the id of one of the user's devices. It returns nil if devices are not
// stored, or if the file names more than files.MaxDevices.
func (d *Document) own(device files.Device) (*uuid.UUID, error) {
	id, known := d.owned[device]
	switch {
	case known:
		return &id, nil
	case d.in.Device == nil || len(d.owned) == files.MaxDevices:
		return nil, nil
	}
	id, err := d.in.Device(d.ctx, device)
	if err != nil {
		return nil, err
	}
	d.owned[device] = id
	return &id, nil
}

// year2000 is before the first device that wrote one of these formats.
var year2000 = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Instant reads a time with its zone, in UTC microseconds. offset is the offset of the
// zone unless the zone is UTC, because nearly all devices write UTC, whatever the place.
// A time before 2000 comes from a clock that was never set.
func Instant(text string) (micros int64, offset int32, ok bool) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.Before(year2000) {
		return 0, 0, false
	}
	offset = wearables.NoOffset
	if _, east := at.Zone(); east != 0 {
		offset = int32(east)
	}
	return at.UnixMicro(), offset, true
}

// Number reads a number, or returns NaN.
func Number(text string) float64 {
	if v, ok := xmlscan.Number([]byte(text)); ok {
		return v
	}
	return math.NaN()
}

// Place reads a latitude or longitude, in degrees.
func Place(text string, most float64) float64 {
	if v := Number(text); math.Abs(v) <= most {
		return v
	}
	return math.NaN()
}

// Beats reads a heart rate. It returns NaN for zero, which a strap without contact
// writes.
func Beats(text string) float64 {
	if v := Number(text); v > 0 {
		return v
	}
	return math.NaN()
}
