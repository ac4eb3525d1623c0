package extract

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// doubtWords cast doubt on a value.
	doubtWords = regexp.MustCompile(`(?i)\bha?emoly[sz]|\blip(?:a?emi[ac]|emic)|\bicteri|\bclot(?:ted|s)?\b|\bcontaminat|\bqns\b|\bquantity not|\binsufficient|\bquestionabl|\bdoubtful|\bunreliable|\binvalid|` +
		`\bsuspect|\binterfer|\berroneous|\berror|\bcompromised|\bunsuitable|\bre-?(?:collect|draw|submit)|\brepeat (?:suggested|recommended|requested|advised|on|with|sample|test)|\bplease repeat|\bwrong\b|\bmislabel|\bunlabel|` +
		`\bdrip arm|\biv (?:line|fluid)|\bdelay(?:ed)?\b|\bold (?:sample|specimen)|\baged\b|\bunconfirmed|\bpreliminary|\bdilut|\bunable|\bnot (?:valid|reliable|reportable|confirmed)|\bfalse(?:ly)?\b|\bsee (?:note|comment|below|text|footnote)|\bclumped|\bfibrin|\bpending\b|\bawait|\bconfirmatory`)
	noDoubt = regexp.MustCompile(`(?i)\b(?:no|not|non|without|absent)[ -](?:\w+ )?(?:ha?emoly[sz]|lipa?emi|icteri|clot|contaminat|interfer|error)`)
	// plainNotes say nothing against a value.
	plainNotes = regexp.MustCompile(`(?i)^(?:(?:repeat(?:ed)?|re-?checked|checked|confirmed|verified|final|fasting|non-fasting|random|calculated|calc|estimated|est|measured|twice|x2|by|on|in|of|and|duplicate|performed|method|manual|automated|serum|plasma|blood|urine|trough|peak)[ ,.]*)+$`)
	// specimenDoubt describes the whole specimen.
	specimenDoubt = regexp.MustCompile(`(?i)\b(?:specimen|sample)s?(?: (?:condition|quality|integrity|status|comments?|appearance|note))?\s*(?::|-|is|was|received|appears)?\s*(?:grossly|moderately|slightly|mildly|severely|partially|markedly|partly)?\s*` +
		`(?:ha?emoly[sz]ed|lipa?emic|icteric|clotted|contaminated|insufficient|compromised|unsuitable|leaking|diluted)`)
	commentHeader = regexp.MustCompile(`(?i)^(?:comments?|notes?|remarks?)\b`)
	wordOfNote    = regexp.MustCompile(`[A-Za-z]{3,}`)
)

func castsDoubt(text string) bool { return doubtWords.MatchString(text) && !noDoubt.MatchString(text) }

// noteIn returns the words behind a value that are no unit, flag or range.
func noteIn(rest string, commas bool) string {
	if unit, after := takeUnit(rest); unit != "" {
		rest = after
	} else if word := firstWord(rest); looksLikeUnit(word) {
		rest = strings.TrimSpace(strings.TrimPrefix(rest, word))
	}
	for {
		word := firstWord(rest)
		if _, isFlag := flagOf(word); !isFlag || word == "" {
			break
		}
		rest = strings.TrimSpace(strings.TrimPrefix(rest, word))
	}
	if kind := ParseRange(rest, commas, Patient{Age: -1}).Kind; kind != RangeOther && !doubtWords.MatchString(rest) {
		return ""
	}
	return tidyNote(rest)
}

// tidyNote removes the marks around a note. A footnote mark is no note.
func tidyNote(text string) string {
	text = strings.Trim(text, " ,;:.*-–|")
	if strings.HasPrefix(text, "(") && strings.HasSuffix(text, ")") && strings.Count(text, "(") == 1 {
		text = strings.Trim(text, "()")
	}
	if !wordOfNote.MatchString(text) {
		return ""
	}
	return text
}

// annotate gives a row the words beside its value, and asks for a review if they may cast
// doubt on it.
func (r *reader) annotate(row *Row, d draft, value Value, source Source, review func(Reason)) {
	doubted := value.Type == Comment && castsDoubt(value.Text)
	var notes []string
	for _, beside := range []string{value.Rest, d.unit} {
		if note := noteIn(beside, r.commas); note != "" && (beside != d.unit || isUnitWithWords(beside)) {
			notes = append(notes, note)
			doubted = doubted || row.Number != nil && source == FromText && !plainNotes.MatchString(note)
		}
	}
	notes = append(notes, d.notes...)
	row.Note = strings.Join(notes, "; ")
	if doubted || slices.ContainsFunc(notes, castsDoubt) {
		review(ValueDoubted)
	}
}

// isUnitWithWords reports whether words stand behind a unit, in its column.
func isUnitWithWords(text string) bool {
	unit, after := takeUnit(text)
	return unit != "" && after != "" && !isUnit(text) && !strings.HasPrefix(after, "of ")
}
