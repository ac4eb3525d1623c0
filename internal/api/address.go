package api

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// clientAddress replaces the remote address of a request by the address of its client if
// a trusted proxy forwarded it. Limits, logs and the audit log then see the client.
//
// The client is the last address of X-Forwarded-For that is no trusted proxy. Addresses
// before it are what the client itself has sent.
func (a *API) clientAddress(next http.Handler) http.Handler {
	if len(a.TrustedProxies) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if peer, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
			client := clientOf(peer.Addr().Unmap(), r.Header.Values("X-Forwarded-For"), a.TrustedProxies)
			if client != peer.Addr().Unmap() {
				r.RemoteAddr = net.JoinHostPort(client.String(), "0")
			}
		}
		next.ServeHTTP(w, r)
	})
}

// clientOf returns the address of the client. A list that contains no address ends at
// the last proxy that could be read.
func clientOf(peer netip.Addr, forwarded []string, trusted []netip.Prefix) netip.Addr {
	hops := strings.Split(strings.Join(forwarded, ","), ",")
	for at := peer; ; {
		if !slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(at) }) || len(hops) == 0 {
			return at
		}
		next, err := parseHop(hops[len(hops)-1])
		if err != nil {
			return at
		}
		at, hops = next, hops[:len(hops)-1]
	}
}

// parseHop reads an address with or without a port.
func parseHop(text string) (netip.Addr, error) {
	text = strings.TrimSpace(text)
	if withPort, err := netip.ParseAddrPort(text); err == nil {
		return withPort.Addr().Unmap(), nil
	}
	addr, err := netip.ParseAddr(strings.Trim(text, "[]"))
	return addr.Unmap().WithZone(""), err
}

// AddressOf returns the address that limits count for a remote address. For IPv4 it is
// the address itself. For IPv6 it is the /64 network, because one machine may have 2^64
// addresses.
func AddressOf(remote string) string {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return remote
	}
	host := at.Addr().Unmap().WithZone("")
	if host.Is4() {
		return host.String()
	}
	return netip.PrefixFrom(host, 64).Masked().String()
}
