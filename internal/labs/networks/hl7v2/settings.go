package hl7v2

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"hale/internal/labs/hl7"
)

// Slug names this network.
const Slug = "hl7v2"

// Settings say where to listen and which labs there are.
type Settings struct {
	// Listen is the host:port for results; empty means that none are taken.
	Listen string `yaml:"listen"`
	// TLS is the listener's: certificate and key; with an authority, a lab must
	// show a certificate of its own.
	TLS *TLS `yaml:"tls"`
	// MaxMessage bounds the bytes of an arriving message; 32 MiB unless set.
	MaxMessage int `yaml:"max_message"`
	// MaxConnections bounds how many labs are connected at once; 256 unless set.
	MaxConnections int `yaml:"max_connections"`
	// AcceptUnknown takes messages of senders that are no lab of ours; their
	// results wait for review. Otherwise they are rejected.
	AcceptUnknown bool `yaml:"accept_unknown"`
	// Labs are the connections, by the slug of the lab.
	Labs map[string]Lab `yaml:"labs"`
}

// Lab is the connection to one laboratory.
type Lab struct {
	// Address is the host:port that takes orders; empty for a lab that only
	// sends results.
	Address string `yaml:"address"`
	TLS     *TLS   `yaml:"tls"`
	// Sandbox marks a lab's test system: it gets sandbox orders and no others.
	Sandbox bool `yaml:"sandbox"`

	// Application and Facility are what the lab calls us. An empty facility
	// stands for the customer number of each order's account.
	Application string `yaml:"application"`
	Facility    string `yaml:"facility"`
	// LabApplication and LabFacility are what the lab calls itself; they tell
	// whose message arrived.
	LabApplication string `yaml:"lab_application"`
	LabFacility    string `yaml:"lab_facility"`

	// Order is OML (default) or ORM.
	Order string `yaml:"order"`
	// Version goes out as MSH-12: 2.5.1 unless set.
	Version string `yaml:"version"`
	// Charset goes out as MSH-18, by its name there: UNICODE UTF-8 unless set.
	Charset string `yaml:"charset"`
	// CodeSystem names the lab's own codes in OBR-4: L unless set.
	CodeSystem string `yaml:"code_system"`
	// Zone is the IANA zone of times that come without an offset: UTC unless set.
	Zone string `yaml:"zone"`
	// Timeout is how long the lab may take to answer: 30 seconds unless set.
	Timeout time.Duration `yaml:"timeout"`
}

// TLS names files in PEM.
type TLS struct {
	Certificate string `yaml:"certificate"`
	Key         string `yaml:"key"`
	// Authority signs the peer's certificate: for an address, instead of the
	// system's authorities; for the listener, to ask labs for certificates.
	Authority string `yaml:"authority"`
	// ServerName is expected in the lab's certificate; the host unless set.
	ServerName string `yaml:"server_name"`
}

// ParseSettings reads the section networks.hl7v2 of a YAML or JSON document.
// A document without it is no error and has no labs; a word that is no setting
// is one. All that is wrong is reported at once.
func ParseSettings(document []byte) (Settings, error) {
	var sections struct {
		Networks map[string]yaml.Node `yaml:"networks"`
	}
	if err := yaml.Unmarshal(document, &sections); err != nil {
		return Settings{}, unreadable("networks", err)
	}
	section, ok := sections.Networks[Slug]
	if !ok {
		return Settings{}, nil
	}
	text, err := yaml.Marshal(&section)
	if err != nil {
		return Settings{}, fmt.Errorf("networks.%s: %w", Slug, err)
	}
	var s Settings
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&s); err != nil {
		return Settings{}, unreadable("networks."+Slug, err)
	}
	return s, s.Check()
}

// unreadable says what the YAML of a section is not, in lines that all say
// something: they may quote the text, whose own may be empty.
func unreadable(section string, err error) error {
	lines := strings.Split(strings.TrimPrefix(err.Error(), "yaml: "), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "" })
	return errors.New(section + ": " + strings.Join(lines, "\n"))
}

// Check reports everything that is wrong with the settings, and fills in no
// defaults.
func (s Settings) Check() error {
	var wrong []error
	fail := func(at, problem string) { wrong = append(wrong, errors.New("networks."+Slug+"."+at+": "+problem)) }
	checkAddress := func(at, address string) {
		if _, port, err := net.SplitHostPort(address); address != "" && (err != nil || port == "") {
			fail(at, "must be host:port")
		}
	}
	checkAddress("listen", s.Listen)
	if s.MaxMessage < 0 || s.MaxConnections < 0 {
		fail("max_message and max_connections", "must not be negative")
	}
	if s.TLS != nil && (s.TLS.Certificate == "" || s.TLS.Key == "") {
		fail("tls", "needs a certificate and a key")
	}
	senders := map[string]string{}
	for _, slug := range slices.Sorted(maps.Keys(s.Labs)) {
		lab, at := s.Labs[slug], "labs."+slug+"."
		checkAddress(at+"address", lab.Address)
		if lab.Application == "" {
			fail(at+"application", "is what the lab calls us, and is needed")
		}
		if lab.LabApplication == "" && lab.LabFacility == "" {
			fail(at+"lab_application", "or lab_facility is needed to tell whose message arrived")
		}
		sender := strings.ToLower(lab.LabApplication + "|" + lab.LabFacility)
		if other, taken := senders[sender]; taken {
			fail(at+"lab_application", "and lab_facility are those of "+other+" too")
		}
		senders[sender] = slug
		if lab.Order != "" && lab.Order != "OML" && lab.Order != "ORM" {
			fail(at+"order", "must be OML or ORM")
		}
		if !slices.Contains(versions, lab.version()) {
			fail(at+"version", "must be one of "+strings.Join(versions, ", "))
		} else if lab.order() == "OML" && lab.version() < "2.5" {
			fail(at+"order", "OML needs version 2.5 or later")
		}
		if _, known := hl7.CharsetNamed(lab.Charset); !known {
			fail(at+"charset", "is not supported")
		}
		if _, err := time.LoadLocation(lab.Zone); err != nil {
			fail(at+"zone", "must be an IANA time zone")
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

var versions = []string{"2.2", "2.3", "2.3.1", "2.4", "2.5", "2.5.1", "2.6", "2.7", "2.7.1", "2.8"}

func (l Lab) order() string      { return cmp.Or(l.Order, "OML") }
func (l Lab) version() string    { return cmp.Or(l.Version, "2.5.1") }
func (l Lab) codeSystem() string { return cmp.Or(l.CodeSystem, "L") }

// zone is where the lab's clocks hang. Check has seen that it exists.
func (l Lab) zone() *time.Location {
	zone, err := time.LoadLocation(l.Zone)
	if err != nil {
		return time.UTC
	}
	return zone
}

// charset is the character set of what we send. Check has seen that it exists.
func (l Lab) charset() hl7.Charset {
	charset, _ := hl7.CharsetNamed(l.Charset)
	return charset
}

// answersTo reports whether a sender is this lab. A setting that is empty
// matches anybody; a name may be the namespace or the universal id.
func (l Lab) answersTo(h hl7.Header) bool {
	return isNamed(h.SendingApplication, l.LabApplication) && isNamed(h.SendingFacility, l.LabFacility)
}

func isNamed(v hl7.Value, name string) bool {
	return name == "" || strings.EqualFold(v.Get(1), name) || strings.EqualFold(v.Get(2), name)
}
