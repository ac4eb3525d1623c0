package hl7v2

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"hale/internal/labs/hl7"
	"hale/internal/labs/networks/files"
	"hale/internal/labs/networks/settingsfile"
)

// Slug names the network of real orders, TestSlug that of labs' test systems.
const (
	Slug     = "hl7v2"
	TestSlug = "hl7v2test"
)

// Settings hold the listener and the labs.
type Settings struct {
	// Listen is the host:port for results; empty receives none.
	Listen string `yaml:"listen"`
	// TLS is the listener's: certificate and key; with an authority, a lab
	// must present a certificate of its own.
	TLS *TLS `yaml:"tls"`
	// MaxMessage bounds the bytes of a message; the default is 32 MiB.
	MaxMessage int `yaml:"max_message"`
	// MaxConnections bounds the connected labs; the default is 256.
	MaxConnections int `yaml:"max_connections"`
	// MaxPerAddress bounds the connections of one address; the default is 32.
	MaxPerAddress int `yaml:"max_connections_per_address"`
	// AcceptUnknown accepts messages of senders that are no lab of the
	// settings; their results wait for review. Otherwise they are rejected.
	AcceptUnknown bool `yaml:"accept_unknown"`
	// Labs are the connections, by the slug of the lab, or by any name with the
	// slug in Lab.Slug.
	Labs map[string]Lab `yaml:"labs"`
}

// Lab is the connection to one laboratory.
type Lab struct {
	// Slug is the slug of the lab in the catalogue; empty means the key of the
	// connection. A lab may have two connections: one is for production, one for
	// its test system.
	Slug string `yaml:"lab"`
	// Address is the host:port for orders; empty for a lab that receives orders as
	// files, or only sends results.
	Address string `yaml:"address"`
	TLS     *TLS   `yaml:"tls"`
	// Files is a folder through which files are exchanged. Orders go there unless
	// there is an Address.
	Files *files.Settings `yaml:"files"`
	// Sandbox marks a lab's test system: it gets the orders of sandbox teams, and
	// no other orders.
	Sandbox bool `yaml:"sandbox"`
	// Peer restricts who may send messages in the lab's name; nil restricts
	// nothing.
	Peer *Peer `yaml:"peer"`

	// Application and Facility are our names at the lab. An empty facility
	// means the customer number of each order's account.
	Application string `yaml:"application"`
	Facility    string `yaml:"facility"`
	// LabApplication and LabFacility are the lab's own names; they identify
	// the sender of a message.
	LabApplication string `yaml:"lab_application"`
	LabFacility    string `yaml:"lab_facility"`

	// Order is OML (default) or ORM.
	Order string `yaml:"order"`
	// Version is MSH-12; the default is 2.5.1.
	Version string `yaml:"version"`
	// Charset is MSH-18, by its name there; the default is UNICODE UTF-8.
	Charset string `yaml:"charset"`
	// CodeSystem names the lab's own codes in OBR-4; the default is L.
	CodeSystem string `yaml:"code_system"`
	// Zone is the IANA zone of times without an offset; the default is UTC.
	Zone string `yaml:"zone"`
	// Identity is patient (default) or order_number. A lab that never sends
	// names identifies the patient by our order number alone.
	Identity string `yaml:"identity"`
	// FinalResults is test (default) or order: what a final status is about. See
	// networks.ResultSet.TestsOnly.
	FinalResults string `yaml:"final_results"`
	// Timeout bounds the time to an answer; the default is 30 seconds.
	Timeout time.Duration `yaml:"timeout"`
}

// TLS names files in PEM.
type TLS struct {
	Certificate string `yaml:"certificate"`
	Key         string `yaml:"key"`
	// Authority signs the peer's certificate: for an address, instead of the
	// system's authorities; for the listener, to require certificates of labs.
	Authority string `yaml:"authority"`
	// ServerName is expected in the lab's certificate; the default is the
	// host.
	ServerName string `yaml:"server_name"`
}

// Peer describes the other end of a lab's connections. Every kind that is set
// must match: a certificate, by name or fingerprint, and an address.
type Peer struct {
	// Names are DNS names, e-mail addresses, URIs or common names of
	// certificates.
	Names []string `yaml:"names"`
	// Fingerprints are SHA-256 digests of certificates, in hexadecimal, with or
	// without colons.
	Fingerprints []string `yaml:"fingerprints"`
	// Addresses are IP addresses or networks in CIDR notation.
	Addresses []string `yaml:"addresses"`
}

// ParseSettings reads the section networks.hl7v2 of a YAML or JSON document. A
// document without it is valid and has no labs; an unknown key is an error.
// All errors are reported at once.
func ParseSettings(document []byte) (Settings, error) {
	var s Settings
	wrong, err := settingsfile.Decode(document, Slug, &s)
	if err != nil {
		return Settings{}, err
	}
	if err := s.Check(); err != nil {
		wrong = append(wrong, err)
	}
	return s, errors.Join(wrong...)
}

