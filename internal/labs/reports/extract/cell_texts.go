package extract

import (
	"regexp"
	"strings"
)

// oddValue keeps a value of no known shape as it is printed.
func (r *reader) oddValue(text string, source Source, review func(Reason)) Value {
	text = plainSpaces(text)
	v := Value{Text: text, Type: Comment}
	if source == FromOCR && numberLike.MatchString(text) {
		fixed := strings.NewReplacer("O", "0", "o", "0", "l", "1", "I", "1", "|", "1", "S", "5", "B", "8").Replace(text)
		if again, ok := ParseValue(fixed, r.commas); ok {
			v = again
		}
		review(ValueUnreadable)
	} else {
		review(ValueUnreadable)
	}
	return v
}

// secondValue returns the text in the column of units if it is another value: "0.4 10^9/L"
// beside "12 %".
func (r *reader) secondValue(unit string, first Value) string {
	unit = strings.TrimSpace(unit)
	v, ok := ParseValue(unit, r.commas)
	if !ok || isUnit(unit) || first.Number == nil || v.Number == nil || v.Type != Numeric && v.Type != Percentage {
		return ""
	}
	hasUnit := v.Rest != "" && isUnit(v.Rest) && strings.Contains(unit, " ")
	if isAlone := v.Rest == "" && v.Flag == "" && first.Rest != ""; !hasUnit && !isAlone {
		return ""
	}
	return unit
}

// unitOf finds the unit: in its own column, after the value, or after the range.
func unitOf(column, afterValue, rng string, commas bool) (unit, rest string) {
	unit = strings.Trim(strings.TrimSpace(column), ",;")
	if _, known := knownUnit(unit); !known && unit != "" {
		if u, after := takeUnit(unit); u != "" && after != "" {
			if r := ParseRange(after, commas, Patient{Age: -1}); r.Kind != RangeOther && rng == "" {
				rng = after
			}
			unit = u
		} else if r := ParseRange(unit, commas, Patient{Age: -1}); r.Kind != RangeOther && r.Kind != RangeNone && rng == "" {
			rng, unit = unit, ""
		}
	}
	if unit == "" && afterValue != "" {
		u, after := takeUnit(afterValue)
		if u != "" {
			unit = u
		} else if looksLikeUnit(firstWord(afterValue)) {
			unit, after = firstWord(afterValue), strings.TrimSpace(strings.TrimPrefix(afterValue, firstWord(afterValue)))
		}
		if after != "" && rng == "" {
			text, _ := cutFlag(after)
			if r := ParseRange(text, commas, Patient{Age: -1}); r.Kind != RangeOther {
				rng = text
			}
		}
	}
	// "0-5/HPF", "38.0-50.0%": the unit without a blank.
	if m := gluedUnit.FindStringSubmatch(rng); m != nil {
		if _, known := knownUnit(m[2]); known {
			rng = m[1] + " " + m[2]
		}
	}
	// "3.8-10.8 Thousand/uL": the unit after the range.
	fields := strings.Fields(rng)
	for n := min(3, len(fields)-1); n >= 1; n-- {
		tail := strings.Join(fields[len(fields)-n:], " ")
		head := strings.Join(fields[:len(fields)-n], " ")
		if _, known := knownUnit(tail); !known || tail == "" || !strings.ContainsAny(head, "0123456789") && len(fields) == n {
			continue
		}
		if ParseRange(head, commas, Patient{Age: -1}).Kind == RangeOther && ParseRange(rng, commas, Patient{Age: -1}).Kind != RangeOther {
			continue
		}
		if unit == "" {
			unit = tail
		}
		rng = head
		break
	}
	// A range column that holds only the unit.
	if unit == "" {
		if _, known := knownUnit(rng); known {
			unit, rng = rng, ""
		}
	}
	return strings.Trim(unit, "()[]"), rng
}

// flagBehindUnit returns the flag between unit and range: "165 mmol/L HH 135-145".
func flagBehindUnit(rest string) string {
	unit, after := takeUnit(rest)
	if unit == "" {
		return ""
	}
	_, flag := cutFlag(after)
	return flag
}

var (
	gluedUnit     = regexp.MustCompile(`^(.*\d)(%|/[A-Za-z]+|[A-Za-zµμ][A-Za-zµμ/0-9.²^*]*)$`)
	junkBefore    = regexp.MustCompile(`^[|‘’“”„'"_.,;:~=»«—–\\({\[]+\s*`)
	junkAfter     = regexp.MustCompile(`\s*[|‘’“”„'"_;:~=»«—–?\\]+$`)
	commaPoint    = regexp.MustCompile(`^([<>]?=?\s*\d{1,4})\s?[,:]\s?(\d{1,3})$`)
	pointForComma = regexp.MustCompile(`^[<>]?=?\s*\d{1,3}\.\d{1,2}$`)
	spacedPoint   = regexp.MustCompile(`^([<>]?=?\s*\d{1,4})\s?\.\s?(\d{1,3})(\D.*)?$`)
	rangeInside   = regexp.MustCompile(`(\d[\d.,]*)\s*[-–—~]+\s*(\d[\d.,]*)(.*)$`)
)

// cleanNumber removes marks that recognition puts around numbers. In a report with
// decimal points, it may read a comma or a colon in a number as a point. In a report
// with decimal commas, it may read a point as a comma.
func cleanNumber(text string, commas bool) string {
	text = junkAfter.ReplaceAllString(plainSpaces(text), "")
	if junk := junkBefore.FindString(text); junk != "" && strings.IndexFunc(text[len(junk):], func(c rune) bool { return c >= '0' && c <= '9' }) == 0 && !strings.HasSuffix(junk, ".") {
		text = text[len(junk):]
	}
	if m := commaPoint.FindStringSubmatch(text); m != nil && !commas && (len(m[2]) < 3 || m[1] == "0") && !(strings.Contains(text, ":") && m[1] == "1") {
		return m[1] + "." + m[2]
	}
	if commas && pointForComma.MatchString(text) {
		return strings.Replace(text, ".", ",", 1)
	}
	if m := spacedPoint.FindStringSubmatch(text); m != nil && strings.Contains(text, " ") {
		return m[1] + "." + m[2] + m[3]
	}
	return text
}

// salvageRange finds an interval in a range that recognition has spoiled around
// it. The text behind the interval may be the unit.
func salvageRange(text string, commas bool) string {
	text = junkBefore.ReplaceAllString(text, "")
	if text == "" || ParseRange(text, commas, Patient{Age: -1}).Kind != RangeOther {
		return text
	}
	m := rangeInside.FindStringSubmatch(plainSpaces(text))
	if m == nil || strings.Count(text, "-") > 1 {
		return text
	}
	low, high := m[1], strings.TrimRight(m[2], ".,")
	interval := low + " - " + high
	if ParseRange(interval, commas, Patient{Age: -1}).Kind != RangeInterval {
		return text
	}
	unit := strings.Trim(m[3], " .,;|'")
	if _, known := knownUnit(unit); known {
		return interval + " " + unit
	}
	return interval
}

func flagText(column, beside string) string {
	column = strings.TrimSpace(column)
	if _, ok := flagOf(column); ok {
		return strings.Trim(column, "()[]")
	}
	for _, word := range strings.Fields(column) {
		if _, ok := flagOf(word); ok {
			return strings.Trim(word, "()[]")
		}
	}
	return strings.Trim(beside, "()[]")
}
