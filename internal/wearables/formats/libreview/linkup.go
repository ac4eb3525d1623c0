package libreview

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

// maxGraph bounds the JSON document, in bytes; a real one has 50 kB.
const maxGraph = 16 << 20

// reading is one of a graph. Its time is that of the phone's clock, as in the
// export. FactoryTimestamp beside it is the same moment in UTC and not read: one
// line of readings has one clock.
type reading struct {
	Wall  string  `json:"Timestamp"`
	Kind  int     `json:"type"`
	Value float64 `json:"ValueInMgPerDl"`
	High  bool    `json:"isHigh"`
	Low   bool    `json:"isLow"`
}

// graph is the part of the document that is read. Of the connection, which
// names the wearer, only the latest reading is.
type graph struct {
	Data struct {
		Connection struct {
			Latest *reading `json:"glucoseMeasurement"`
		} `json:"connection"`
		Readings []reading `json:"graphData"`
	} `json:"data"`
}

// readGraph reads the whole document, or the complete part of one that ends in
// the middle. A list of connections is no graph: it has the latest readings of
// several people.
func readGraph(in io.Reader) (g *graph, cut bool, err error) {
	raw, err := io.ReadAll(io.LimitReader(in, maxGraph+1))
	if err != nil {
		return nil, false, err
	}
	if len(raw) > maxGraph {
		return nil, false, errUnlike
	}
	g = &graph{}
	raw = bytes.TrimPrefix(raw, sheet.ByteOrderMark)
	err = json.Unmarshal(raw, g)
	var syntax *json.SyntaxError
	if cut = errors.As(err, &syntax) && syntax.Offset >= int64(len(raw)); cut {
		err = json.Unmarshal(replies.CompleteValue(raw), g)
	}
	switch {
	case cut && g.Data.Readings == nil && bytes.Contains(raw, []byte(`"graphData"`)):
		return nil, cut, files.NewCutError("a graph of LibreLinkUp")
	case err != nil, g.Data.Readings == nil:
		return nil, cut, errUnlike
	}
	return g, cut, nil
}

// readLinkUp reads a graph.
func readLinkUp(ctx context.Context, d *sheet.Document, in io.Reader) error {
	g, cut, err := readGraph(in)
	if err != nil {
		return err
	}
	d.Report.Truncated = cut
	for _, one := range g.Data.Readings {
		one.take(d)
	}
	if g.Data.Connection.Latest != nil {
		g.Data.Connection.Latest.take(d)
	}
	size, err := d.File.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	return d.Flush(ctx, size, true)
}

// take adds a reading. Its type numbers are those of the export's records.
func (one *reading) take(d *sheet.Document) {
	d.Report.Records++
	name, key := "historic", historicGlucose
	if one.Kind == 1 {
		name, key = "scan", scan
	}
	if one.High || one.Low {
		count := d.Report.Type(name + " outside the range")
		count.Read++
		count.Skipped++
		d.Report.Left(count)
		return
	}
	count := d.Report.Type(name)
	count.Read++
	wall, err := time.Parse("1/2/2006 3:04:05 PM", one.Wall)
	if err != nil {
		count.BadDate++
		d.Report.Left(count)
		return
	}
	d.Gather.At(key, floatingTime(wall), wearables.NoOffset, one.Value/sheet.MilligramsPerMillimole)
	count.Mapped++
	d.Report.Mapped++
}
