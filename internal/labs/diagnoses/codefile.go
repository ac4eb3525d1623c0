package diagnoses

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

const (
	longestTitle = 500 // bytes; the official ones have less than 230
	mostRows     = 200_000
)

// CodeFile is a list of codes that was read and checked.
type CodeFile struct{ rows []row }

// Len returns the number of codes that can be billed.
func (f CodeFile) Len() int {
	n := 0
	for _, r := range f.rows {
		if r.complete {
			n++
		}
	}
	return n
}

// ParseCodes reads a list of codes. It is the order file that CMS publishes
// each year (icd10cm-order-2026.txt), or CSV. The CSV has the columns code,
// billable (0 or 1) and description. Errors name the line.
func ParseCodes(file io.Reader) (CodeFile, error) {
	in := bufio.NewReaderSize(file, 64<<10)
	head, err := in.Peek(10)
	if err != nil && len(head) == 0 {
		return CodeFile{}, fault.New(fault.Invalid, "the file is empty")
	}
	next := orderRows(in)
	if !isDigit(head[0]) {
		if next, err = csvRows(in); err != nil {
			return CodeFile{}, err
		}
	}
	var f CodeFile
	seen := map[string]bool{}
	for {
		line, r, err := next()
		if errors.Is(err, io.EOF) {
			break
		}
		problem := r.problem()
		switch {
		case err != nil:
			problem = err.Error()
		case seen[r.plain]:
			problem = "is listed twice"
		}
		if problem != "" {
			return CodeFile{}, fault.New(fault.Invalid, problem).At(fmt.Sprintf("line %d", line))
		}
		if seen[r.plain] = true; len(seen) > mostRows {
			return CodeFile{}, fault.Newf(fault.TooLarge, "a list may hold at most %d codes", mostRows)
		}
		f.rows = append(f.rows, r)
	}
	if f.Len() == 0 {
		return CodeFile{}, fault.New(fault.Invalid, "the file holds no code that can be billed")
	}
	return f, nil
}

func (r row) problem() string {
	switch {
	case r.plain == "":
		return "holds no code of ICD-10-CM"
	case r.title == "" || len(r.title) > longestTitle || !utf8.ValidString(r.title) || strings.ContainsAny(r.title, "\t\n\r\x00"):
		return "holds no title"
	}
	return ""
}

// Columns of the order file, counted from 0: the code, whether it can be
// billed, and the long title.
//
// CMS, "icd10OrderFiles", which counts from 1: 7-13, 15, 78.
const (
	orderCode     = 6
	orderBillable = 14
	orderTitle    = 77
)

func orderRows(in io.Reader) func() (int, row, error) {
	lines := bufio.NewScanner(in)
	line := 0
	return func() (int, row, error) {
		for lines.Scan() {
			line++
			text := strings.TrimRight(lines.Text(), " \r")
			if text == "" {
				continue
			}
			if len(text) <= orderTitle {
				return line, row{}, errors.New("is too short for a line of the order file")
			}
			plain, _ := compactCode(text[orderCode : orderCode+longestCode])
			flag := text[orderBillable]
			if flag != '0' && flag != '1' {
				return line, row{}, errors.New("has neither 0 nor 1 in column 15")
			}
			return line, row{plain, flag == '1', strings.TrimSpace(text[orderTitle:])}, nil
		}
		if err := lines.Err(); err != nil {
			return line + 1, row{}, errors.New("cannot be read")
		}
		return line, row{}, io.EOF
	}
}

func csvRows(in io.Reader) (func() (int, row, error), error) {
	rows := csv.NewReader(in)
	head, err := rows.Read()
	if err != nil || len(head) != 3 || strings.TrimPrefix(head[0], "\ufeff") != "code" || head[1] != "billable" || head[2] != "description" {
		return nil, fault.New(fault.Invalid, "is neither the order file of ICD-10-CM nor CSV with the columns code, billable, description").At("line 1")
	}
	line := 1
	return func() (int, row, error) {
		record, err := rows.Read()
		var broken *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return line, row{}, err
		case errors.As(err, &broken):
			return broken.StartLine, row{}, errors.New("is not a CSV line with three cells")
		case err != nil:
			return line + 1, row{}, errors.New("cannot be read")
		}
		line, _ = rows.FieldPos(0)
		if record[1] != "0" && record[1] != "1" {
			return line, row{}, errors.New("has neither 0 nor 1 for billable")
		}
		plain, _ := compactCode(record[0])
		return line, row{plain, record[1] == "1", strings.TrimSpace(record[2])}, nil
	}, nil
}

// ImportCodes makes the codes of a file the current list of all teams.
func ImportCodes(ctx context.Context, tx *store.Tx, edition string, f CodeFile) error {
	return icd10.Put(ctx, tx, edition, f.Len(), packRows(f.rows))
}

// packRows writes one line for each row: the code, 1 if complete, the title.
func packRows(rows []row) []byte {
	var b bytes.Buffer
	for _, r := range rows {
		flag := "0"
		if r.complete {
			flag = "1"
		}
		b.WriteString(r.plain + "\t" + flag + "\t" + r.title + "\n")
	}
	return b.Bytes()
}

func unpackRows(text []byte) ([]row, error) {
	var rows []row
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		if len(parts) != 3 {
			return nil, fmt.Errorf("diagnoses: a stored line has %d parts", len(parts))
		}
		rows = append(rows, row{parts[0], parts[1] == "1", parts[2]})
	}
	return rows, nil
}
