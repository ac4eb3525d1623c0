// Package pdfs checks, joins and marks the documents that laboratories send.
package pdfs

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
)

// Problem is the reason why a document is refused. It has no personal data.
type Problem string

// The problems.
const (
	BadEncoding Problem = "bad_encoding" // neither base64 nor hexadecimal, as the message says
	NotPDF      Problem = "not_pdf"      // does not begin as a PDF
	CutOff      Problem = "cut_off"      // has no end
	Damaged     Problem = "damaged"      // has no pages that can be read
	NotJoined   Problem = "not_joined"   // cannot be joined with the document before it
)

// settings returns the settings of the PDF library.
var settings = sync.OnceValue(func() *model.Configuration {
	api.DisableConfigDir() // otherwise the library writes into the home folder
	return model.NewDefaultConfiguration()
})

// Decode decodes a document of a message, which senders break into lines, and
// checks it. The document is nil if there is a problem.
func Decode(encoding, data string) ([]byte, Problem) {
	data = strings.Map(func(c rune) rune {
		if c <= ' ' {
			return -1
		}
		return c
	}, data)
	var out []byte
	var err error
	if strings.EqualFold(encoding, "hex") {
		out, err = hex.DecodeString(data)
	} else {
		out, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(data, "="))
	}
	if err != nil || len(out) == 0 {
		return nil, BadEncoding
	}
	if problem := Check(out); problem != "" {
		return nil, problem
	}
	return out, ""
}

// margin is the number of bytes at both ends in which the marks of a PDF are.
const margin = 4096

// Check reports why a document cannot be shown; empty if it can. A document
// with a password has pages that only its reader can open.
func Check(document []byte) (problem Problem) {
	switch {
	case !bytes.Contains(document[:min(len(document), margin)], []byte("%PDF-")):
		return NotPDF
	case !bytes.Contains(document[max(0, len(document)-margin):], []byte("%%EOF")):
		return CutOff
	}
	defer func() {
		if recover() != nil { // the library gave up on a damaged structure
			problem = Damaged
		}
	}()
	own := *settings()
	read, err := api.ReadContext(bytes.NewReader(document), &own)
	if errors.Is(err, pdfcpu.ErrWrongPassword) {
		return ""
	}
	if err != nil || read.EnsurePageCount() != nil || read.PageCount < 1 {
		return Damaged
	}
	return ""
}

// Join joins documents, in their order. One document stays as it is.
func Join(documents [][]byte) (joined []byte, err error) {
	if len(documents) == 1 {
		return documents[0], nil
	}
	defer func() {
		if damage := recover(); damage != nil {
			joined, err = nil, errors.New("pdfs: a document is damaged")
		}
	}()
	in := make([]io.ReadSeeker, len(documents))
	for i, d := range documents {
		in[i] = bytes.NewReader(d)
	}
	own := *settings()
	var out bytes.Buffer
	if err := api.MergeRaw(in, &out, false, &own); err != nil {
		return nil, fmt.Errorf("pdfs: joining documents: %w", err)
	}
	return out.Bytes(), nil
}

// Stamp prints a text in a box at the top of every page of a document.
func Stamp(document []byte, text string) ([]byte, error) {
	own := *settings()
	stamp, err := api.TextWatermark(text, "font:Helvetica-Bold, points:11, position:tc, offset:0 -12, scale:1 abs, rotation:0, fillcolor:1 1 1, bgcolor:0 0 0, margins:4", true, false, types.POINTS)
	if err != nil {
		return nil, fmt.Errorf("pdfs: describing a stamp: %w", err)
	}
	var out bytes.Buffer
	if err := api.AddWatermarks(bytes.NewReader(document), &out, nil, stamp, &own); err != nil {
		return nil, fmt.Errorf("pdfs: stamping a document: %w", err)
	}
	return out.Bytes(), nil
}
