package webhooks

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"

	"hale/internal/platform/fault"
)

const MaxURL = 2048

// Rules decide which URLs an endpoint may have.
type Rules struct {
	// Production allows https only.
	Production bool
	// AllowPrivate allows private addresses, plain http and every port, for
	// development and for receivers inside the same network.
	AllowPrivate bool
}

// URLPattern matches all URLs that CheckURL accepts. It cannot state the rules about the
// host and the port. It is for the OpenAPI document.
const URLPattern = `^[Hh][Tt][Tt][Pp][Ss]?://[^\x00-\x20/?#@\x7f]+(?:[/?][^\x00-\x20#\x7f]*)?#?$`

// CheckURL parses an endpoint's URL and returns the fault of one that is not
// allowed. It does not resolve the host name: Guard checks the address of each
// connection.
func (r Rules) CheckURL(text string) (*url.URL, error) {
	if len(text) > MaxURL {
		return nil, fault.New(fault.Invalid, "must not be longer than 2048 characters")
	}
	if strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return nil, fault.New(fault.Invalid, "must not contain spaces or control characters")
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Opaque != "" || u.Hostname() == "" {
		return nil, fault.New(fault.Invalid, "must be an absolute URL such as https://example.com/webhooks")
	}
	if err := r.checkScheme(u); err != nil {
		return nil, err
	}
	if err := checkPort(u); err != nil {
		return nil, err
	}
	if u.User != nil {
		return nil, fault.New(fault.Invalid, "must not carry a user name or password; use a custom header")
	}
	if u.Fragment != "" {
		return nil, fault.New(fault.Invalid, "must not carry a fragment")
	}
	return u, r.checkHost(u)
}

func (r Rules) checkScheme(u *url.URL) error {
	switch {
	case u.Scheme == "https", u.Scheme == "http" && (r.AllowPrivate || !r.Production):
		return nil
	case u.Scheme == "http":
		return fault.New(fault.Invalid, "must use https in production")
	}
	if r.AllowPrivate || !r.Production {
		return fault.New(fault.Invalid, "must use https or http")
	}
	return fault.New(fault.Invalid, "must use https")
}

// checkPort refuses a port that no server has.
func checkPort(u *url.URL) error {
	if u.Port() == "" {
		return nil
	}
	if n, err := strconv.ParseUint(u.Port(), 10, 16); err != nil || n == 0 {
		return fault.Newf(fault.Invalid, "must have a port from 1 to 65535, not %s", u.Port())
	}
	return nil
}

func (r Rules) checkHost(u *url.URL) error {
	if r.AllowPrivate {
		return nil
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return errPrivate
	}
	if addr, err := netip.ParseAddr(host); err != nil {
		if err := checkName(host); err != nil {
			return err
		}
	} else if (Guard{}).Check(addr) != nil {
		return errPrivate
	}
	if port := u.Port(); r.Production && port != "" && port != "443" && port != "8443" {
		return fault.New(fault.Invalid, "must use port 443 or 8443")
	}
	return nil
}

// errPrivate names the two ways to a receiver on a private address.
var errPrivate = fault.New(fault.Invalid, "must not lead to this machine or a private network; "+
	"use hale listen for a receiver there, or start hale serve with --webhook-allow-private")

// checkName refuses the spellings of IPv4 addresses that some resolvers accept and
// netip does not, such as 0x7f.1, 2130706433 or 127.1. No top-level domain begins
// with a digit.
func checkName(host string) error {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last == "" || last[0] >= '0' && last[0] <= '9' {
		return fault.New(fault.Invalid, "must name a host, or an address in its usual form")
	}
	if net.ParseIP(host) != nil {
		return fault.New(fault.Invalid, "must name a host, or an address in its usual form")
	}
	return nil
}

// ErrForbiddenAddress means that a webhook URL led to an address that is not on the
// public internet. The text does not repeat the address: it could reveal the network
// behind this server.
var ErrForbiddenAddress = errors.New("the address is not on the public internet")

// Guard decides to which addresses webhooks may be sent. It checks the address that
// is dialed, after DNS, so that a name cannot change its answer between the check and
// the connection.
type Guard struct {
	// AllowPrivate allows every address, for development and for receivers inside the
	// same network.
	AllowPrivate bool
}

// specialPrefixes lists the addresses that are not on the public internet, after the
// IANA special purpose registries for IPv4 and IPv6. An IPv4 address inside an IPv6
// one is unwrapped first; see embeddedIPv4.
var specialPrefixes = parsePrefixes(
	"0.0.0.0/8",       // this network
	"10.0.0.0/8",      // private
	"100.64.0.0/10",   // carrier-grade NAT
	"127.0.0.0/8",     // loopback
	"169.254.0.0/16",  // link-local, with the metadata services of clouds
	"172.16.0.0/12",   // private
	"192.0.0.0/24",    // protocol assignments
	"192.0.2.0/24",    // documentation
	"192.88.99.0/24",  // 6to4 relays, withdrawn
	"192.168.0.0/16",  // private
	"198.18.0.0/15",   // benchmarks
	"198.51.100.0/24", // documentation
	"203.0.113.0/24",  // documentation
	"224.0.0.0/4",     // multicast
	"240.0.0.0/4",     // reserved, with broadcast

	// Of IPv6 only 2000::/3 is public (see globalUnicast). Loopback, unique local,
	// link-local and multicast addresses lie outside.
	"2001::/23",     // protocol assignments, with Teredo and ORCHID
	"2001:db8::/32", // documentation
	"3fff::/20",     // documentation
)

// embeddings lists the IPv6 prefixes in use whose addresses contain an IPv4 address,
// at the given byte. Other forms are withdrawn; they lie outside global unicast and
// are refused.
var embeddings = []struct {
	prefix netip.Prefix
	at     int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12}, // NAT64
	{netip.MustParsePrefix("2002::/16"), 2},     // 6to4
}

// globalUnicast contains all public IPv6 addresses.
var globalUnicast = netip.MustParsePrefix("2000::/3")

// Check refuses an address that is not on the public internet.
func (g Guard) Check(addr netip.Addr) error {
	if g.AllowPrivate {
		return nil
	}
	if !addr.IsValid() || addr.Zone() != "" {
		return ErrForbiddenAddress
	}
	if inner, ok := embeddedIPv4(addr); ok {
		addr = inner
	} else if addr.Is6() && !globalUnicast.Contains(addr) {
		return ErrForbiddenAddress
	}
	for _, p := range specialPrefixes {
		if p.Contains(addr) {
			return ErrForbiddenAddress
		}
	}
	return nil
}

// Control checks the address of every connection of a net.Dialer before it is made.
func (g Guard) Control(network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return fmt.Errorf("webhooks: network %s: %w", network, ErrForbiddenAddress)
	}
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("webhooks: dialing: %w", ErrForbiddenAddress)
	}
	return g.Check(target.Addr())
}

// embeddedIPv4 returns the IPv4 address inside an IPv6 one, if there is one.
func embeddedIPv4(addr netip.Addr) (netip.Addr, bool) {
	if addr.Is4In6() {
		return addr.Unmap(), true
	}
	for _, c := range embeddings {
		if c.prefix.Contains(addr) {
			bytes := addr.As16()
			return netip.AddrFrom4([4]byte(bytes[c.at : c.at+4])), true
		}
	}
	return addr, false
}

func parsePrefixes(texts ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		out[i] = netip.MustParsePrefix(text)
	}
	return out
}
