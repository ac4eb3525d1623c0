package webhooks

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

	"hale/internal/platform/fault"
)

const maxURLLen = 2048

// Rules say which URLs an endpoint may have.
type Rules struct {
	// Production allows https only.
	Production bool
	// AllowPrivate opens private addresses, plain http and every port. It is
	// for development and for receivers inside the same network.
	AllowPrivate bool
}

// CheckURL says what is wrong with an endpoint's URL, or nothing. A host name
// is not looked up here: the address that counts is the one being dialled, and
// Guard looks at that one, every time.
func (r Rules) CheckURL(text string) (*url.URL, error) {
	if len(text) > maxURLLen {
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
	return fault.New(fault.Invalid, "must use https")
}

func (r Rules) checkHost(u *url.URL) error {
	if r.AllowPrivate {
		return nil
	}
	switch port := u.Port(); {
	case port == "", port == "443", port == "8443", u.Scheme == "http" && port == "80":
	default:
		return fault.New(fault.Invalid, "must use port 443 or 8443")
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return fault.New(fault.Invalid, "must not lead to this machine or a private network")
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return checkName(host)
	}
	if (Guard{}).Check(addr) != nil {
		return fault.New(fault.Invalid, "must not lead to this machine or a private network")
	}
	return nil
}

// checkName refuses the spellings of IPv4 addresses that some resolvers accept
// and netip does not, such as 0x7f.1, 2130706433 or 127.1: no name under a real
// top-level domain ends in a number.
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
