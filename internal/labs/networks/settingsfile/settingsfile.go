// Package settingsfile reads the file that configures the connections to labs
// and to fulfilment partners: one section for each network, below the key
// networks. Errors have the line in the file and no names of Go types.
package settingsfile

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// CheckSections returns an error for each section that no network has. A
// misspelled section would configure nothing, without a message.
func CheckSections(document []byte, known ...string) error {
	var file struct {
		Networks yaml.Node `yaml:"networks"`
	}
	if err := yaml.Unmarshal(document, &file); err != nil {
		return yamlError(err)
	}
	sections := &file.Networks
	for depth := 0; sections.Kind == yaml.AliasNode && sections.Alias != nil && depth < maxAliases; depth++ {
		sections = sections.Alias
	}
	switch {
	case sections.Kind == 0 || sections.Tag == "!!null":
		return nil
	case sections.Kind != yaml.MappingNode:
		return fmt.Errorf("line %d: must be a mapping of keys to values", sections.Line)
	}
	var wrong []error
	for i := 0; i < len(sections.Content); i += 2 {
		if key := sections.Content[i]; key.Tag != "!!merge" && !slices.Contains(known, key.Value) {
			wrong = append(wrong, fmt.Errorf("line %d: unknown network %s: the networks are %s", key.Line, plainKey(key.Value), strings.Join(known, ", ")))
		}
	}
	return errors.Join(wrong...)
}

// Decode reads a section into settings, a pointer to a struct. An absent
// section changes nothing. err means that the document cannot be read; wrong
// lists the unknown keys and the values of a wrong type.
func Decode(document []byte, section string, settings any) (wrong []error, err error) {
	var file struct {
		Networks map[string]yaml.Node `yaml:"networks"`
	}
	if err := yaml.Unmarshal(document, &file); err != nil {
		return nil, yamlError(err)
	}
	node, ok := file.Networks[section]
	if !ok {
		return nil, nil
	}
	wrong = unknownKeys(&node, reflect.TypeOf(settings), 0)
	if err := node.Decode(settings); err != nil {
		wrong = append(wrong, yamlError(err))
	}
	return wrong, nil
}

// maxAliases bounds the depth of keys and aliases, which may refer to themselves.
const maxAliases = 16

// unknownKeys returns an error for each key that a type does not have.
func unknownKeys(n *yaml.Node, t reflect.Type, depth int) (wrong []error) {
	for n.Kind == yaml.AliasNode && n.Alias != nil && depth < maxAliases {
		n, depth = n.Alias, depth+1
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if n.Kind != yaml.MappingNode || depth >= maxAliases {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		inner, known := fieldType(t, key)
		if !known {
			wrong = append(wrong, fmt.Errorf("line %d: unknown key %s", key.Line, plainKey(key.Value)))
			continue
		}
		wrong = append(wrong, unknownKeys(value, inner, depth+1)...)
	}
	return wrong
}

// plainKey returns a key, quoted if it is not one visible word.
func plainKey(key string) string {
	if quoted := strconv.Quote(key); key == "" || quoted != `"`+key+`"` || strings.Contains(key, " ") {
		return quoted
	}
	return key
}

// fieldType returns the type of the value of a key.
func fieldType(t reflect.Type, key *yaml.Node) (inner reflect.Type, known bool) {
	switch {
	case key.Tag == "!!merge": // the keys of another mapping
		return t, true
	case t.Kind() == reflect.Map:
		return t.Elem(), true
	case t.Kind() != reflect.Struct:
		return t, true // Decode reports the wrong type
	}
	for i := range t.NumField() {
		if t.Field(i).Tag.Get("yaml") == key.Value {
			return t.Field(i).Type, true
		}
	}
	return nil, false
}

// yamlError describes a YAML error without the names of Go types, one line for each
// fault. The text of a syntax error may quote the document, which may have empty lines.
func yamlError(err error) error {
	var types *yaml.TypeError
	if !errors.As(err, &types) {
		return errors.New(strings.Join(strings.Fields(strings.TrimPrefix(err.Error(), "yaml: ")), " "))
	}
	var wrong []error
	for _, text := range types.Errors {
		if m := wrongType.FindStringSubmatch(text); m != nil {
			text = m[1] + ": must be " + wantedValue(m[2])
		}
		wrong = append(wrong, errors.New(strings.Join(strings.Fields(text), " ")))
	}
	return errors.Join(wrong...)
}

// wrongType matches the line and the Go type of a yaml.TypeError.
var wrongType = regexp.MustCompile(`(?s)^(line \d+): cannot unmarshal .* into ([^ ` + "`" + `]+)$`)

func wantedValue(goType string) string {
	switch goType {
	case "bool":
		return "true or false"
	case "int":
		return "a whole number"
	case "string":
		return "a text"
	case "time.Duration":
		return "a time span, such as 30s"
	}
	if strings.HasPrefix(goType, "[]") {
		return "a list"
	}
	return "a mapping of keys to values"
}
