package config

import (
	"net/url"
	"slices"
	"strings"
)

// Value is one setting as it stands, fit to be seen.
type Value struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
	Env    string `json:"env"`
	Usage  string `json:"usage"`
}

// Masked stands for a secret that is set.
const Masked = "********"

// Values lists all settings with their values; secrets are masked.
func (c *Config) Values() []Value {
	list := make([]Value, 0, len(settings))
	for _, s := range settings {
		text := format(s.at(c))
		if s.Secret {
			text = mask(text)
		}
		list = append(list, Value{s.Key, text, c.origins[s.Key].String(), s.Env, s.Usage})
	}
	return list
}

// mask hides a secret. Of a database URL only the password is one: the rest is
// what somebody who looks for a mistake needs to see.
func mask(text string) string {
	if text == "" {
		return ""
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || !strings.HasPrefix(u.Scheme, "postgres") {
		return Masked
	}
	if _, has := u.User.Password(); has {
		u.User = url.UserPassword(u.User.Username(), "x")
	}
	query := u.Query()
	for key := range query {
		if strings.Contains(strings.ToLower(key), "pass") {
			query.Set(key, "x")
		}
	}
	u.RawQuery = query.Encode()
	return u.String()
}

// otherVariables are the HALE_ variables that belong to client commands and tests.
var otherVariables = []string{
	"HALE_URL", "HALE_API_KEY", "HALE_CONFIG",
	"HALE_SHARED_DATA", "HALE_TEST_POSTGRES", "HALE_POSTGRES_BIN", "HALE_BINARY",
}

// UnknownVariables finds HALE_ variables in an environment (os.Environ) that
// nothing reads: most are misspelt.
func UnknownVariables(environ []string) []string {
	known := slices.Clone(otherVariables)
	for _, s := range settings {
		known = append(known, s.Env)
		if s.Secret {
			known = append(known, s.FileEnv())
		}
	}
	var unknown []string
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, "HALE_") && !slices.Contains(known, name) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	return unknown
}
