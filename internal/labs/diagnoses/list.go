package diagnoses

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"hale/internal/platform/lists"
)

// Diagnosis is one code.
//
// Reference 1.18, ClientFacingDiagnosisInformation.
type Diagnosis struct {
	Code      string // with its dot
	Title     string // the official one
	Secondary bool   // may not be the first diagnosis of an encounter
}

// row is a code as read from a file.
type row struct {
	plain    string // without the dot
	complete bool   // can be billed: has no codes below it
	title    string
}

// list holds all codes, indexed for searching. Postings are positions in entries.
type list struct {
	entries  []entry
	complete map[string]int  // position of each complete code
	headings map[string]bool // categories above complete codes
	words    []string        // sorted
	postings [][]uint32      // of each word
	synonyms []synonym       // sorted by text
}

type entry struct {
	plain, title string
	folded       string // words of the title
	common       bool   // is one of the codes that ship, which laboratories see often
}

// synonym is a common name for some codes.
type synonym struct {
	text  string // folded
	codes []int
}

var (
	//go:embed common.csv
	commonFile []byte
	//go:embed synonyms.csv
	synonymsFile []byte
)

// icd10 is the current list.
var icd10 = lists.New(lists.Definition[*list]{
	Name: "icd10",
	Shipped: sync.OnceValue(func() *list {
		rows := make([]row, 0, len(commonTitles()))
		for plain, title := range commonTitles() {
			rows = append(rows, row{plain, true, title})
		}
		return newList(rows)
	}),
	Parse: func(text []byte) (*list, error) {
		rows, err := unpackRows(text)
		if err != nil {
			return nil, err
		}
		return newList(rows), nil
	},
})

// commonTitles holds the codes that ship: titles by code without dot.
var commonTitles = sync.OnceValue(func() map[string]string {
	titles := map[string]string{}
	for _, record := range shippedCSV(commonFile, "common.csv") {
		plain, ok := compactCode(record[0])
		if !ok {
			panic("diagnoses: common.csv: " + record[0])
		}
		titles[plain] = record[1]
	}
	return titles
})

// shippedCSV reads a file that is embedded and tested.
func shippedCSV(file []byte, name string) [][]string {
	records, err := csv.NewReader(bytes.NewReader(file)).ReadAll()
	if err != nil {
		panic(fmt.Sprintf("diagnoses: %s: %v", name, err))
	}
	return records[1:]
}

func newList(rows []row) *list {
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.plain, b.plain) })
	l := &list{complete: map[string]int{}, headings: map[string]bool{}}
	byWord := map[string][]uint32{}
	add := func(text string, at int) {
		for word := range strings.FieldsSeq(text) {
			if p := byWord[word]; len(p) == 0 || p[len(p)-1] != uint32(at) {
				byWord[word] = append(p, uint32(at))
			}
		}
	}
	for _, r := range rows {
		if !r.complete {
			l.headings[r.plain] = true
			continue
		}
		for n := 3; n < len(r.plain); n++ {
			l.headings[r.plain[:n]] = true
		}
		at := len(l.entries)
		_, often := commonTitles()[r.plain]
		e := entry{plain: r.plain, title: r.title, folded: fold(r.title), common: often}
		l.entries, l.complete[r.plain] = append(l.entries, e), at
		add(e.folded, at)
	}
	for _, record := range shippedCSV(synonymsFile, "synonyms.csv") {
		s := synonym{text: fold(record[0])}
		for code := range strings.FieldsSeq(record[1]) {
			plain, _ := compactCode(code)
			if at, ok := l.complete[plain]; ok {
				s.codes = append(s.codes, at)
			}
		}
		l.synonyms = append(l.synonyms, s)
	}
	slices.SortFunc(l.synonyms, func(a, b synonym) int { return cmp.Compare(a.text, b.text) })
	for word := range byWord {
		l.words = append(l.words, word)
	}
	slices.Sort(l.words)
	l.postings = make([][]uint32, len(l.words))
	for i, word := range l.words {
		l.postings[i] = byWord[word]
	}
	return l
}

// fold removes case, accents and punctuation from a text and separates words by one
// space.
func fold(text string) string {
	plain := strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r), r == '\'', r == '’':
			return -1
		case unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return ' '
	}, norm.NFKD.String(text))
	return strings.Join(strings.Fields(plain), " ")
}

// longestCode is the length without the dot: a category of three characters and
// up to four more.
const longestCode = 7

// Pattern matches the codes that [Tidy] accepts. It is for the OpenAPI document.
const Pattern = `^\s*[A-Za-z][0-9](?:[A-Za-z0-9]{1,5}|[A-Za-z0-9]\.[A-Za-z0-9]{1,4})\s*$`

// Tidy returns a code in the form for people, such as E11.65. It accepts any
// case, with or without the dot. ok reports whether the text has the form of a
// code; the code may not exist.
func Tidy(text string) (code string, ok bool) {
	plain, ok := compactCode(text)
	return withDot(plain), ok
}

// compactCode returns a code in capitals without its dot.
func compactCode(text string) (code string, ok bool) {
	text = strings.ToUpper(strings.TrimSpace(text))
	if len(text) > longestCode+1 {
		return "", false
	}
	if before, after, has := strings.Cut(text, "."); has {
		if len(before) != 3 || after == "" {
			return "", false
		}
		text = before + after
	}
	if len(text) < 3 || len(text) > longestCode || !isLetter(text[0]) || !isDigit(text[1]) {
		return "", false
	}
	for i := 2; i < len(text); i++ {
		if !isLetter(text[i]) && !isDigit(text[i]) {
			return "", false
		}
	}
	return text, true
}

func withDot(plain string) string {
	if len(plain) <= 3 {
		return plain
	}
	return plain[:3] + "." + plain[3:]
}

func isLetter(c byte) bool { return 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }

// isSecondary reports whether a code may never be the first of an encounter. Such a
// code names a manifestation or an agent of a disease that has its own code, or the
// cause of an injury.
//
// ICD-10-CM Official Guidelines, I.A.13 and I.C.20.
func isSecondary(plain, title string) bool {
	return 'V' <= plain[0] && plain[0] <= 'Y' || strings.HasSuffix(title, "diseases classified elsewhere")
}
