package webhooks_test

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"

	"hale/internal/platform/webhooks"
)

// closedAddresses lists IPv4 addresses that no webhook may reach. It has the first,
// the last and an inner address of every block that is not on the public internet.
var closedAddresses = []string{
	"0.0.0.0", "0.1.2.3", "0.255.255.255",
	"10.0.0.0", "10.1.2.3", "10.255.255.255",
	"100.64.0.0", "100.100.100.200", "100.127.255.255",
	"127.0.0.1", "127.1.2.3", "127.255.255.255",
	"169.254.0.0", "169.254.169.254", "169.254.255.255",
	"172.16.0.0", "172.20.1.1", "172.31.255.255",
	"192.0.0.0", "192.0.0.8", "192.0.0.255",
	"192.0.2.0", "192.0.2.1", "192.0.2.255",
	"192.88.99.0", "192.88.99.1", "192.88.99.255",
	"192.168.0.0", "192.168.1.1", "192.168.255.255",
	"198.18.0.0", "198.18.0.1", "198.19.255.255",
	"198.51.100.0", "198.51.100.1", "198.51.100.255",
	"203.0.113.0", "203.0.113.1", "203.0.113.255",
	"224.0.0.0", "224.0.0.1", "239.255.255.255",
	"240.0.0.0", "250.1.2.3", "255.255.255.255",
}

// publicAddresses lists their neighbors outside of the blocks.
var publicAddresses = []string{
	"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
	"169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255", "192.169.0.0",
	"198.17.255.255", "198.20.0.0", "223.255.255.255",
}

// spellings returns the forms in which an IPv4 address can be dialed.
func spellings(v4 string) map[string]string {
	b := netip.MustParseAddr(v4).As4()
	return map[string]string{
		"tcp4 plain":  v4 + ":443",
		"tcp6 mapped": fmt.Sprintf("[::ffff:%s]:443", v4),
		"tcp6 NAT64":  fmt.Sprintf("[64:ff9b::%02x%02x:%02x%02x]:443", b[0], b[1], b[2], b[3]),
		"tcp6 6to4":   fmt.Sprintf("[2002:%02x%02x:%02x%02x::1]:443", b[0], b[1], b[2], b[3]),
	}
}

func TestGuardIPv4(t *testing.T) {
	for _, addr := range closedAddresses {
		for how, address := range spellings(addr) {
			if err := (webhooks.Guard{}).Control(how[:4], address, nil); !errors.Is(err, webhooks.ErrForbiddenAddress) {
				t.Errorf("%s as %s (%s) is open: %v", addr, how, address, err)
			}
			if err := (webhooks.Guard{AllowPrivate: true}).Control(how[:4], address, nil); err != nil {
				t.Errorf("%s as %s is closedAddresses although private addresses are allowed", addr, how)
			}
		}
	}
	for _, addr := range publicAddresses {
		for how, address := range spellings(addr) {
			if err := (webhooks.Guard{}).Control(how[:4], address, nil); err != nil {
				t.Errorf("%s as %s (%s) is closedAddresses: %v", addr, how, address, err)
			}
		}
	}
}

func TestGuardIPv6(t *testing.T) {
	for _, addr := range []string{
		"::", "::1", "::2", "::127.0.0.1", "::8.8.8.8", "::ffff:0:8.8.8.8", "64:ff9b:1::1", "100::1", "2001::1", "2001:10::1",
		"2001:db8::1", "3fff::1", "5f00::1", "fc00::1", "fd12:3456::1", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "4000::1", "e000::1",
	} {
		if (webhooks.Guard{}).Check(netip.MustParseAddr(addr)) == nil {
			t.Errorf("%s is open", addr)
		}
	}
	for _, addr := range []string{"2606:4700:4700::1111", "2a00:1450:4001:81b::200e", "2001:4860:4860::8888", "3ffe::1"} {
		if err := (webhooks.Guard{}).Check(netip.MustParseAddr(addr)); err != nil {
			t.Errorf("%s is closedAddresses: %v", addr, err)
		}
	}
}

func TestGuardRefusesUnreadableAddresses(t *testing.T) {
	for _, c := range [][2]string{{"unix", "/run/x.sock"}, {"udp4", "8.8.8.8:53"}, {"tcp4", "example.com:443"}, {"tcp4", "8.8.8.8"}, {"tcp6", ""}} {
		if (webhooks.Guard{}).Control(c[0], c[1], nil) == nil {
			t.Errorf("%s %q is open", c[0], c[1])
		}
	}
}