// Check reports all errors in the settings. It sets no defaults.
func (s Settings) Check() error {
	var wrong []error
	fail := func(at, problem string) { wrong = append(wrong, errors.New("networks."+Slug+"."+at+": "+problem)) }
	failFiles := func(at string, problem error) {
		wrong = append(wrong, fmt.Errorf("networks.%s.%sfiles.%w", Slug, at, problem))
	}
	checkAddress := func(at, address string) {
		if _, port, err := net.SplitHostPort(address); address != "" && (err != nil || port == "") {
			fail(at, "must be host:port")
		}
	}
	checkAddress("listen", s.Listen)
	if s.MaxMessage < 0 || s.MaxConnections < 0 || s.MaxPerAddress < 0 {
		fail("max_message, max_connections and max_connections_per_address", "must not be negative")
	}
	if s.TLS != nil && (s.TLS.Certificate == "" || s.TLS.Key == "") {
		fail("tls", "needs a certificate and a key")
	}
	senders, connections := map[string]string{}, map[string]string{}
	for _, slug := range slices.Sorted(maps.Keys(s.Labs)) {
		lab, at := s.Labs[slug], "labs."+slug+"."
		checkAddress(at+"address", lab.Address)
		if lab.Application == "" {
			fail(at+"application", "is needed: it is our name at the lab")
		}
		if lab.LabApplication == "" && lab.LabFacility == "" {
			fail(at+"lab_application", "or lab_facility is needed to identify the sender of a message")
		}
		sender := fmt.Sprint(strings.ToLower(lab.LabApplication+"|"+lab.LabFacility), lab.Sandbox)
		if other, taken := senders[sender]; taken {
			fail(at+"lab_application", "and lab_facility are also those of "+other)
		}
		senders[sender] = slug
		connection := fmt.Sprint(lab.slug(slug), lab.Sandbox)
		if other, taken := connections[connection]; taken {
			fail(at+"lab", "and sandbox are also those of "+other)
		}
		connections[connection] = slug
		for _, problem := range lab.Files.Check() {
			failFiles(at, problem)
		}
		for _, problem := range lab.Peer.check(s.TLS) {
			fail(at+"peer", problem)
		}
		if lab.Order != "" && lab.Order != "OML" && lab.Order != "ORM" {
			fail(at+"order", "must be OML or ORM")
		}
		if !slices.Contains(supportedVersions, lab.version()) {
			fail(at+"version", "must be one of "+strings.Join(supportedVersions, ", "))
		} else if lab.order() == "OML" && lab.version() < "2.5" {
			fail(at+"order", "OML needs version 2.5 or later")
		}
		if _, known := hl7.CharsetNamed(lab.Charset); !known {
			fail(at+"charset", "is not supported")
		}
		if _, err := time.LoadLocation(lab.Zone); err != nil {
			fail(at+"zone", "must be an IANA time zone")
		}
		if !slices.Contains([]string{"", identityByPatient, identityByNumber}, lab.Identity) {
			fail(at+"identity", "must be patient or order_number")
		}
		if !slices.Contains([]string{"", finalTest, finalOrder}, lab.FinalResults) {
			fail(at+"final_results", "must be test or order")
		}
		if lab.Timeout < 0 {
			fail(at+"timeout", "must not be negative")
		}
		if lab.TLS != nil && (lab.TLS.Certificate == "") != (lab.TLS.Key == "") {
			fail(at+"tls", "needs both of certificate and key, or neither")
		}
	}
	return errors.Join(wrong...)
}

// The values of Lab.Identity.
const (
	identityByPatient = "patient"
	identityByNumber  = "order_number"
)

// The values of Lab.FinalResults.
const (
	finalTest  = "test"
	finalOrder = "order"
)

var supportedVersions = []string{"2.2", "2.3", "2.3.1", "2.4", "2.5", "2.5.1", "2.6", "2.7", "2.7.1", "2.8"}

// slug returns the slug of the lab, given the key of the connection.
func (l Lab) slug(key string) string { return cmp.Or(l.Slug, key) }

func (l Lab) order() string      { return cmp.Or(l.Order, "OML") }
func (l Lab) version() string    { return cmp.Or(l.Version, "2.5.1") }
func (l Lab) codeSystem() string { return cmp.Or(l.CodeSystem, "L") }

// zone returns the zone of the lab's clocks. Check has seen that it exists.
func (l Lab) zone() *time.Location {
	zone, err := time.LoadLocation(l.Zone)
	if err != nil {
		return time.UTC
	}
	return zone
}

// charset returns the character set of our messages. Check has seen that it
// exists.
func (l Lab) charset() hl7.Charset {
	charset, _ := hl7.CharsetNamed(l.Charset)
	return charset
}

// answersTo reports whether a sender is this lab. An empty setting matches any
// name; a name may be the namespace or the universal id.
func (l Lab) answersTo(h hl7.Header) bool {
	return isNamed(h.SendingApplication, l.LabApplication) && isNamed(h.SendingFacility, l.LabFacility)
}

func isNamed(v hl7.Value, name string) bool {
	return name == "" || strings.EqualFold(v.Get(1), name) || strings.EqualFold(v.Get(2), name)
}
