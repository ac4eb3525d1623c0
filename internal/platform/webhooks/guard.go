package webhooks

import (
	"errors"
	"fmt"
	"net/netip"
	"syscall"
)

// ErrForbiddenAddress says that a webhook URL led to an address that is not on
// the public internet. The address is not repeated: it could tell a caller how
// the network behind this server looks.
var ErrForbiddenAddress = errors.New("the address is not on the public internet")

// Guard decides which addresses webhooks may be sent to. It looks at the
// address being dialled, after DNS, so that a name that changes its answer
// between a check and the connection gains nothing.
type Guard struct {
	// AllowPrivate opens every address, for development and for receivers
	// inside the same network.
	AllowPrivate bool
}

// refused lists what is not the public internet, after the IANA special
// purpose registries for IPv4 and IPv6. Forms that carry an IPv4 address
// inside an IPv6 one are unwrapped first; see carried.
var refused = prefixes(
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

	// Of IPv6 only 2000::/3 is public at all (see globalUnicast), which leaves
	// out loopback, unique local, link-local, multicast and the rest.
	"2001::/23",     // protocol assignments, with Teredo and ORCHID
	"2001:db8::/32", // documentation
	"3fff::/20",     // documentation
)

// carriers are the IPv6 prefixes in real use whose addresses carry an IPv4
// address, at the given byte. Other forms, withdrawn long ago, lie outside
// global unicast and are refused whole.
var carriers = []struct {
	prefix netip.Prefix
	at     int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12}, // NAT64
	{netip.MustParsePrefix("2002::/16"), 2},     // 6to4
}

// globalUnicast is the only part of IPv6 that is handed out for the public.
var globalUnicast = netip.MustParsePrefix("2000::/3")

// Check refuses an address that is not on the public internet.
func (g Guard) Check(addr netip.Addr) error {
	if g.AllowPrivate {
		return nil
	}
	if !addr.IsValid() || addr.Zone() != "" {
		return ErrForbiddenAddress
	}
	if inner, ok := carried(addr); ok {
		addr = inner
	} else if addr.Is6() && !globalUnicast.Contains(addr) {
		return ErrForbiddenAddress
	}
	for _, p := range refused {
		if p.Contains(addr) {
			return ErrForbiddenAddress
		}
	}
	return nil
}

// Control is the hook for net.Dialer: it sees the address of every connection
// about to be made.
func (g Guard) Control(network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return fmt.Errorf("webhooks: network %s: %w", network, ErrForbiddenAddress)
	}
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("webhooks: dialling: %w", ErrForbiddenAddress)
	}
	return g.Check(target.Addr())
}

// carried unwraps an IPv4 address from the IPv6 forms that carry one.
func carried(addr netip.Addr) (netip.Addr, bool) {
	if addr.Is4In6() {
		return addr.Unmap(), true
	}
	for _, c := range carriers {
		if c.prefix.Contains(addr) {
			bytes := addr.As16()
			return netip.AddrFrom4([4]byte(bytes[c.at : c.at+4])), true
		}
	}
	return addr, false
}

func prefixes(texts ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		out[i] = netip.MustParsePrefix(text)
	}
	return out
}
