package providers

import (
	"fmt"
	"hash/fnv"
	"html"
	"strings"
	"unicode"

	"hale/internal/platform/store"
)

// LogoPath is the path of the logos of all servers: LogoPath + slug + ".svg".
const LogoPath = "/static/providers/"

// Logos is the base URL of the service that serves the logos, without a trailing
// slash. If it is empty, addresses of logos are paths.
type Logos string

var logos = store.NewSlot[Logos](nil)

// ServeLogos sets the base URL of the logos in answers and events of db. The app
// calls it at start.
func ServeLogos(db *store.DB, base Logos) { logos.Set(db, base) }

// LogosOf returns the base URL of the logos of a database or transaction.
func LogosOf(db store.Owner) Logos { return logos.Of(db) }

// URL returns the address of a provider's logo.
func (l Logos) URL(slug string) string { return string(l) + LogoPath + slug + ".svg" }

// logoColors are tile colors on which white letters have a contrast of at least 4.5 to 1
// (WCAG 2.2, 1.4.3).
var logoColors = []string{"#1f4e79", "#2e5a3a", "#5b3a6e", "#7a3b2e", "#3a4a5b", "#6b4e16", "#1d5c63", "#5a2a4a"}

// Logo draws the provider's tile: its initials on a color that is derived from the slug.
// The same slug always gives the same picture.
func (p Provider) Logo() []byte {
	h := fnv.New32a()
	_, _ = h.Write([]byte(p.Slug)) // never fails
	ground := logoColors[int(h.Sum32()%uint32(len(logoColors)))]
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" role="img" aria-label="%s">`+
		`<rect width="64" height="64" rx="14" fill="%s"/>`+
		`<text x="32" y="33" fill="#fff" font-family="system-ui,sans-serif" font-size="26" font-weight="600" text-anchor="middle" dominant-baseline="central">%s</text>`+
		`</svg>`, html.EscapeString(p.Name), ground, html.EscapeString(initials(p.Name)))
}

// initials returns the first letters of the first two words, or the first two letters of
// a single word.
func initials(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	switch len(words) {
	case 0:
		return "?"
	case 1:
		letters := []rune(words[0])
		return string(letters[:min(2, len(letters))])
	}
	return strings.ToUpper(string([]rune(words[0])[:1]) + string([]rune(words[1])[:1]))
}
