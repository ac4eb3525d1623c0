package providers

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"html"
	"slices"
	"strings"
	"unicode"

	"hale/internal/platform/store"
)

// AuthType is the way in which a person connects a provider.
//
// Spec: Catalog provider, auth_type. The list may grow.
type AuthType string

// The ways to connect. TeamOAuth is OAuth through the team's own application;
// SDK means that a phone pushes the data.
const (
	OAuth     AuthType = "oauth"
	TeamOAuth AuthType = "team_oauth"
	SDK       AuthType = "sdk"
	Password  AuthType = "password"
	Email     AuthType = "email"
	App       AuthType = "app"
)

// SourceType is the kind of source that a provider is.
//
// Reference 6.4, source_type of link sources.
type SourceType string

// The kinds of source. TypedIn is data that people enter by hand. In the API its word is
// provider.
const (
	AppSource    SourceType = "app"
	BLESource    SourceType = "ble"
	DeviceSource SourceType = "device"
	LabSource    SourceType = "lab"
	TypedIn      SourceType = "provider"
)

// Provider is one row of the catalogue.
//
// Spec: Catalog provider. Reference 11.
type Provider struct {
	Slug        string     `json:"slug"`
	Name        string     `json:"name"`
	Description string     `json:"description"`
	AuthType    *AuthType  `json:"auth_type"` // nil: nothing to connect
	SourceType  SourceType `json:"source_type"`
	// SupportedResources are names of the spec's list, sorted.
	SupportedResources []string `json:"supported_resources"`
}

// PushedByPhone reports whether a phone sends the provider's data, so that it cannot be
// pulled.
func (p Provider) PushedByPhone() bool { return p.AuthType != nil && *p.AuthType == SDK }

//go:embed catalogue.json
var catalogueFile []byte

var (
	catalogue = mustParse(catalogueFile)
	bySlug    = index(catalogue)
)

func mustParse(file []byte) []Provider {
	dec := json.NewDecoder(bytes.NewReader(file))
	dec.DisallowUnknownFields()
	var rows []Provider
	if err := dec.Decode(&rows); err != nil {
		panic(fmt.Sprintf("providers: catalogue.json: %v", err)) // the file is part of the binary and tested
	}
	return rows
}

func index(rows []Provider) map[string]Provider {
	m := make(map[string]Provider, len(rows))
	for _, p := range rows {
		m[p.Slug] = p
	}
	return m
}

// List lists the catalogue in its own order.
func List() []Provider { return slices.Clone(catalogue) }

// Slugs lists the slugs of the catalogue.
func Slugs() []string {
	all := make([]string, len(catalogue))
	for i, p := range catalogue {
		all[i] = p.Slug
	}
	return all
}

// SlugsOfPhones lists the slugs of the providers whose data phones send.
func SlugsOfPhones() []string {
	var all []string
	for _, p := range catalogue {
		if p.PushedByPhone() {
			all = append(all, p.Slug)
		}
	}
	return all
}

// OfTypes lists the providers of some source types or ways to connect. The specification
// does not define the words of the filter, and clients use both. An unknown word gives no
// provider and no error, because the lists may grow.
func OfTypes(words []string) []Provider {
	return slices.DeleteFunc(List(), func(p Provider) bool {
		return !slices.Contains(words, string(p.SourceType)) && (p.AuthType == nil || !slices.Contains(words, string(*p.AuthType)))
	})
}

// Find returns the provider with a slug.
func Find(slug string) (Provider, bool) {
	p, ok := bySlug[slug]
	return p, ok
}

// FindOrName returns the provider with a stored slug. For a provider that is no longer in
// the catalogue, the name is the slug.
func FindOrName(slug string) Provider {
	if p, ok := bySlug[slug]; ok {
		return p
	}
	return Provider{Slug: slug, Name: slug}
}

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

// IsNewerVersion reports whether the first of two versions, such as 10.0 and 9.6.3, is the later
// one. They are compared part by part. Within a part, such as 10b or Build 100, they
// are compared number by number, so the order is total. A text is older than any
// number.
func IsNewerVersion(a, b string) bool {
	return cmp.Or(slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), compareNatural), strings.Compare(a, b)) > 0
}

// compareNatural compares two texts run by run: runs of digits as numbers, others as
// texts, in which case does not matter.
func compareNatural(a, b string) int {
	for a != "" && b != "" {
		x, y := leadingRun(a), leadingRun(b)
		a, b = a[len(x):], b[len(y):]
		if by := compareRuns(x, y); by != 0 {
			return by
		}
	}
	return cmp.Compare(len(a), len(b))
}

func compareRuns(x, y string) int {
	number, other := isDigit(x[0]), isDigit(y[0])
	switch {
	case number && other:
		x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
		return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y))
	case number:
		return 1
	case other:
		return -1
	}
	return strings.Compare(strings.ToLower(x), strings.ToLower(y))
}

// leadingRun returns the leading digits of a text that is not empty, or its leading
// characters without digits.
func leadingRun(text string) string {
	for i := range len(text) {
		if isDigit(text[i]) != isDigit(text[0]) {
			return text[:i]
		}
	}
	return text
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
