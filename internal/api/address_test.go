package api

import (
	"net/netip"
	"testing"
)

func TestClientAddress(t *testing.T) {
	t.Parallel()
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for name, c := range map[string]struct {
		peer      string
		forwarded []string
		want      string
	}{
		"no proxy":                           {"203.0.113.7", []string{"198.51.100.1"}, "203.0.113.7"},
		"one proxy":                          {"10.0.0.1", []string{"198.51.100.1"}, "198.51.100.1"},
		"two proxies":                        {"10.0.0.1", []string{"198.51.100.1, 10.0.0.2"}, "198.51.100.1"},
		"two proxies, a header each":         {"10.0.0.1", []string{"198.51.100.1", "10.0.0.2"}, "198.51.100.1"},
		"the client forges an address":       {"10.0.0.1", []string{"192.0.2.66, 198.51.100.1"}, "198.51.100.1"},
		"the client forges a proxy":          {"10.0.0.1", []string{"10.9.9.9, 198.51.100.1"}, "198.51.100.1"},
		"a proxy that forwards nothing":      {"10.0.0.1", nil, "10.0.0.1"},
		"all are proxies":                    {"10.0.0.1", []string{"10.0.0.3"}, "10.0.0.3"},
		"no address":                         {"10.0.0.1", []string{"unknown"}, "10.0.0.1"},
		"no address behind a client":         {"10.0.0.1", []string{"unknown, 198.51.100.1"}, "198.51.100.1"},
		"with a port":                        {"10.0.0.1", []string{"198.51.100.1:4711"}, "198.51.100.1"},
		"IPv6":                               {"fd00::1", []string{"2001:db8::7"}, "2001:db8::7"},
		"IPv6 with a port":                   {"fd00::1", []string{"[2001:db8::7]:443"}, "2001:db8::7"},
		"IPv4 in IPv6":                       {"10.0.0.1", []string{"::ffff:198.51.100.1"}, "198.51.100.1"},
		"proxy as IPv4 in IPv6":              {"10.0.0.1", []string{"198.51.100.1, ::ffff:10.0.0.2"}, "198.51.100.1"},
		"a zone cannot widen the text":       {"fd00::1", []string{"fe80::1%eth0"}, "fe80::1"},
		"empty elements end the list":        {"10.0.0.1", []string{"198.51.100.1,,"}, "10.0.0.1"},
		"a header of spaces ends at a proxy": {"10.0.0.1", []string{"  "}, "10.0.0.1"},
	} {
		got := clientOf(netip.MustParseAddr(c.peer), c.forwarded, trusted)
		if got != netip.MustParseAddr(c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
