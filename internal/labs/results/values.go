package results

import (
	"regexp"
	"strconv"
	"strings"

	"hale/internal/labs/results/refrange"
)

// value is what a lab wrote, read.
type value struct {
	kind   Type
	text   string
	number *float64
	// span is where the number lies; nil for words.
	span *refrange.Value
}

var (
	decimal = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?$`)
	grouped = regexp.MustCompile(`^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$`)
	// limit and narrowed are the forms of a range that the reference allows.
	limit    = regexp.MustCompile(`^([<>]=?)(\d*\.?\d+)$`)
	narrowed = regexp.MustCompile(`^(\d*\.?\d+)-(\d*\.?\d+)$`)
	constant = regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$`)
)

// longestConstant is how long words may be to become a constant.
const longestConstant = 64

// read finds out what a value is. said is the type that the network gave, which
// counts where the text agrees with it.
//
// Reference 3, table of types.
func read(text string, said Type) value {
	text = strings.TrimSpace(text)
	if said == Coded {
		if c := constantOf(text); c != "" {
			return value{kind: Coded, text: c}
		}
		return value{kind: Comment, text: text}
	}
	if said == Comment {
		return value{kind: Comment, text: text}
	}
	if v, ok := numeric(text); ok {
		return v
	}
	if v, ok := narrow(text); ok {
		return v
	}
	return value{kind: Comment, text: text}
}

func numeric(text string) (value, bool) {
	plain := strings.ReplaceAll(text, " ", "")
	if grouped.MatchString(plain) {
		plain = strings.ReplaceAll(plain, ",", "")
	}
	if !decimal.MatchString(plain) {
		return value{}, false
	}
	number, err := strconv.ParseFloat(plain, 64)
	if err != nil { // too large for a number, and for a body
		return value{}, false
	}
	span := refrange.Exactly(number)
	return value{Numeric, strings.TrimPrefix(plain, "+"), &number, &span}, true
}

var rangeSigns = strings.NewReplacer(" ", "", "≤", "<=", "≥", ">=", "=<", "<=", "=>", ">=", "–", "-", "—", "-", ",", "")

// narrow reads what is no number but lies between some: <5, 10-20.
func narrow(text string) (value, bool) {
	plain := rangeSigns.Replace(text)
	if m := limit.FindStringSubmatch(plain); m != nil {
		number, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			return value{}, false
		}
		bound := refrange.Bound{Value: number, Inclusive: strings.HasSuffix(m[1], "=")}
		span := refrange.Above(bound)
		if m[1][0] == '<' {
			span = refrange.Below(bound)
		}
		return value{kind: Range, text: plain, span: &span}, true
	}
	m := narrowed.FindStringSubmatch(plain)
	if m == nil {
		return value{}, false
	}
	low, err1 := strconv.ParseFloat(m[1], 64)
	high, err2 := strconv.ParseFloat(m[2], 64)
	if err1 != nil || err2 != nil || low > high {
		return value{}, false
	}
	span := refrange.Between(low, high)
	return value{kind: Range, text: plain, span: &span}, true
}

// constantOf makes an upper-case constant of a coded value: NOT_DETECTED of
// "Not detected". Empty when the words are none.
func constantOf(text string) string {
	if constant.MatchString(text) {
		return text
	}
	words := strings.FieldsFunc(strings.ToUpper(text), func(r rune) bool {
		return (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	})
	c := strings.Join(words, "_")
	if len(c) > longestConstant || !constant.MatchString(c) {
		return ""
	}
	return c
}
