package insurance

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"hale/internal/people/users/person"
	"hale/internal/platform/lists"
	"hale/internal/platform/store"
)

// payorsFile is the directory that ships: large payors by name. No open list
// of addresses exists, so there are none; the few numbers of clearing houses
// are those that the houses publish.
//
//go:embed payors.json
var payorsFile []byte

// entry is a payor of the directory as it is written down, in payors.json and
// in what an import keeps.
type entry struct {
	Code     string            `json:"code"`
	Name     string            `json:"name"`
	Aliases  []string          `json:"aliases"`
	Address  *person.Address   `json:"address,omitempty"`
	External map[string]string `json:"external,omitempty"` // provider to code
}

func (e entry) payor() Payor {
	p := Payor{Code: e.Code, Company: Company{Name: e.Name, Address: person.Address{Country: person.US}}, Aliases: e.Aliases, Source: Platform}
	if e.Address != nil {
		p.Address = *e.Address
	}
	for provider, code := range e.External {
		p.External = append(p.External, External{provider, code})
	}
	slices.SortFunc(p.External, func(a, b External) int { return cmp.Compare(a.Provider, b.Provider) })
	return p
}

// directory is all platform payors, made for looking up and searching.
type directory struct {
	byCode map[string]Payor
	names  []named
}

// platform is the directory in force: what ships, the plans of the states, and
// what an operator imported.
var platform = lists.New(lists.Definition[*directory]{
	Name:    "payors",
	Shipped: sync.OnceValue(func() *directory { return newDirectory(nil) }),
	Parse: func(text []byte) (*directory, error) {
		imported, err := parseEntries(text)
		if err != nil {
			return nil, err
		}
		return newDirectory(imported), nil
	},
})

var shipped = sync.OnceValue(func() []entry {
	all, err := parseEntries(payorsFile)
	if err != nil {
		panic(fmt.Sprintf("insurance: payors.json: %v", err)) // the file is part of the binary and tested
	}
	return all
})

func parseEntries(text []byte) ([]entry, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	var all []entry
	return all, dec.Decode(&all)
}

// newDirectory puts the parts together. An imported payor takes the place of
// one that ships under the same code.
func newDirectory(imported []entry) *directory {
	d := &directory{byCode: map[string]Payor{}}
	for _, p := range statePlans() {
		d.byCode[p.Code] = p
	}
	for _, part := range [][]entry{shipped(), imported} {
		for _, e := range part {
			d.byCode[e.Code] = e.payor()
		}
	}
	for _, p := range d.byCode {
		d.names = append(d.names, nameOf(p))
	}
	slices.SortFunc(d.names, func(a, b named) int { return cmp.Compare(a.Code, b.Code) })
	return d
}

func currentDirectory(ctx context.Context, tx *store.Tx) (*directory, error) {
	return platform.Current(ctx, tx)
}
