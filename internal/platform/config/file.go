package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"
)

// readFile reads a flat YAML mapping of setting keys to values. A key that is
// no setting is an error with its line: a misspelt limit must not be a limit
// that silently is not there.
func readFile(path string) (map[string]given, error) {
	if path == "" {
		return nil, nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	values, err := parseFile(filepath.Base(path), content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return values, nil
}

func parseFile(name string, content []byte) (map[string]given, error) {
	var document, another yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	err := decoder.Decode(&document)
	if errors.Is(err, io.EOF) { // nothing but comments
		return nil, nil
	}
	if err == nil {
		err = decoder.Decode(&another)
	}
	switch {
	case err == nil:
		return nil, fmt.Errorf("line %d: a second document begins; the settings are one", another.Line)
	case !errors.Is(err, io.EOF):
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	case len(document.Content) == 0:
		return nil, nil
	}
	root := document.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return nil, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, errors.New("must be a list of `key: value` lines")
	}
	known := fileKeys()
	values := make(map[string]given, len(root.Content)/2)
	var wrong []error
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, node := root.Content[i], root.Content[i+1]
		texts, err := texts(node)
		switch {
		case !known[key.Value]:
			err = errors.New("no such setting" + didYouMean(key.Value, known))
		case values[key.Value].texts != nil:
			err = errors.New("is given twice")
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("line %d: %s: %w", key.Line, key.Value, err))
			continue
		}
		values[key.Value] = given{texts, Origin{File, fmt.Sprintf("%s:%d", name, key.Line)}}
	}
	return values, errors.Join(wrong...)
}

// texts are the values of a node: one for a scalar, several for a sequence.
func texts(node *yaml.Node) ([]string, error) {
	switch node.Kind {
	case yaml.ScalarNode:
		if node.Tag == "!!null" {
			return []string{""}, nil
		}
		return []string{node.Value}, nil
	case yaml.SequenceNode:
		list := make([]string, 0, len(node.Content))
		for _, item := range node.Content {
			if item.Kind != yaml.ScalarNode {
				return nil, errors.New("must be a list of plain values")
			}
			list = append(list, item.Value)
		}
		return list, nil
	default:
		return nil, errors.New("must be a plain value or a list of them")
	}
}

func fileKeys() map[string]bool {
	keys := make(map[string]bool, 2*len(settings))
	for _, s := range settings {
		keys[s.Key] = true
		if s.Secret {
			keys[s.FileKey()] = true
		}
	}
	return keys
}

// didYouMean finds the usual slip: underscores, capitals, a plural s.
func didYouMean(key string, known map[string]bool) string {
	plain := func(s string) string {
		s = strings.ToLower(s)
		return strings.TrimSuffix(strings.NewReplacer("_", "", "-", "", " ", "").Replace(s), "s")
	}
	for name := range known {
		if plain(name) == plain(key) {
			return ", did you mean " + name + "?"
		}
	}
	return ""
}
