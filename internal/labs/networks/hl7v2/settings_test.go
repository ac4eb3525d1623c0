package hl7v2

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

const document = `
listen: 127.0.0.1:8080   # settings of other parts are not ours
networks:
  hl7v2:
    listen: 127.0.0.1:2575
    max_message: 1000000
    tls: {certificate: server.pem, key: server.key, authority: labs.pem}
    labs:
      northlab:
        address: lab.example.com:6661
        tls: {authority: ca.pem, server_name: lab.example.com}
        application: HALE
        lab_application: NLIS
        lab_facility: NORTH
        order: ORM
        version: "2.3.1"
        charset: 8859/1
        zone: America/New_York
        timeout: 20s
        identity: order_number
        peer: {names: [north.example.com], addresses: [192.0.2.0/24]}
      northlab-test:
        lab: northlab
        sandbox: true
        application: HALE
        lab_application: NLIS
        lab_facility: NORTH
`

func TestParseSettings(t *testing.T) {
	want := Settings{
		Listen: "127.0.0.1:2575", MaxMessage: 1_000_000,
		TLS: &TLS{Certificate: "server.pem", Key: "server.key", Authority: "labs.pem"},
		Labs: map[string]Lab{"northlab": {
			Address: "lab.example.com:6661", TLS: &TLS{Authority: "ca.pem", ServerName: "lab.example.com"},
			Application: "HALE", LabApplication: "NLIS", LabFacility: "NORTH",
			Order: "ORM", Version: "2.3.1", Charset: "8859/1", Zone: "America/New_York", Timeout: 20 * time.Second, Identity: "order_number",
			Peer: &Peer{Names: []string{"north.example.com"}, Addresses: []string{"192.0.2.0/24"}},
		}, "northlab-test": {Slug: "northlab", Sandbox: true, Application: "HALE", LabApplication: "NLIS", LabFacility: "NORTH"}},
	}
	got, err := ParseSettings([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got, err = ParseSettings([]byte(`{"networks": {"hl7v2": {"labs": {"x": {"application": "HALE", "lab_application": "X"}}}}}`))
	if err != nil || got.Labs["x"].order() != "OML" || got.Labs["x"].version() != "2.5.1" || got.Labs["x"].charset().String() != "UNICODE UTF-8" {
		t.Errorf("JSON: %+v, %v", got, err)
	}
	for _, none := range []string{"", "listen: x", "networks: {}"} {
		if got, err := ParseSettings([]byte(none)); err != nil || len(got.Labs) != 0 {
			t.Errorf("%q: %+v, %v", none, got, err)
		}
	}
}

func TestWrongSettings(t *testing.T) {
	lab := func(lines string) string {
		return "networks:\n  hl7v2:\n    labs:\n      x: {application: HALE, lab_application: X, " + lines + "}\n"
	}
	for document, want := range map[string]string{
		"networks: [1":                  "line 1: did not find",
		"networks: {hl7v2: {lisen: x}}": "line 1: unknown key lisen",
		"networks: 7":                   "line 1: must be a mapping",
		"networks:\n  hl7v2:\n    listn: x\n    max_message: many\n    labs:\n      x: {aplication: y}\n": "line 3: unknown key listn\n" +
			"line 6: unknown key aplication\nline 4: must be a whole number\nnetworks.hl7v2.labs.x.application: is needed",
		lab("timeout: soon"):                   "line 4: must be a time span",
		lab("sandbox: perhaps"):                "line 4: must be true or false",
		lab("tls: {keys: k}"):                  "line 4: unknown key keys",
		lab("tls: [k]"):                        "line 4: must be a mapping",
		"networks: {hl7v2: {listen: nix}}":     "networks.hl7v2.listen: must be host:port",
		"networks: {hl7v2: {max_message: -1}}": "must not be negative",
		"networks: {hl7v2: {tls: {key: k}}}":   "networks.hl7v2.tls: needs a certificate and a key",
		"networks: {hl7v2: {labs: {x: {}}}}":   "networks.hl7v2.labs.x.application: is needed: it is our name at the lab\nnetworks.hl7v2.labs.x.lab_application: or lab_facility",
		lab("address: nowhere"):                "networks.hl7v2.labs.x.address: must be host:port",
		lab("order: FAX"):                      "order: must be OML or ORM",
		lab("version: '3'"):                    "version: must be one of 2.2, 2.3",
		lab("version: '2.3'"):                  "OML needs version 2.5 or later",
		lab("charset: KLINGON"):                "charset: is not supported",
		lab("zone: Mars/Base"):                 "zone: must be an IANA time zone",
		lab("identity: none"):                  "identity: must be patient or order_number",
		lab("timeout: -1s"):                    "timeout: must not be negative",
		lab("tls: {key: k}"):                   "needs both of certificate and key",
		lab("peer: {}"):                        "x.peer: needs names, fingerprints or addresses",
		lab("peer: {names: x}"):                "line 4: must be a list",
		lab("peer: {names: [x]}"):              "x.peer: names and fingerprints need networks.hl7v2.tls with an authority",
		lab("peer: {fingerprints: ['00']}"):    "x.peer: fingerprints must be SHA-256",
		lab("peer: {addresses: [lab.test]}"):   "x.peer: addresses must be IP addresses",
		lab("lab: y") + "      y: {application: HALE, lab_application: Y}\n":  "labs.y.lab: and sandbox are also those of x",
		lab("order: OML") + "      y: {application: A, lab_application: x}\n": "are also those of x",
	} {
		if _, err := ParseSettings([]byte(document)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", document, err)
		}
	}
}

func TestMissingCertificates(t *testing.T) {
	for name, s := range map[string]Settings{
		"the listener's": {TLS: &TLS{Certificate: "absent.pem", Key: "absent.key"}},
		"a lab's":        {Labs: map[string]Lab{"x": {Address: "h:1", TLS: &TLS{Authority: "absent.pem"}}}},
		"no certificate": {Labs: map[string]Lab{"x": {Address: "h:1", TLS: &TLS{Authority: "settings_test.go"}}}},
	} {
		if _, err := New(s, testTime, slog.New(slog.DiscardHandler)); err == nil || !strings.HasPrefix(err.Error(), "networks.hl7v2.") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A listener that other machines reach needs certificates of the labs.
func TestExposedListener(t *testing.T) {
	for listen, want := range map[string]bool{
		"": false, "127.0.0.1:2575": false, "[::1]:2575": false, "localhost:2575": false,
		"0.0.0.0:2575": true, ":2575": true, "10.0.0.1:2575": true, "[::]:2575": true, "hl7.example.com:2575": true,
	} {
		if got := (Settings{Listen: listen}).IsExposed(); got != want {
			t.Errorf("%q: %v", listen, got)
		}
		if got := (Settings{Listen: listen, TLS: &TLS{Certificate: "c", Key: "k"}}).IsExposed(); got != want {
			t.Errorf("%q with a certificate of the listener: %v", listen, got)
		}
		if (Settings{Listen: listen, TLS: &TLS{Certificate: "c", Key: "k", Authority: "a"}}).IsExposed() {
			t.Errorf("%q with an authority", listen)
		}
	}
}

func TestOrdersInClear(t *testing.T) {
	for address, want := range map[string]bool{
		"": false, "127.0.0.1:2575": false, "[::1]:2575": false, "localhost:2575": false, "10.0.0.1:2575": true, "lab.example.com:2575": true,
	} {
		if got := (Settings{Labs: map[string]Lab{"x": {Address: address}}}).OrdersInClear(); (len(got) == 1) != want {
			t.Errorf("%q: %v", address, got)
		}
		if got := (Settings{Labs: map[string]Lab{"x": {Address: address, TLS: &TLS{}}}}).OrdersInClear(); len(got) != 0 {
			t.Errorf("%q with TLS: %v", address, got)
		}
	}
}

// Any document gives valid settings, or an error without empty lines and Go types.
func FuzzParseSettings(f *testing.F) {
	f.Add([]byte(document))
	f.Add([]byte(`{"networks": {"hl7v2": {"labs": {"x": {"application": "HALE", "lab_application": "X"}}}}}`))
	f.Add([]byte("networks:\n  hl7v2: &a\n    labs: {x: *a}\n"))
	f.Add([]byte("networks:\n  hl7v2:\n    labs:\n      x: {application: HALE, lab_application: X, timeout: 9223372036s, zone: ../../etc}\n"))
	f.Add([]byte("networks: {hl7v2: null}"))
	f.Add([]byte("word\n\n\nword")) // quoted with its empty line
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ParseSettings(text)
		if err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				if strings.TrimSpace(line) == "" {
					t.Fatalf("a refusal with an empty line: %q", err)
				}
			}
			if strings.Contains(err.Error(), "hl7v2.Settings") && !strings.Contains(string(text), "hl7v2.Settings") {
				t.Fatalf("a Go type in a message: %v", err)
			}
			return
		}
		if err := s.Check(); err != nil {
			t.Fatalf("taken, and wrong: %v", err)
		}
		for name, lab := range s.Labs {
			if lab.order() == "" || lab.version() == "" || lab.charset().String() == "" || lab.Timeout < 0 {
				t.Fatalf("%s: %+v", name, lab)
			}
		}
	})
}
