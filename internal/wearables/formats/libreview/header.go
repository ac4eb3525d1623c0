package libreview

import (
	"io"

	"hale/internal/wearables/formats/sheet"
)

// headerRows bounds the distance of the header from the start: below a title and
// perhaps a line with the date.
const headerRows = 5

// columns holds the position of each column; -1 if the export lacks it.
type columns struct {
	n                                 int
	at, kind                          int
	historic, scan, strip             int
	rapid, long, grams                int
	historicUnit, scanUnit, stripUnit string // the names of the columns
}

// The header has the same columns in the same places in every language. Only
// the units are written alike, so that is how a translated one is known.
const (
	atColumn, kindColumn     = 2, 3
	historicColumn           = 4
	scanColumn               = 5
	rapidColumn, gramsColumn = 7, 9
	longColumn, stripColumn  = 12, 14
	translatedColumns        = 18 // at least
)

// open reads up to and with the header.
func open(in io.Reader) (*sheet.Rows, columns, error) {
	rows := sheet.NewRows(in)
	h, ok, err := sheet.Head(rows, headerRows, func(h sheet.Header) bool { return english(h) || translated(h) })
	if err != nil {
		return nil, columns{}, err
	}
	if !ok {
		return nil, columns{}, errUnlike
	}
	return rows, columnsOf(h), nil
}

func english(h sheet.Header) bool {
	return h.Column("device timestamp") >= 0 && h.Column("record type") >= 0 &&
		sheet.Glucosic(h.Name(h.Column("historic glucose…")))
}

func translated(h sheet.Header) bool {
	return h.Len() >= translatedColumns &&
		sheet.Glucosic(h.Name(historicColumn)) && sheet.Glucosic(h.Name(scanColumn)) && sheet.Glucosic(h.Name(stripColumn))
}

func columnsOf(h sheet.Header) columns {
	c := columns{
		n: h.Len(), at: atColumn, kind: kindColumn, historic: historicColumn, scan: scanColumn, strip: stripColumn,
		rapid: rapidColumn, long: longColumn, grams: gramsColumn,
	}
	if english(h) {
		c = columns{
			n: h.Len(), at: h.Column("device timestamp"), kind: h.Column("record type"),
			historic: h.Column("historic glucose…"), scan: h.Column("scan glucose…"), strip: h.Column("strip glucose…"),
			rapid: h.Column("rapid-acting insulin…"), long: h.Column("long-acting insulin…"),
			grams: h.Column("carbohydrates (grams)"),
		}
	}
	c.historicUnit, c.scanUnit, c.stripUnit = h.Name(c.historic), h.Name(c.scan), h.Name(c.strip)
	return c
}
