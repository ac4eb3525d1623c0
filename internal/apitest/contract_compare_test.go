package apitest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// comparison compares two schemas and reports differences that would break a client of
// the first one.
//
// Answers must be allowed by the contract. They contain every field of the contract,
// always the required ones, and null or enum values only where the contract has them.
// For requests the direction is reversed: the service must accept everything that the
// contract allows.
type comparison struct {
	theirs, ours  *document
	isAnswer      bool
	comparedPairs map[[2]*schema]bool // pairs already compared, or in progress
	report        func(at, what string)
}

// leaf is a schema without choices and references.
type leaf struct {
	*schema
	at string // the name in the contract, or the path to it
}

// leaves returns the alternatives of a schema except null, and whether null is allowed.
func (d *document) leaves(s *schema, at string) (all []leaf, null bool) {
	if s != nil && s.Ref != "" {
		return d.leaves(d.resolve(s), strings.TrimPrefix(s.Ref, "#/components/schemas/"))
	}
	if s == nil {
		return []leaf{{&schema{}, at}}, true
	}
	if choice := slices.Concat(s.AnyOf, s.OneOf); len(choice) > 0 && len(s.Type) == 0 { // otherwise they refine s, which the contract says in words
		for _, one := range choice {
			more, maybe := d.leaves(one, at)
			all, null = append(all, more...), null || maybe
		}
		return mergeEnums(all), null
	}
	if len(s.AllOf) == 1 && len(s.Type) == 0 {
		return d.leaves(s.AllOf[0], at)
	}
	for _, kind := range s.Type {
		if kind == "null" {
			null = true
			continue
		}
		one := *s
		one.Type = stringOrList{kind}
		one.Enum = slices.DeleteFunc(slices.Clone(s.Enum), func(word any) bool { return word == nil })
		if s.Const != nil {
			one.Enum = []any{s.Const}
		}
		all = append(all, leaf{&one, at})
	}
	if len(s.Type) == 0 {
		return []leaf{{s, at}}, true
	}
	return all, null
}

// mergeEnums merges the enums of a union's members.
func mergeEnums(all []leaf) []leaf {
	isList := func(l leaf) bool { return slices.Equal(l.Type, stringOrList{"string"}) && len(l.Enum) > 0 }
	i := slices.IndexFunc(all, isList)
	if i < 0 {
		return all
	}
	list := *all[i].schema
	list.Enum = nil
	for _, one := range all {
		if isList(one) {
			list.Enum = append(list.Enum, one.Enum...)
		}
	}
	return append(slices.DeleteFunc(slices.Clone(all), isList), leaf{&list, all[i].at})
}

// compare reports every difference between two schemas at a place.
func (c *comparison) compare(theirs, ours *schema, at string) {
	pair := [2]*schema{c.theirs.resolve(theirs), c.ours.resolve(ours)}
	if c.comparedPairs[pair] {
		return
	}
	c.comparedPairs[pair] = true
	t, theirNull := c.theirs.leaves(theirs, at)
	o, ourNull := c.ours.leaves(ours, at)
	switch {
	case c.isAnswer && ourNull && !theirNull:
		c.report(at, "may be null")
	case !c.isAnswer && theirNull && !ourNull:
		c.report(at, "refuses null")
	}
	from, to := t, o
	if c.isAnswer {
		from, to = o, t
	}
	for _, one := range from {
		c.closest(one, to)
	}
}

// closest compares a leaf with the most similar leaf of the other side. It prefers
// leaves with the same discriminating fields, if there are any.
func (c *comparison) closest(one leaf, others []leaf) {
	if kin := slices.DeleteFunc(slices.Clone(others), func(other leaf) bool { return !isRelated(one, other) }); len(kin) > 0 {
		others = kin
	}
	var least []func()
	for i, other := range others {
		var found []func()
		try := *c
		try.comparedPairs = maps.Clone(c.comparedPairs)
		try.report = func(at, what string) { found = append(found, func() { c.report(at, what) }) }
		if c.isAnswer {
			try.leaf(other, leaf{one.schema, other.at})
		} else {
			try.leaf(one, leaf{other.schema, one.at})
		}
		if i == 0 || len(found) < len(least) {
			least = found
		}
	}
	for _, report := range least {
		report()
	}
}

// isRelated reports whether two members of unions have the same discriminating fields:
// each knows the fields that the other requires.
func isRelated(a, b leaf) bool {
	knows := func(s leaf, names []string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return s.Properties[name] == nil })
	}
	return len(a.Required)+len(b.Required) > 0 && knows(a, b.Required) && knows(b, a.Required)
}

// leaf compares two schemas without alternatives.
func (c *comparison) leaf(t, o leaf) {
	if len(t.Type) == 0 {
		return // the contract does not specify it
	}
	if len(o.Type) == 0 {
		if c.isAnswer {
			c.report(t.at, "is not described")
		}
		return
	}
	narrow, wide := t.Type[0], o.Type[0]
	if c.isAnswer {
		narrow, wide = wide, narrow
	}
	if narrow != wide && (narrow != "integer" || wide != "number") {
		c.report(t.at, fmt.Sprintf("is of type %s, not %s", o.Type[0], t.Type[0]))
		return
	}
	c.words(t, o)
	c.format(t, o)
	if !c.isAnswer {
		c.limits(t, o)
	}
	switch t.Type[0] {
	case "array":
		c.compare(t.Items, o.Items, t.at+"[]")
	case "object":
		c.object(t, o)
	}
}

