package results

import (
	"cmp"
	"strings"

	"hale/internal/labs/networks"
)

// nameParents adds to each value that belongs to another result, such as a
// susceptibility, a note with that result: the organism. A parent with a number
// needs no note, because its value is no name.
func (m *mergedReport) nameParents() {
	parents := map[parentKey][]*sampledResult{}
	for i := range m.results {
		r := &m.results[i]
		for _, name := range []string{r.ProviderID, r.LOINC} {
			if key := (parentKey{strings.ToLower(name), cmp.Or(r.SubID, "1")}); name != "" {
				parents[key] = append(parents[key], r)
			}
		}
	}
	for i := range m.results {
		r := &m.results[i]
		note := parentNote(r.Parent, r.group, parents)
		if note == "" {
			continue
		}
		r.Notes = append([]string{note}, r.Notes...)
	}
	for i := range m.missing {
		no := &m.missing[i]
		if note := parentNote(no.Parent, no.scope.group, parents); note != "" {
			no.Note = strings.TrimSpace(no.Note + "\n" + note)
		}
	}
}

// parentNote names a parent; empty without one. A result of the same group of
// specimens is preferred.
func parentNote(p networks.Parent, group string, parents map[parentKey][]*sampledResult) string {
	if p.Code == "" {
		return ""
	}
	var parent *sampledResult
	for _, one := range parents[parentKey{strings.ToLower(p.Code), cmp.Or(p.SubID, "1")}] {
		if parent == nil || parent.group != group && one.group == group {
			parent = one
		}
	}
	text := p.Value
	if parent != nil {
		text = parent.Value
	}
	switch text = strings.Join(strings.Fields(text), " "); {
	case parseReported(&networks.Result{Value: text}).number != nil:
		return ""
	case parent != nil:
		return cmp.Or(parent.Name, "Organism") + ": " + text
	case text != "":
		return "Organism: " + text
	case p.SubID != "":
		return "Parent result: " + p.Code + ", sub-id " + p.SubID
	}
	return ""
}
