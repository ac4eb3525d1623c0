package webhooks

import (
	"encoding/base64"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// SecretPattern matches exactly the texts that ParseSecret accepts.
func TestSecretPattern(t *testing.T) {
	pattern := regexp.MustCompile(SecretPattern)
	check := func(t interface{ Fatalf(string, ...any) }, text string) {
		_, err := ParseSecret(text)
		if (err == nil) != pattern.MatchString(text) {
			t.Fatalf("%q: the pattern says %v, ParseSecret %v", text, pattern.MatchString(text), err)
		}
	}
	for n := range 70 {
		check(t, secretPrefix+base64.StdEncoding.EncodeToString(make([]byte, n)))
	}
	rapid.Check(t, func(rt *rapid.T) {
		check(rt, rapid.StringMatching(`(whsec_)?[A-Za-z0-9+/]{31,90}={0,3}`).Draw(rt, "secret"))
	})
}

// URLPattern matches every URL that CheckURL accepts.
func TestURLPattern(t *testing.T) {
	pattern := regexp.MustCompile(URLPattern)
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringMatching(`(http|https|HTTPS|ftp)://(a@|)[a-z]{1,3}\.example(:[0-9]{1,5}|)[/?#]{0,2}[a-z%?#/ ]{0,4}`).Draw(rt, "url")
		if _, err := (Rules{}).CheckURL(text); err == nil && !pattern.MatchString(text) {
			rt.Fatalf("%q is accepted, and the pattern does not match", text)
		}
	})
	for _, text := range []string{"https://a@b.example", "https://b.example/#x", "ftp://b.example", "https://b.example/a b", "https:///x"} {
		if pattern.MatchString(text) || !strings.Contains(text, ":") {
			t.Errorf("%q matches", text)
		}
	}
}
