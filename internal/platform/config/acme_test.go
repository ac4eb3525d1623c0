package config

import (
	"strings"
	"testing"
)

// The HSTS header depends on the address of the API. A certificate with an address without
// TLS is refused.
func TestACertificateNeedsASecureAddress(t *testing.T) {
	for base, refused := range map[string]bool{"": false, "https://health.example": false, "http://health.example": true} {
		flags := map[string][]string{"tls-cert": {"c.pem"}, "tls-key": {"k.pem"}}
		if base != "" {
			flags["base-url"] = []string{base}
		}
		if _, err := Load(Input{Flags: flags, LookupEnv: environ()}); (err != nil) != refused || err != nil && !strings.Contains(err.Error(), "https://") {
			t.Errorf("%q: %v", base, err)
		}
	}
}

// A domain that no authority can certify is refused at the start, and not an hour later.
func TestDomainsAreChecked(t *testing.T) {
	for _, test := range []struct {
		domains, other []string
		want           string // in the error; empty for none
	}{
		{domains: []string{"api.health.example", "portal.health.example"}},
		{domains: []string{"xn--mnchen-3ya.example"}},
		{domains: []string{"*.health.example"}, want: "asterisk"},
		{domains: []string{"Health.example"}, want: "lower case"},
		{domains: []string{"münchen.example"}, want: "xn--"},
		{domains: []string{"localhost"}, want: "domain names"},
		{domains: []string{"10.0.0.7"}, want: "domain names"},
		{domains: []string{"https://health.example"}, want: "domain names"},
		{domains: []string{"health.example:443"}, want: "domain names"},
		{domains: []string{strings.Repeat("a", 64) + ".example"}, want: "domain names"},
		{domains: []string{"health.example"}, other: []string{"tls-cert", "c.pem", "tls-key", "k.pem"}, want: "together with tls-cert"},
		{domains: []string{"health.example"}, other: []string{"base-url", "http://health.example"}, want: "https://"},
	} {
		flags := map[string][]string{"acme-domains": test.domains}
		for i := 0; i+1 < len(test.other); i += 2 {
			flags[test.other[i]] = []string{test.other[i+1]}
		}
		c, err := Load(Input{Flags: flags, LookupEnv: environ()})
		switch {
		case test.want == "" && err != nil, test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%v %v: %v", test.domains, test.other, err)
		case test.want == "" && c.URL() != "https://"+test.domains[0]:
			t.Errorf("%v: the URL is %s", test.domains, c.URL())
		}
	}
}
