package apitest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// comparison walks two schemas at once and says where a client that was
// written for the one would be surprised by the other.
//
// What is answered must be something that the contract allows: nothing that it
// names is missing, what it calls required is always there, null and words only
// where it has them. What is sent is the other way round: whatever the contract
// allows must be taken.
type comparison struct {
	theirs, ours *document
	answered     bool
	seen         map[[2]*schema]bool // pairs that were, or are being, compared
	found        func(at, what string)
}

// leaf is a schema without choices and references.
type leaf struct {
	*schema
	at string // the contract's name for it, or the way to it
}

// leaves lists what a schema allows besides null, and whether it allows null.
func (d *document) leaves(s *schema, at string) (all []leaf, null bool) {
	if s != nil && s.Ref != "" {
		return d.leaves(d.resolve(s), strings.TrimPrefix(s.Ref, "#/components/schemas/"))
	}
	if s == nil {
		return []leaf{{&schema{}, at}}, true
	}
	if choice := slices.Concat(s.AnyOf, s.OneOf); len(choice) > 0 {
		for _, one := range choice {
			more, maybe := d.leaves(one, at)
			all, null = append(all, more...), null || maybe
		}
		return all, null
	}
	if len(s.AllOf) == 1 {
		return d.leaves(s.AllOf[0], at)
	}
	for _, kind := range s.Type {
		if kind == "null" {
			null = true
			continue
		}
		one := *s
		one.Type = words{kind}
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

// compare reports every difference at a place that has the two schemas.
func (c *comparison) compare(theirs, ours *schema, at string) {
	pair := [2]*schema{c.theirs.resolve(theirs), c.ours.resolve(ours)}
	if c.seen[pair] {
		return
	}
	c.seen[pair] = true
	t, theirNull := c.theirs.leaves(theirs, at)
	o, ourNull := c.ours.leaves(ours, at)
	switch {
	case c.answered && ourNull && !theirNull:
		c.found(at, "may be null")
	case !c.answered && theirNull && !ourNull:
		c.found(at, "refuses null")
	}
	from, to := t, o
	if c.answered {
		from, to = o, t
	}
	for _, one := range from {
		c.closest(one, to)
	}
}

// closest compares a leaf with the one of the other side that differs least.
func (c *comparison) closest(one leaf, others []leaf) {
	var least []func()
	for i, other := range others {
		var found []func()
		try := *c
		try.seen = maps.Clone(c.seen)
		try.found = func(at, what string) { found = append(found, func() { c.found(at, what) }) }
		if c.answered {
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

// leaf compares two schemas without choices.
func (c *comparison) leaf(t, o leaf) {
	if len(t.Type) == 0 {
		return // the contract leaves it open
	}
	if len(o.Type) == 0 {
		if c.answered {
			c.found(t.at, "is not described")
		}
		return
	}
	narrow, wide := t.Type[0], o.Type[0]
	if c.answered {
		narrow, wide = wide, narrow
	}
	if narrow != wide && (narrow != "integer" || wide != "number") {
		c.found(t.at, fmt.Sprintf("is of type %s, not %s", o.Type[0], t.Type[0]))
		return
	}
	c.words(t, o)
	c.format(t, o)
	if !c.answered {
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
	if c.answered {
		narrow, wide = ours, theirs
	}
	switch {
	case len(wide) == 0:
	case len(narrow) == 0 && c.answered:
		// The contract's lists of words may grow, and ours too. Which words there
		// are is seen where answers are compared.
	case len(narrow) == 0:
		c.found(t.at, fmt.Sprintf("takes the words %v only", ours))
	default:
		if extra := slices.DeleteFunc(narrow, func(word string) bool { return slices.Contains(wide, word) }); len(extra) > 0 {
			c.found(t.at, map[bool]string{true: "may be ", false: "refuses "}[c.answered]+strings.Join(extra, ", "))
		}
	}
}

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
	if c.answered && theirs || !c.answered && ours {
		c.found(t.at, fmt.Sprintf("has the format %q, not %q", o.Format, t.Format))
	}
}

// limits compares bounds of what is sent; they are meant to be the same.
func (c *comparison) limits(t, o leaf) {
	differ := func(what string, theirs, ours any) {
		if theirs != ours {
			c.found(t.at, fmt.Sprintf("%s is %v, not %v", what, ours, theirs))
		}
	}
	differ("minimum", orNone(t.Minimum), orNone(o.Minimum))
	differ("maximum", orNone(t.Maximum), orNone(o.Maximum))
	differ("maxLength", orNone(t.MaxLength), orNone(o.MaxLength))
	differ("maxItems", orNone(t.MaxItems), orNone(o.MaxItems))
	if t.Pattern != o.Pattern {
		differ("pattern", t.Pattern, o.Pattern)
	}
	// One character at least is what any required text wants to be.
	if least := orNone(o.MinLength); least != "1" {
		differ("minLength", orNone(t.MinLength), least)
	}
	differ("minItems", orNone(t.MinItems), orNone(o.MinItems))
}

func orNone[N int | float64](n *N) string {
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
			if c.answered && slices.Contains(t.Required, name) && !slices.Contains(o.Required, name) {
				c.found(at, "is not always there")
			}
			c.defaults(t.Properties[name], ours, at)
		case o.Additional != nil && o.Additional.schema != nil: // a map here
			c.compare(t.Properties[name], o.Additional.schema, at)
		default:
			c.found(at, "is missing")
		}
	}
	if !c.answered {
		for _, name := range o.Required {
			if !slices.Contains(t.Required, name) {
				c.found(t.at+"."+name, "is required")
			}
		}
	}
	if t.Additional != nil && t.Additional.schema != nil {
		c.additional(t, o)
	}
}

// additional compares a map of the contract with what is a map here too, or an
// object.
func (c *comparison) additional(t, o leaf) {
	if o.Additional != nil && o.Additional.schema != nil {
		c.compare(t.Additional.schema, o.Additional.schema, t.at+".*")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(o.Properties)) {
		c.compare(t.Additional.schema, o.Properties[name], t.at+"."+name)
	}
}

// defaults compares what an absent field of a request means.
func (c *comparison) defaults(theirs, ours *schema, at string) {
	if c.answered || theirs == nil || ours == nil {
		return
	}
	plain := func(value any) string { // absent, false and empty are one
		if text := fmt.Sprint(value); !slices.Contains([]string{"<nil>", "false", ""}, text) {
			return text
		}
		return "nothing"
	}
	if t, o := plain(theirs.Default), plain(ours.Default); t != o {
		c.found(at, fmt.Sprintf("is %v when absent, not %v", o, t))
	}
}
