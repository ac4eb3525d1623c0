package teams

import (
	"net/netip"
	"slices"
	"strings"

	"hale/internal/platform/fault"
)

// Scope is a group of operations that a key may call. docs/api-keys.md lists the
// operations of each.
type Scope string

const (
	Read     Scope = "read"     // read users, wearable data, orders and results
	Write    Scope = "write"    // change users and wearable data
	Orders   Scope = "orders"   // order lab tests, and decide about results
	Webhooks Scope = "webhooks" // webhook endpoints and the feed of events
	Portal   Scope = "portal"   // links and tokens of patients and their phones
	Admin    Scope = "admin"    // settings of the team, jobs, the audit log
)

// Scopes lists all scopes.
var Scopes = []Scope{Read, Write, Orders, Webhooks, Portal, Admin}

// Rights limit a key. The zero value allows everything but personal data.
type Rights struct {
	Scopes       []Scope // empty for all
	PersonalData bool
	Addresses    []netip.Prefix // empty for all
}

// FullRights are those of a key without limits.
var FullRights = Rights{PersonalData: true}

// Allow reports whether the rights contain a scope.
func (r *Rights) Allow(s Scope) bool { return len(r.Scopes) == 0 || slices.Contains(r.Scopes, s) }

// AllowAddress reports whether the key may be used from an address.
func (r *Rights) AllowAddress(a netip.Addr) bool {
	return len(r.Addresses) == 0 || slices.ContainsFunc(r.Addresses, func(p netip.Prefix) bool { return p.Contains(a) })
}

// ParseScopes reads scopes separated by commas.
func ParseScopes(text string) (all []Scope, err error) {
	for _, word := range words(text) {
		s := Scope(strings.ToLower(word))
		if !slices.Contains(Scopes, s) {
			return nil, fault.Newf(fault.Invalid, "%q is no scope: the scopes are %s", word, joinScopes(Scopes)).At("scopes")
		}
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all, nil
}

// words splits a list at commas and spaces.
func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}

func joinScopes(all []Scope) string {
	texts := make([]string, len(all))
	for i, s := range all {
		texts[i] = string(s)
	}
	return strings.Join(texts, ",")
}

func joinAddresses(all []netip.Prefix) string {
	texts := make([]string, len(all))
	for i, p := range all {
		texts[i] = p.String()
	}
	return strings.Join(texts, ",")
}

// scan reads the columns scopes and addresses.
func (r *Rights) scan(scopes, addresses string) (err error) {
	if r.Scopes, err = ParseScopes(scopes); err != nil {
		return err
	}
	for _, word := range words(addresses) {
		network, err := netip.ParsePrefix(word)
		if err != nil {
			return err
		}
		r.Addresses = append(r.Addresses, network)
	}
	return nil
}
