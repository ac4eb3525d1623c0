package extract

import (
	"regexp"
	"strings"
)

// Words of documents that name analytes and are no lab reports.
var otherDocuments = []*regexp.Regexp{
	regexp.MustCompile(`\b(?:invoices?|receipts?|amount due|total due|sub-?total|unit price|prices?|price list|qty|quantity|vat|sales tax|bill to|balance due|payments?|payable|discounts?|fees?|charges?|cpt|due date|per test)\b|[$£€₹]\s?\d|\b(?:usd|eur|gbp|rs\.?)\s?\d|\d\s?(?:usd|eur|gbp)\b`),
	regexp.MustCompile(`\b(?:nutrition facts|nutritional? information|nutrition|serving size|servings?|calories|daily value|saturated|saturates|trans fat|dietary fib(?:er|re)|(?:added )?sugars|total fat|carbohydrates?|kcal|kj|per 100 ?(?:g|ml)|ingredients)\b`),
	regexp.MustCompile(`\b(?:ingredients|preheat\w*|tablespoons?|tbsp|teaspoons?|tsp|cups?|oven|bake\w*|stir|simmer|recipe|serves|servings|garnish|chopped|pinch|whisk|boil)\b`),
}

// looksForeign reports whether a document has at least three words of another kind of
// document.
func looksForeign(doc Document) bool {
	var all strings.Builder
	for _, p := range doc.Pages {
		for _, w := range p.Words {
			all.WriteString(strings.ToLower(w.Text))
			all.WriteByte(' ')
		}
	}
	for _, words := range otherDocuments {
		found := map[string]bool{}
		for _, word := range words.FindAllString(all.String(), -1) {
			found[strings.TrimRight(word, "0123456789 s")] = true
		}
		if len(found) >= 3 {
			return true
		}
	}
	return false
}
