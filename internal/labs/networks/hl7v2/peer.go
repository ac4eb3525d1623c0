package hl7v2

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"

	"hale/internal/labs/hl7/mllp"
)

// peer is Peer in a form that can be compared.
type peer struct {
	names        []string
	fingerprints [][sha256.Size]byte
	networks     []netip.Prefix
}

// check returns the faults of a Peer. Certificates are known only to a listener
// with an authority.
func (p *Peer) check(listener *TLS) (faults []string) {
	if p == nil {
		return nil
	}
	if len(p.Names)+len(p.Fingerprints)+len(p.Addresses) == 0 {
		faults = append(faults, "needs names, fingerprints or addresses")
	}
	if len(p.Names)+len(p.Fingerprints) > 0 && (listener == nil || listener.Authority == "") {
		faults = append(faults, "names and fingerprints need networks."+Slug+".tls with an authority")
	}
	if _, err := p.compile(); err != nil {
		faults = append(faults, err.Error())
	}
	return faults
}

func (p *Peer) compile() (*peer, error) {
	if p == nil {
		return nil, nil
	}
	compiled := &peer{names: p.Names}
	for _, text := range p.Fingerprints {
		digest, err := hex.DecodeString(strings.ReplaceAll(text, ":", ""))
		if err != nil || len(digest) != sha256.Size {
			return nil, errors.New("fingerprints must be SHA-256 digests in hexadecimal")
		}
		compiled.fingerprints = append(compiled.fingerprints, [sha256.Size]byte(digest))
	}
	for _, text := range p.Addresses {
		network, err := netip.ParsePrefix(text)
		if address, single := netip.ParseAddr(text); err != nil && single == nil {
			network, err = address.Prefix(address.BitLen())
		}
		if err != nil {
			return nil, errors.New("addresses must be IP addresses, or networks such as 192.0.2.0/24")
		}
		compiled.networks = append(compiled.networks, network.Masked())
	}
	return compiled, nil
}

// matches reports whether a connection comes from the peer.
func (p *peer) matches(from mllp.Peer) bool {
	if len(p.networks) > 0 {
		address := from.Address.Unmap().WithZone("")
		if !slices.ContainsFunc(p.networks, func(n netip.Prefix) bool { return n.Contains(address) }) {
			return false
		}
	}
	if len(p.names)+len(p.fingerprints) == 0 {
		return true
	}
	return from.Certificate != nil && (p.hasFingerprint(from.Certificate) || p.hasName(from.Certificate))
}

func (p *peer) hasFingerprint(c *x509.Certificate) bool {
	return slices.Contains(p.fingerprints, sha256.Sum256(c.Raw))
}

func (p *peer) hasName(c *x509.Certificate) bool {
	names := append(append([]string{c.Subject.CommonName}, c.DNSNames...), c.EmailAddresses...)
	for _, uri := range c.URIs {
		names = append(names, uri.String())
	}
	for _, name := range names {
		if name != "" && slices.ContainsFunc(p.names, func(wanted string) bool { return strings.EqualFold(wanted, name) }) {
			return true
		}
	}
	return false
}

// Warnings describes settings that work and weaken the protection against forged
// results or of orders.
func (n *Network) Warnings() []string {
	var all []string
	if n.settings.IsExposed() {
		all = append(all, "other machines may send results without TLS and certificates")
	}
	if key := n.unboundLab(); n.settings.Listen != "" && key != "" {
		all = append(all, "any peer may send results in the name of "+key+": set its peer")
	}
	for _, key := range n.settings.OrdersInClear() {
		all = append(all, "orders go to "+key+" on another machine without TLS")
	}
	return all
}

// unboundLab returns a lab without a peer when several labs share the listener;
// empty when there is none.
func (n *Network) unboundLab() string {
	if len(n.settings.Labs) < 2 {
		return ""
	}
	for _, key := range slices.Sorted(maps.Keys(n.settings.Labs)) {
		if lab := n.settings.Labs[key]; lab.Peer == nil && lab.Files == nil {
			return key
		}
	}
	return ""
}

// IsExposed reports whether the listener accepts messages from other machines
// without knowing them: it is outside loopback, and does not ask for
// certificates.
func (s Settings) IsExposed() bool {
	if s.Listen == "" || s.TLS != nil && s.TLS.Authority != "" {
		return false
	}
	return isElsewhere(s.Listen)
}

// OrdersInClear returns the labs on other machines that get orders without TLS. An
// order has the patient's name, birth date and insurance.
func (s Settings) OrdersInClear() []string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(s.Labs)) {
		if lab := s.Labs[key]; lab.Address != "" && lab.TLS == nil && isElsewhere(lab.Address) {
			all = append(all, key)
		}
	}
	return all
}

// isElsewhere reports whether host:port is outside loopback.
func isElsewhere(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil || host == "localhost" {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return err != nil || !ip.IsLoopback()
}
