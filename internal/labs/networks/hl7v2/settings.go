package hl7v2

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"hale/internal/labs/hl7"
)

// Slug names this network.
const Slug = "hl7v2"

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
	// AcceptUnknown accepts messages of senders that are no lab of the
	// settings; their results wait for review. Otherwise they are rejected.
	AcceptUnknown bool `yaml:"accept_unknown"`
	// Labs are the connections, by the slug of the lab.
	Labs map[string]Lab `yaml:"labs"`
}

// Lab is the connection to one laboratory.
type Lab struct {
	// Address is the host:port for orders; empty for a lab that only sends
	// results.
	Address string `yaml:"address"`
	TLS     *TLS   `yaml:"tls"`
	// Sandbox marks a lab's test system: it gets only sandbox orders.
	Sandbox bool `yaml:"sandbox"`

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

// ParseSettings reads the section networks.hl7v2 of a YAML or JSON document. A
// document without it is valid and has no labs; an unknown key is an error.
// All errors are reported at once.
func ParseSettings(document []byte) (Settings, error) {
	var sections struct {
		Networks map[string]yaml.Node `yaml:"networks"`
	}
	if err := yaml.Unmarshal(document, &sections); err != nil {
		return Settings{}, yamlError(err)
	}
	section, ok := sections.Networks[Slug]
	if !ok {
		return Settings{}, nil
	}
	wrong := unknownKeys(&section, reflect.TypeFor[Settings](), 0)
	var s Settings
	if err := section.Decode(&s); err != nil {
		wrong = append(wrong, yamlError(err))
	}
	if err := s.Check(); err != nil {
		wrong = append(wrong, err)
	}
	return s, errors.Join(wrong...)
}

// maxAliases bounds the depth of keys and aliases, which may refer to themselves.
const maxAliases = 16

// unknownKeys returns an error for each key that a type does not have.
func unknownKeys(n *yaml.Node, t reflect.Type, depth int) (wrong []error) {
	for n.Kind == yaml.AliasNode && n.Alias != nil && depth < maxAliases {
		n, depth = n.Alias, depth+1
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if n.Kind != yaml.MappingNode || depth >= maxAliases {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		inner, known := fieldType(t, key)
		if !known {
			wrong = append(wrong, fmt.Errorf("line %d: unknown key %s", key.Line, plainKey(key.Value)))
			continue
		}
		wrong = append(wrong, unknownKeys(value, inner, depth+1)...)
	}
	return wrong
}

// plainKey returns a key, quoted if it is not one visible word.
func plainKey(key string) string {
	if quoted := strconv.Quote(key); key == "" || quoted != `"`+key+`"` || strings.Contains(key, " ") {
		return quoted
	}
	return key
}

// fieldType returns the type of the value of a key.
func fieldType(t reflect.Type, key *yaml.Node) (inner reflect.Type, known bool) {
	switch {
	case key.Tag == "!!merge": // the keys of another mapping
		return t, true
	case t.Kind() == reflect.Map:
		return t.Elem(), true
	case t.Kind() != reflect.Struct:
		return t, true // Decode reports the wrong type
	}
	for i := range t.NumField() {
		if t.Field(i).Tag.Get("yaml") == key.Value {
			return t.Field(i).Type, true
		}
	}
	return nil, false
}

// yamlError describes a YAML error without the names of Go types, one line for each
// fault. The text of a syntax error may quote the document, which may have empty lines.
func yamlError(err error) error {
	var types *yaml.TypeError
	if !errors.As(err, &types) {
		return errors.New(strings.Join(strings.Fields(strings.TrimPrefix(err.Error(), "yaml: ")), " "))
	}
	var wrong []error
	for _, text := range types.Errors {
		if m := wrongType.FindStringSubmatch(text); m != nil {
			text = m[1] + ": must be " + wantedValue(m[2])
		}
		wrong = append(wrong, errors.New(strings.Join(strings.Fields(text), " ")))
	}
	return errors.Join(wrong...)
}

// wrongType matches the line and the Go type of a yaml.TypeError.
var wrongType = regexp.MustCompile(`(?s)^(line \d+): cannot unmarshal .* into ([^ ` + "`" + `]+)$`)

func wantedValue(goType string) string {
	switch goType {
	case "bool":
		return "true or false"
	case "int":
		return "a whole number"
	case "string":
		return "a text"
	case "time.Duration":
		return "a time span, such as 30s"
	}
	return "a mapping of keys to values"
}

// Check reports all errors in the settings. It sets no defaults.
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
			fail(at+"application", "is needed: it is our name at the lab")
		}
		if lab.LabApplication == "" && lab.LabFacility == "" {
			fail(at+"lab_application", "or lab_facility is needed to identify the sender of a message")
		}
		sender := strings.ToLower(lab.LabApplication + "|" + lab.LabFacility)
		if other, taken := senders[sender]; taken {
			fail(at+"lab_application", "and lab_facility are also those of "+other)
		}
		senders[sender] = slug
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

var supportedVersions = []string{"2.2", "2.3", "2.3.1", "2.4", "2.5", "2.5.1", "2.6", "2.7", "2.7.1", "2.8"}

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
