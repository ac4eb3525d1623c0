package docpages

import (
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// errorCode is a row of the table of codes in docs/errors.md.
type errorCode struct{ Code, Status, Cause, Remedy string }

// errorCodes reads the codes of statuses from the guide about errors, so that the guide
// and the reference say the same.
var errorCodes = sync.OnceValue(func() []errorCode {
	guide, ok := FindGuide("errors")
	if !ok {
		return nil
	}
	var all []errorCode
	for n := guide.tree.FirstChild(); n != nil; n = n.NextSibling() {
		if n.Kind() != extast.KindTable {
			continue
		}
		for row := n.FirstChild(); row != nil; row = row.NextSibling() {
			if cells := cellsOf(row, guide.source); len(cells) == 4 && row.Kind() == extast.KindTableRow {
				all = append(all, errorCode{cells[0], cells[1], cells[2], cells[3]})
			}
		}
	}
	return all
})

func cellsOf(row ast.Node, source []byte) (cells []string) {
	for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
		cells = append(cells, strings.TrimSpace(plainText(cell, source)))
	}
	return cells
}

// codesOf returns the codes of a status.
func codesOf(status string) (codes []errorCode) {
	for _, c := range errorCodes() {
		if c.Status == status {
			codes = append(codes, c)
		}
	}
	return codes
}
