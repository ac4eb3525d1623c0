package extract

import "strings"

// earlierUse says where a word means an earlier time.
type earlierUse uint8

const (
	inHeader   earlierUse = 1 << iota // in the header of a column
	inHeading                         // in a heading of results
	inName                            // at the start of a name
	inAside                           // in parentheses behind a value
	inBeside                          // before an earlier value beside the current one
	inSentence                        // in a sentence
	inHistory                         // in the heading of a history
	headerWord                        // alone, among the words of a header
)

// earlierTable has the words for earlier times, as patterns.
var earlierTable = []struct {
	pattern string
	uses    earlierUse
}{
	{`previous`, inHeader | inHeading | inName | inHistory | headerWord},
	{`previous(?:ly)?`, inAside | inBeside},
	{`previous\w*`, inSentence},
	{`prior`, inHeader | inHeading | inName | inAside | inBeside | inSentence | inHistory | headerWord},
	{`earlier`, inHeader | inHeading | inName | inAside | inBeside | inSentence},
	{`past`, inHeader | inHeading | inHistory},
	{`last`, inHeader | inName | inBeside},
	{`last (?:visit|week|month|year|time|result|value)`, inAside},
	{`last (?:week|month|year|visit|time|test|report|result)`, inSentence},
	{`historic\w*`, inHeader | inAside},
	{`historical`, inHeading},
	{`histor\w+`, inSentence},
	{`former`, inAside},
	{`formerly`, inBeside | inSentence},
	{`was`, inBeside},
	{`before`, inBeside},
	{`before (?:the )?(?:treatment|therapy|surgery|operation|admission|transfusion)`, inAside},
	{`baseline`, inSentence},
	{`(?:at |on )?(?:baseline|admission)`, inAside},
	{`ago`, inSentence},
	{`.*\bago`, inAside},
	{`old(?:er)?(?: values?| results?)?`, inAside},
	{`yesterday`, inAside},
	{`pre-?\s?(?:op(?:erative)?|treatment|therapy|surgery|admission|transfusion)`, inAside},
}

// earlierWords returns a pattern that accepts the words of a use.
func earlierWords(use earlierUse) string {
	var all []string
	for _, e := range earlierTable {
		if e.uses&use != 0 {
			all = append(all, e.pattern)
		}
	}
	return strings.Join(all, "|")
}