func (c *comparison) words(t, o leaf) {
	theirs, ours := asTexts(t.Enum), asTexts(o.Enum)
	narrow, wide := theirs, ours
	if c.isAnswer {
		narrow, wide = ours, theirs
	}
	switch {
	case len(wide) == 0:
	case len(narrow) == 0 && c.isAnswer:
		// The contract's enums may grow, and so may ours. The comparison of answers
		// checks the values.
	case len(narrow) == 0 && slices.ContainsFunc(ownWords, func(place string) bool { return strings.HasSuffix(t.at, place) }):
	case len(narrow) == 0:
		c.report(t.at, fmt.Sprintf("takes the words %v only", ours))
	default:
		if extra := slices.DeleteFunc(narrow, func(word string) bool { return slices.Contains(wide, word) }); len(extra) > 0 {
			c.report(t.at, map[bool]string{true: "may be ", false: "refuses "}[c.isAnswer]+strings.Join(extra, ", "))
		}
	}
}

// ownWords are places whose words the contract does not list: event types and states.
var ownWords = []string{".filter_types[]", ".licensed_states[]"}

func asTexts(values []any) []string {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = fmt.Sprint(value)
	}
	slices.Sort(texts)
	return texts
}

func (c *comparison) format(t, o leaf) {
	formats := []string{"date-time", "date", "uuid"}
	theirs, ours := slices.Contains(formats, t.Format), slices.Contains(formats, o.Format)
	if t.Type[0] != "string" || t.Format == o.Format || len(o.Enum) > 0 {
		return
	}
	if strings.Contains(t.at, " query ") && strings.HasSuffix(t.at, "_date") {
		return // reference 7.2: a date or an instant, which the contract says in words
	}
	if c.isAnswer && theirs || !c.isAnswer && ours {
		c.report(t.at, fmt.Sprintf("has the format %q, not %q", o.Format, t.Format))
	}
}

// allowedBounds are bounds that do not affect clients where the contract has none. They limit
// the work per request and are far above the values of clients.
var allowedBounds = map[string]float64{"maximum": 500, "maxLength": 200, "maxItems": 20}

// minLowerBound is the largest lower bound that needs no comparison: counts are not negative,
// pages not empty, and required texts and lists not empty.
const minLowerBound = 1

// limits compares bounds of requests, which must be equal.
func (c *comparison) limits(t, o leaf) {
	for _, bound := range []struct {
		what         string
		theirs, ours *float64
	}{
		{"minimum", t.Minimum, o.Minimum},
		{"minLength", number(t.MinLength), number(o.MinLength)},
		{"minItems", number(t.MinItems), number(o.MinItems)},
		{"maximum", t.Maximum, o.Maximum},
		{"maxLength", number(t.MaxLength), number(o.MaxLength)},
		{"maxItems", number(t.MaxItems), number(o.MaxItems)},
	} {
		most, above := allowedBounds[bound.what]
		switch {
		case bound.theirs == nil && bound.ours == nil, bound.theirs != nil && bound.ours != nil && *bound.theirs == *bound.ours:
		case bound.theirs == nil && above && *bound.ours >= most:
		case bound.theirs == nil && !above && *bound.ours <= minLowerBound:
		default:
			c.report(t.at, fmt.Sprintf("%s is %s, not %s", bound.what, orNone(bound.ours), orNone(bound.theirs)))
		}
	}
	if t.Pattern != o.Pattern && t.Pattern != "" { // TestTheDocumentStatesEveryRefusal checks the others
		c.report(t.at, fmt.Sprintf("pattern is %s, not %s", o.Pattern, t.Pattern))
	}
}

func number(n *int) *float64 {
	if n == nil {
		return nil
	}
	f := float64(*n)
	return &f
}

func orNone(n *float64) string {
	if n == nil {
		return "none"
	}
	return fmt.Sprint(*n)
}

func (c *comparison) object(t, o leaf) {
	for _, name := range slices.Sorted(maps.Keys(t.Properties)) {
		at, ours := t.at+"."+name, o.Properties[name]
		switch {
		case ours != nil:
			c.compare(t.Properties[name], ours, at)
			if c.isAnswer && slices.Contains(t.Required, name) && !slices.Contains(o.Required, name) {
				c.report(at, "is not always there")
			}
			c.defaults(t.Properties[name], ours, at)
		case o.Additional != nil && o.Additional.schema != nil: // also a map here
			c.compare(t.Properties[name], o.Additional.schema, at)
		default:
			c.report(at, "is missing")
		}
	}
	if !c.isAnswer {
		for _, name := range o.Required {
			if !slices.Contains(t.Required, name) {
				c.report(t.at+"."+name, "is required")
			}
		}
	}
	if t.Additional != nil && t.Additional.schema != nil {
		c.additional(t, o)
	}
}

// additional compares a map of the contract with a map or an object of ours.
func (c *comparison) additional(t, o leaf) {
	if o.Additional != nil && o.Additional.schema != nil {
		c.compare(t.Additional.schema, o.Additional.schema, t.at+".*")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(o.Properties)) {
		c.compare(t.Additional.schema, o.Properties[name], t.at+"."+name)
	}
}

// defaults compares the defaults of an absent field of a request.
func (c *comparison) defaults(theirs, ours *schema, at string) {
	if c.isAnswer || theirs == nil || ours == nil {
		return
	}
	plain := func(value any) string { // absent, false and empty are equivalent
		if text := fmt.Sprint(value); !slices.Contains([]string{"<nil>", "false", ""}, text) {
			return text
		}
		return "nothing"
	}
	if t, o := plain(theirs.Default), plain(ours.Default); t != o {
		c.report(at, fmt.Sprintf("is %v when absent, not %v", o, t))
	}
}
