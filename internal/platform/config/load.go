package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Source is a kind of place that a setting can come from.
type Source string

// The sources, lowest precedence first.
const (
	Default     Source = "default"
	File        Source = "file"
	Environment Source = "env"
	Flag        Source = "flag"
)

// Origin describes the source of one value.
type Origin struct {
	Source Source
	// Name is the flag, the variable, or file:line; empty for a default.
	Name string
}

func (o Origin) String() string {
	if o.Name == "" {
		return string(o.Source)
	}
	return string(o.Source) + " " + o.Name
}

// Input contains the sources of a configuration.
type Input struct {
	// Flags has the flags on the command line, by name without dashes, including the
	// file flags of secrets (KEY-file).
	Flags map[string][]string
	// LookupEnv is os.LookupEnv or a replacement in tests.
	LookupEnv func(string) (string, bool)
	// File is the path of a YAML file; empty means none.
	File string
}

// textValue is a value before parsing.
type textValue struct {
	texts  []string
	origin Origin
}

// Load reads and checks the configuration. The error lists all mistakes, one per line.
func Load(in Input) (*Config, error) {
	file, err := readFile(in.File)
	if err != nil {
		return nil, err
	}
	c := &Config{origins: make(map[string]Origin, len(settings))}
	var wrong []error
	fail := func(s Setting, from Origin, err error) {
		wrong = append(wrong, fmt.Errorf("%s (%s): %w", s.Key, from, err))
	}
	for _, s := range settingsInOrder() {
		value, err := find(s, in, file, c)
		if err == nil {
			err = assign(s.field(c), value.texts, s.ZeroOK)
		}
		if err == nil && len(s.Values) > 0 && !slices.Contains(s.Values, format(s.field(c))) {
			err = errors.New("must be " + strings.Join(s.Values, " or "))
		}
		c.origins[s.Key] = value.origin
		if err != nil {
			fail(s, value.origin, err)
		}
	}
	c.normalise()
	for _, s := range settings {
		if s.check == nil || len(wrong) > 0 {
			continue
		}
		if err := s.check(c); err != nil {
			fail(s, c.origins[s.Key], err)
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, err
	}
	return c, nil
}

// settingsInOrder returns the settings with the environment first, because other
// defaults depend on it.
func settingsInOrder() []Setting {
	order := Settings()
	slices.SortStableFunc(order, func(a, b Setting) int {
		return rank(a) - rank(b)
	})
	return order
}

func rank(s Setting) int {
	if s.Key == "environment" {
		return 0
	}
	return 1
}

// normalise replaces equivalent spellings of a value by one.
func (c *Config) normalise() {
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	if strings.EqualFold(c.MetricsListen, "off") {
		c.MetricsListen = ""
	}
}

// find returns the value from the source with the highest precedence that names the
// setting.
func find(s Setting, in Input, file map[string]textValue, c *Config) (textValue, error) {
	levels := []func(key, env string) (textValue, bool){
		func(key, _ string) (textValue, bool) {
			texts, ok := in.Flags[key]
			return textValue{texts, Origin{Flag, "--" + key}}, ok
		},
		func(_, env string) (textValue, bool) { return lookupEnv(s, env, in.LookupEnv) },
		func(key, _ string) (textValue, bool) { v, ok := file[key]; return v, ok },
	}
	for _, level := range levels {
		value, ok := level(s.Key, s.Env)
		if !s.Secret {
			if ok {
				return value, nil
			}
			continue
		}
		path, inFile := level(s.FileKey(), s.FileEnv())
		switch {
		case ok && inFile:
			return value, fmt.Errorf("is given twice, also by %s", path.origin.Name)
		case ok:
			return value, nil
		case inFile:
			return fromSecretFile(path)
		}
	}
	text := s.Default
	if s.InProduction != "" && c.Environment == Production {
		text = s.InProduction
	}
	if s.IsList() {
		return textValue{strings.Split(text, ","), Origin{Source: Default}}, nil
	}
	return textValue{[]string{text}, Origin{Source: Default}}, nil
}

// lookupEnv reads a variable. An empty variable counts as unset, because Compose files
// pass unset variables as empty text.
func lookupEnv(s Setting, env string, lookup func(string) (string, bool)) (textValue, bool) {
	if lookup == nil {
		return textValue{}, false
	}
	text, ok := lookup(env)
	if (!ok || text == "") && env == s.Env && s.EnvAlso != "" {
		env = s.EnvAlso
		text, ok = lookup(env)
	}
	if !ok || text == "" {
		return textValue{}, false
	}
	value := textValue{[]string{text}, Origin{Environment, env}}
	if s.IsList() {
		value.texts = strings.Split(text, ",")
	}
	return value, true
}

// fromSecretFile replaces the path of a secret's file by the content of the file. It
// removes the final newline, which editors add.
func fromSecretFile(path textValue) (textValue, error) {
	if len(path.texts) != 1 || path.texts[0] == "" {
		return path, errors.New("must name one file")
	}
	content, err := os.ReadFile(path.texts[0])
	if err != nil {
		return path, err
	}
	text := strings.TrimRight(string(content), "\r\n")
	if text == "" {
		return path, errors.New("the file is empty")
	}
	return textValue{[]string{text}, path.origin}, nil
}

// readFile reads a flat YAML mapping of setting keys to values. An unknown key is an
// error with its line number, because a misspelled limit would otherwise have no
// effect.
func readFile(path string) (map[string]textValue, error) {
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

func parseFile(name string, content []byte) (map[string]textValue, error) {
	var document, another yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	err := decoder.Decode(&document)
	if errors.Is(err, io.EOF) { // a file without content, or with comments only
		return nil, nil
	}
	if err == nil {
		err = decoder.Decode(&another)
	}
	switch {
	case err == nil:
		return nil, fmt.Errorf("line %d: the file must contain one document", another.Line)
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
	values := make(map[string]textValue, len(root.Content)/2)
	var wrong []error
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, node := root.Content[i], root.Content[i+1]
		texts, err := nodeTexts(node)
		switch {
		case !known[key.Value]:
			err = errors.New("unknown setting" + didYouMean(key.Value, known))
		case values[key.Value].texts != nil:
			err = errors.New("is given twice")
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("line %d: %s: %w", key.Line, key.Value, err))
			continue
		}
		values[key.Value] = textValue{texts, Origin{File, fmt.Sprintf("%s:%d", name, key.Line)}}
	}
	return values, errors.Join(wrong...)
}

// nodeTexts returns the values of a node: one for a scalar, several for a sequence.
func nodeTexts(node *yaml.Node) ([]string, error) {
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

// didYouMean suggests the known key that differs only in underscores, hyphens, case or
// a plural s.
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
