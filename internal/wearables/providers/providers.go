package providers

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
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

// OfType lists the providers of one source type, or of one way to connect. The
// specification does not define the words of the filter, and clients use both. An unknown
// word gives no provider and no error, because the lists may grow.
func OfType(word string) []Provider {
	return slices.DeleteFunc(List(), func(p Provider) bool {
		return string(p.SourceType) != word && (p.AuthType == nil || string(*p.AuthType) != word)
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
