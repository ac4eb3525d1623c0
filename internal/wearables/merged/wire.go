package merged

import (
	"strconv"

	"hale/internal/wearables"
	"hale/internal/wearables/providers"
)

// This file writes the wire shapes of a merged line and of its days. Its
// functions append, as for plain samples: a month of one sample a minute is
// 43,200 objects.

// AppendPage appends the fields of a page, from resource to set_aside, without
// the braces around them, so that the API can add its cursor.
func AppendPage(dst []byte, r *wearables.Resource, p *Page, logos providers.Logos, explain bool) []byte {
	dst = appendHead(dst, r, p.Sources, logos)
	dst = appendPieces(append(dst, `,"data":`...), r, p, p.Pieces)
	if explain {
		dst = appendPieces(append(dst, `,"set_aside":`...), r, p, p.Aside)
	}
	return dst
}

func appendHead(dst []byte, r *wearables.Resource, sources []Source, logos providers.Logos) []byte {
	dst = wearables.AppendTextOrNull(append(dst, `"resource":`...), r.Name)
	dst = wearables.AppendTextOrNull(append(dst, `,"unit":`...), r.Unit)
	dst = append(dst, `,"sources":[`...)
	for i, s := range sources {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = wearables.AppendSource(dst, s.Source, logos)
	}
	return append(dst, ']')
}

func appendPieces(dst []byte, r *wearables.Resource, page *Page, pieces []Piece) []byte {
	var starts, ends wearables.Clock
	dst = append(dst, '[')
	for i := range pieces {
		p := &pieces[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = starts.Append(append(dst, `{"start":"`...), p.Start)
		dst = ends.Append(append(dst, `","end":"`...), p.End)
		dst = wearables.AppendOffset(append(dst, `","timezone_offset":`...), p.Offset)
		dst = wearables.AppendTextOrNull(append(dst, `,"type":`...), page.Sources[p.Source].Type)
		if r.Pair {
			dst = wearables.AppendNumber(append(dst, `,"systolic":`...), p.Value)
			dst = wearables.AppendNumber(append(dst, `,"diastolic":`...), p.Value2)
		} else {
			dst = wearables.AppendNumber(append(dst, `,"value":`...), p.Value)
		}
		dst = r.AppendExtra(dst, page.Sources[p.Source].Extra)
		dst = strconv.AppendInt(append(dst, `,"source":`...), int64(p.Source), 10)
		switch {
		case p.By >= 0:
			dst = strconv.AppendInt(append(dst, `,"covered_by":`...), int64(p.By), 10)
		case p.By == notInLine:
			dst = append(dst, `,"covered_by":null`...)
		}
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// AppendDays appends the fields of a page of days without the braces around
// them.
func AppendDays(dst []byte, r *wearables.Resource, page *Days, logos providers.Logos) []byte {
	dst = appendHead(dst, r, page.Sources, logos)
	dst = append(dst, `,"data":[`...)
	for i := range page.Days {
		d := &page.Days[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, `{"date":"`...), d.Date.String()...)
		dst = wearables.AppendTextOrNull(append(dst, `","type":`...), d.Type)
		switch {
		case r.Additive:
			dst = wearables.AppendNumber(append(dst, `,"total":`...), d.Total)
		case r.Pair:
			dst = appendLevel(append(dst, `,"systolic":{`...), d.Level, d.Mean())
			dst = appendLevel(append(dst, `},"diastolic":{`...), d.Level2, d.Mean2())
			dst = append(dst, '}')
		default:
			dst = appendLevel(append(dst, ','), d.Level, d.Mean())
		}
		if !r.Additive {
			dst = strconv.AppendInt(append(dst, `,"count":`...), int64(d.Count), 10)
		}
		dst = append(dst, `,"sources":[`...)
		for k, at := range d.Sources {
			if k > 0 {
				dst = append(dst, ',')
			}
			dst = strconv.AppendInt(dst, int64(at), 10)
		}
		dst = append(dst, `]}`...)
	}
	return append(dst, ']')
}

func appendLevel(dst []byte, l Level, mean float64) []byte {
	dst = wearables.AppendNumber(append(dst, `"min":`...), l.Min)
	dst = wearables.AppendNumber(append(dst, `,"avg":`...), mean)
	return wearables.AppendNumber(append(dst, `,"max":`...), l.Max)
}
