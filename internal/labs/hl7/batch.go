package hl7

import (
	"bytes"
	"strconv"
)

// Split cuts a file or a batch (FHS, BHS … BTS, FTS) into its messages, each a
// slice of data. Data without such wrappers is cut at every MSH, so a single
// message is returned unchanged.
//
// It returns a *SyntaxError for a batch that does not hold as many messages as
// its trailer counts: a message was lost on the way.
func Split(data []byte) ([][]byte, error) {
	var messages [][]byte
	from, inBatch := -1, 0 // where the open message begins; messages since BHS
	end := func(to int) {
		if from >= 0 {
			messages = append(messages, data[from:to])
		}
		from = -1
	}
	segment := 0
	for at := 0; at < len(data); {
		line := firstLine(data[at:])
		body := line
		if at == 0 {
			body = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		switch wrapperName(body) {
		case "MSH":
			end(at)
			from = at
			inBatch++
		case "FHS":
			end(at)
		case "BHS":
			end(at)
			inBatch = 0
		case "BTS":
			end(at)
			if declared, ok := batchCount(body); ok && declared != inBatch {
				return nil, &SyntaxError{Segment: segment + 1, Field: 1, Offset: at, Problem: "the batch does not hold as many messages as it says"}
			}
		case "FTS":
			end(at)
		}
		if len(body) > 0 {
			segment++
		}
		at += len(line) + 1
	}
	end(len(data))
	if messages == nil {
		return nil, &SyntaxError{Segment: 1, Problem: "no message begins with MSH"}
	}
	return messages, nil
}

// wrapperName returns the name of a line that begins or ends a message or a
// batch.
func wrapperName(line []byte) string {
	if len(line) < 3 || len(line) > 3 && !mayDelimit(line[3]) {
		return ""
	}
	switch name := string(line[:3]); name {
	case "MSH", "BHS", "FHS":
		if len(line) == 3 {
			return ""
		}
		return name
	case "BTS", "FTS":
		return name
	}
	return ""
}

// batchCount reads BTS-1.
func batchCount(trailer []byte) (int, bool) {
	if len(trailer) < 5 {
		return 0, false
	}
	text, _, _ := bytes.Cut(trailer[4:], trailer[3:4])
	n, err := strconv.Atoi(string(bytes.TrimSpace(text)))
	return n, err == nil
}
