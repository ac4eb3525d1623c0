package api

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/danielgtaylor/huma/v2"
)

// The service treats null as absent in all optional fields of a body: huma skips them,
// and so do the parsers of pushes. Its types do not say so. This file adds null to the
// document.

// withOptionalNull returns the paths with null for the optional fields of bodies. It also
// returns such copies of the named schemas that bodies use and answers do not.
func withOptionalNull(paths map[string]*huma.PathItem, all map[string]*huma.Schema) (map[string]*huma.PathItem, map[string]*huma.Schema, error) {
	changed, named, answered := maps.Clone(paths), map[string]*huma.Schema{}, map[string]*huma.Schema{}
	for path, item := range paths {
		copied := *item
		if err := addAnswered(answered, item, all); err != nil {
			return nil, nil, err
		}
		for _, op := range []**huma.Operation{&copied.Post, &copied.Put, &copied.Patch, &copied.Delete} {
			if *op == nil || (*op).RequestBody == nil || (*op).RequestBody.Content["application/json"] == nil {
				continue
			}
			one, body := **op, *(*op).RequestBody
			media := *body.Content["application/json"]
			if err := addUsed(named, media.Schema, all); err != nil {
				return nil, nil, err
			}
			media.Schema = optionalNull(media.Schema)
			body.Content = maps.Clone(body.Content)
			body.Content["application/json"] = &media
			one.RequestBody = &body
			*op = &one
		}
		changed[path] = &copied
	}
	for name := range answered {
		delete(named, name)
	}
	for name := range named {
		named[name] = optionalNull(all[name])
	}
	return changed, named, nil
}

// addAnswered adds the named schemas of the answers of a path.
func addAnswered(used map[string]*huma.Schema, item *huma.PathItem, all map[string]*huma.Schema) error {
	for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
		if op == nil {
			continue
		}
		for _, response := range op.Responses {
			if media := response.Content["application/json"]; media != nil {
				if err := addUsed(used, media.Schema, all); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// addUsed adds the named schemas that a schema uses.
func addUsed(used map[string]*huma.Schema, s *huma.Schema, all map[string]*huma.Schema) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	for _, ref := range schemaRef.FindAllSubmatch(text, -1) {
		name := string(ref[1])
		if used[name] != nil || all[name] == nil {
			continue
		}
		used[name] = all[name]
		if err := addUsed(used, all[name], all); err != nil {
			return err
		}
	}
	return nil
}

// optionalNull returns a copy of a schema in which optional fields may be null. Stated
// alternatives keep their own rules.
func optionalNull(s *huma.Schema) *huma.Schema {
	if s == nil || s.Ref != "" {
		return s
	}
	c := *s
	c.Items = optionalNull(s.Items)
	if more, ok := s.AdditionalProperties.(*huma.Schema); ok {
		c.AdditionalProperties = optionalNull(more)
	}
	for _, list := range []*[]*huma.Schema{&c.AnyOf, &c.OneOf, &c.AllOf} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i] = optionalNull((*list)[i])
		}
	}
	required, _ := s.Extensions["required"].([]string)
	c.Properties = maps.Clone(s.Properties)
	for name, p := range s.Properties {
		p = optionalNull(p)
		if !slices.Contains(s.Required, name) && !slices.Contains(required, name) {
			p = orNull(p)
		}
		c.Properties[name] = p
	}
	return &c
}

// orNull returns a schema that allows null, too.
func orNull(s *huma.Schema) *huma.Schema {
	null := &huma.Schema{Type: "null"}
	if s.Ref != "" {
		return &huma.Schema{Description: s.Description, AnyOf: []*huma.Schema{{Ref: s.Ref}, null}}
	}
	c := *s
	if s.Type != "" {
		c.Nullable = true
	} else if len(s.AnyOf) > 0 && !slices.ContainsFunc(s.AnyOf, allowsNull) {
		c.AnyOf = append(slices.Clip(s.AnyOf), null)
	}
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, nil) {
		c.Enum = append(slices.Clip(s.Enum), nil)
	}
	if words, _ := s.Extensions["enum"].([]any); words != nil && !slices.Contains(words, nil) {
		c.Extensions = maps.Clone(s.Extensions)
		maps.Copy(c.Extensions, Keywords{"enum": words}.OrNull())
	}
	return &c
}

func allowsNull(s *huma.Schema) bool { return s.Nullable || s.Type == "null" }
