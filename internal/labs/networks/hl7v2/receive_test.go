package hl7v2

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"hale/internal/labs/hl7"
	"hale/internal/labs/hl7/mllp"
	"hale/internal/labs/networks"
)

// inbox keeps messages in memory, once for each key, and fails on request.
type inbox struct {
	mu       sync.Mutex
	messages []networks.Message
	broken   error
}

func (i *inbox) Put(_ context.Context, m networks.Message) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.broken != nil {
		return i.broken
	}
	for _, other := range i.messages {
		if other.Key == m.Key {
			return nil
		}
	}
	i.messages = append(i.messages, m)
	return nil
}

func receiver(t *testing.T, s Settings) (*Network, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	if s.Labs == nil {
		s.Labs = map[string]Lab{"northlab": modernLab}
	}
	n, err := New(s, testTime, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return n, &log
}

const result = "MSH|^~\\&|NLIS|NORTH|HALE|44120|20260304093000-0500||ORU^R01^ORU_R01|N-7|P|2.5.1\r" +
	"PID|1||x||Fern^Otto||19711201|M\rOBR|1|" + orderA + "|F1|K\rOBX|1|NM|K||4.1||||||F\r"

// segments removes the numbers and times of an answer that differ each time.
func segments(answer []byte) string {
	var kept []string
	for line := range strings.Lines(strings.ReplaceAll(string(answer), "\r", "\n")) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "MSH|") {
			fields := strings.Split(line, "|")
			line = strings.Join([]string{fields[2], fields[4], fields[8]}, " ")
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "\n")
}

func TestAccept(t *testing.T) {
	change := func(from, to string) string {
		if !strings.Contains(result, from) {
			t.Fatalf("%q is not in the message", from)
		}
		return strings.Replace(result, from, to, 1)
	}
	for name, c := range map[string]struct {
		message string
		broken  error
		unknown bool // AcceptUnknown
		want    string
		stored  int
	}{
		"stored": {message: result, want: "HALE NLIS ACK^R01^ACK\nMSA|AA|N-7", stored: 1},
		"not stored": {
			message: result, broken: errors.New("disk full"),
			want: "HALE NLIS ACK^R01^ACK\nMSA|AE|N-7\nERR|||207^the message could not be stored; please send it again^HL70357|E||||the message could not be stored; please send it again",
		},
		"a name outside of its character set": {
			message: strings.Replace(change("NLIS|NORTH|HALE", "NLIS|NORTH|HÄLE"), "|P|2.5.1", "|P|2.5.1||||||ASCII", 1),
			want:    "HÄLE NLIS ACK^R01^ACK\nMSA|AA|N-7", stored: 1,
		},
		"a byte that its character set lacks": {
			message: strings.Replace(change("NLIS|NORTH|HALE", "NLIS|NORTH|H\xa5LE"), "|P|2.5.1", "|P|2.5.1||||||8859/3", 1),
			want:    "H\ufffdLE NLIS ACK^R01^ACK\nMSA|AA|N-7", stored: 1,
		},
		"an unknown sender": {
			message: change("NLIS|NORTH", "OTHER|SOUTH"),
			want:    "HALE OTHER ACK^R01^ACK\nMSA|AR|N-7\nERR||MSH^1^3|204^this sending application and facility are not configured here^HL70357|E||||this sending application and facility are not configured here",
		},
		"an unknown sender, taken": {
			message: change("NLIS|NORTH", "OTHER|SOUTH"), unknown: true,
			want: "HALE OTHER ACK^R01^ACK\nMSA|AA|N-7", stored: 1,
		},
		"a test message of an unknown sender": {
			message: strings.Replace(change("NLIS|NORTH", "OTHER|SOUTH"), "|P|2.5.1", "|T|2.5.1", 1), unknown: true,
			want: "HALE OTHER ACK^R01^ACK\nMSA|AR|N-7\nERR||MSH^1^11|202^only production messages are accepted here^HL70357|E||||only production messages are accepted here",
		},
		"a test message": {
			message: change("|P|2.5.1", "|T|2.5.1"),
			want:    "HALE NLIS ACK^R01^ACK\nMSA|AR|N-7\nERR||MSH^1^11|202^only production messages are accepted here^HL70357|E||||only production messages are accepted here",
		},
		"another type": {
			message: change("ORU^R01^ORU_R01", "ADT^A01^ADT_A01"),
			want:    "HALE NLIS ACK^A01^ACK\nMSA|AR|N-7\nERR||MSH^1^9|200^this message type is not supported here^HL70357|E||||this message type is not supported here",
		},
		"an unknown character set": {
			message: change("|P|2.5.1", "|P|2.5.1||||||ISO IR87"),
			want:    "HALE NLIS ACK^R01^ACK\nMSA|AR|N-7\nERR|||100^hl7: segment 1, field 18, byte 0: a character set that is not supported^HL70357|E||||hl7: segment 1, field 18, byte 0: a character set that is not supported",
		},
		"a NUL": {
			message: change("|F1|", "|F1\x00|"),
			want: "HALE NLIS ACK^R01^ACK\nMSA|AR|N-7\nERR|||100^hl7: segment 3, byte 157: a framing or NUL byte inside the message^HL70357|E||||" +
				"hl7: segment 3, byte 157: a framing or NUL byte inside the message",
		},
		"more results than an order has": {
			message: result + manyCodes(maxResults),
			want: "HALE NLIS ACK^R01^ACK\nMSA|AR|N-7\nERR|||100^too many results or specimens of one order in one message^HL70357|E||||" +
				"too many results or specimens of one order in one message",
		},
		"as many as an order has": {message: result + manyCodes(maxResults-1), want: "HALE NLIS ACK^R01^ACK\nMSA|AA|N-7", stored: 1},
		"cut off inside the last value": {
			message: change("4.1||||||F\r", "4"),
			want: "HALE NLIS ACK^R01^ACK\nMSA|AR|N-7\nERR||OBX^1^11|101^the last OBX has neither a status nor a segment end: the message is incomplete^HL70357|E||||" +
				"the last OBX has neither a status nor a segment end: the message is incomplete",
		},
		"a last segment without an end": {message: change("F\r", "F"), want: "HALE NLIS ACK^R01^ACK\nMSA|AA|N-7", stored: 1},
		"a value without a status":      {message: change("||||||F\r", "\r"), want: "HALE NLIS ACK^R01^ACK\nMSA|AA|N-7", stored: 1},
		"no message": {
			message: "hello",
			want:    "  ACK\nMSA|AR\nERR|||100^the message cannot be read: hl7: segment 1, byte 0: no message begins with MSH^HL70357|E||||the message cannot be read: hl7: segment 1, byte 0: no message begins with MSH",
		},
		"enhanced, always":         {message: change("|P|2.5.1", "|P|2.5.1|||AL|NE"), want: "HALE NLIS ACK^R01^ACK\nMSA|CA|N-7", stored: 1},
		"enhanced, only of errors": {message: change("|P|2.5.1", "|P|2.5.1|||ER|NE"), want: "", stored: 1},
		"enhanced, only of errors, and so": {message: change("|P|2.5.1", "|P|2.5.1|||ER|NE"), broken: errors.New("x"), want: "HALE NLIS ACK^R01^ACK\nMSA|CE|N-7\n" +
			"ERR|||207^the message could not be stored; please send it again^HL70357|E||||the message could not be stored; please send it again"},
		"enhanced, application only": {message: change("|P|2.5.1", "|P|2.5.1|||NE|AL"), want: "HALE NLIS ACK^R01^ACK\nMSA|AA|N-7", stored: 1},
		"a batch": {
			message: "FHS|^~\\&|NLIS\rBHS|^~\\&|NLIS\r" + result + change("N-7", "N-8") + result + "BTS|3\rFTS|1\r",
			want:    "HALE NLIS ACK^R01^ACK\nMSA|AA|N-7\nHALE NLIS ACK^R01^ACK\nMSA|AA|N-8\nHALE NLIS ACK^R01^ACK\nMSA|AA|N-7", stored: 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := inbox{broken: c.broken}
			n, log := receiver(t, Settings{AcceptUnknown: c.unknown})
			answer := n.Accept(t.Context(), &in, []byte(c.message))
			if diff := gocmp.Diff(c.want, segments(answer)); diff != "" {
				t.Error(diff)
			}
			if len(in.messages) != c.stored {
				t.Errorf("%d messages were stored, not %d", len(in.messages), c.stored)
			}
			wantFinalRejection(t, answer)
			if strings.Contains(log.String(), "Fern") || strings.Contains(log.String(), "Otto") {
				t.Errorf("the log names the patient: %s", log)
			}
		})
	}
}

// wantFinalRejection fails when an answer rejects a message with a code that
// asks for a retry, as we read the answers of labs.
func wantFinalRejection(t *testing.T, raw []byte) {
	t.Helper()
	if !bytes.Contains(raw, []byte("MSA|AR")) {
		return
	}
	m, err := hl7.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	var refusal *networks.Refusal
	if err := (answer{m: m}).checkAcknowledgement(); !errors.As(err, &refusal) {
		t.Errorf("the lab would send it again: %s", raw)
	}
}

// manyCodes returns observations with different codes.
func manyCodes(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "OBX|%d|NM|C%d||1||||||F\r", i+2, i)
	}
	return text.String()
}

func TestStoredMessage(t *testing.T) {
	in := inbox{}
	n, _ := receiver(t, Settings{})
	raw := []byte(result)
	n.Accept(t.Context(), &in, raw)
	clear(raw) // as a connection does with its buffer
	m := in.messages[0]
	if m.Network != "hl7v2" || m.Key != "NLIS|NORTH|N-7" || string(m.Raw) != result {
		t.Errorf("%s %s %q", m.Network, m.Key, m.Raw)
	}
	if len(m.Reports) != 1 || m.Reports[0].Placer != orderA || m.Reports[0].Lab != "northlab" || m.Reports[0].Results.Results[0].Value != "4.1" {
		t.Errorf("%+v", m.Reports)
	}

	// Without a control number, the content identifies a message.
	anonymous := strings.Replace(result, "|N-7|", "||", 1)
	for _, text := range []string{anonymous, anonymous, strings.Replace(anonymous, "4.1", "4.2", 1)} {
		n.Accept(t.Context(), &in, []byte(text))
	}
	if len(in.messages) != 3 {
		t.Errorf("%d messages", len(in.messages))
	}

	// A text that is longer than any number is not a number.
	long := strings.Repeat("7", maxName+1)
	n.Accept(t.Context(), &in, []byte(strings.NewReplacer("|N-7|", "|"+long+"|", "|F1|", "|"+long+"|").Replace(result)))
	if m := in.messages[3]; len(m.Key) > maxName || m.Reports[0].SampleID != "" {
		t.Errorf("key %s, sample %s", m.Key, m.Reports[0].SampleID)
	}
}

func TestFindSender(t *testing.T) {
	labs := map[string]Lab{
		"any-of-group": {Application: "HALE", LabApplication: "NLIS"},
		"north":        {Application: "HALE", LabApplication: "NLIS", LabFacility: "NORTH"},
		"by-oid":       {Application: "HALE", LabApplication: "2.16.1"},
	}
	n, _ := receiver(t, Settings{Labs: labs})
	for sender, want := range map[string]string{
		"NLIS|NORTH": "north", "nlis|north^05D^CLIA": "north", "NLIS|SOUTH": "any-of-group", "X^2.16.1^ISO|Y": "by-oid",
	} {
		in := inbox{}
		n.Accept(t.Context(), &in, []byte(strings.Replace(result, "NLIS|NORTH", sender, 1)))
		if len(in.messages) != 1 || in.messages[0].Reports[0].Lab != want {
			t.Errorf("%s: %+v", sender, in.messages)
		}
	}
}

// A sender with a peer is accepted only from it.
func TestPeers(t *testing.T) {
	uri, err := url.Parse("urn:oid:2.16.840.1")
	if err != nil {
		t.Fatal(err)
	}
	certificate := &x509.Certificate{Raw: []byte("a certificate"), Subject: pkix.Name{CommonName: "North Lab"}, DNSNames: []string{"north.example.com"}, URIs: []*url.URL{uri}}
	digest := sha256.Sum256(certificate.Raw)
	fingerprint := strings.ToUpper(hex.EncodeToString(digest[:2])) + ":" + hex.EncodeToString(digest[2:])
	at := func(address string) mllp.Peer { return mllp.Peer{Address: netip.MustParseAddr(address)} }
	with := func(address string) mllp.Peer { p := at(address); p.Certificate = certificate; return p }
	for name, c := range map[string]struct {
		peer Peer
		from mllp.Peer
		want bool
	}{
		"an address":              {Peer{Addresses: []string{"192.0.2.7"}}, at("192.0.2.7"), true},
		"a mapped address":        {Peer{Addresses: []string{"192.0.2.7"}}, at("::ffff:192.0.2.7"), true},
		"a network":               {Peer{Addresses: []string{"198.51.100.1", "192.0.2.0/24"}}, at("192.0.2.99"), true},
		"another address":         {Peer{Addresses: []string{"192.0.2.7"}}, at("192.0.2.8"), false},
		"no address":              {Peer{Addresses: []string{"192.0.2.7"}}, mllp.Peer{}, false},
		"a DNS name":              {Peer{Names: []string{"NORTH.example.com"}}, with("192.0.2.7"), true},
		"a common name":           {Peer{Names: []string{"north lab"}}, with("192.0.2.7"), true},
		"a URI":                   {Peer{Names: []string{"urn:oid:2.16.840.1"}}, with("192.0.2.7"), true},
		"another name":            {Peer{Names: []string{"south.example.com"}}, with("192.0.2.7"), false},
		"no certificate":          {Peer{Names: []string{"north.example.com"}}, at("192.0.2.7"), false},
		"a fingerprint":           {Peer{Fingerprints: []string{fingerprint}}, with("192.0.2.7"), true},
		"another fingerprint":     {Peer{Fingerprints: []string{strings.Repeat("00", 32)}}, with("192.0.2.7"), false},
		"a fingerprint or a name": {Peer{Fingerprints: []string{fingerprint}, Names: []string{"south.example.com"}}, with("192.0.2.7"), true},
		"address and name":        {Peer{Addresses: []string{"192.0.2.7"}, Names: []string{"north lab"}}, with("192.0.2.7"), true},
		"a wrong address":         {Peer{Addresses: []string{"192.0.2.7"}, Names: []string{"north lab"}}, with("192.0.2.8"), false},
	} {
		t.Run(name, func(t *testing.T) {
			bound, other := modernLab, modernLab
			bound.Peer, other.LabFacility = &c.peer, "SOUTH"
			n, _ := receiver(t, Settings{AcceptUnknown: true, Labs: map[string]Lab{"northlab": bound, "southlab": other}})
			in := &inbox{}
			answer := string(n.accept(t.Context(), in, origin{peer: c.from}, []byte(result)))
			if got := strings.Contains(answer, "MSA|AA|"); got != c.want || len(in.messages) > 0 != c.want {
				t.Errorf("answered %s, %d stored", answer, len(in.messages))
			}
			if !strings.Contains(string(n.accept(t.Context(), in, origin{peer: c.from}, []byte(strings.Replace(result, "|NORTH|", "|SOUTH|", 1)))), "MSA|AA|") {
				t.Error("the peer of one lab restricts another lab")
			}
		})
	}
}

// The messages of a test system come through a network of their own: their
// orders are sandbox orders only.
func TestMessagesOfATestSystem(t *testing.T) {
	test := modernLab
	test.Slug, test.Sandbox = "northlab", true
	n, _ := receiver(t, Settings{Labs: map[string]Lab{"northlab": modernLab, "northlab-test": test}})
	for processing, want := range map[string]string{"|P|": Slug, "|T|": TestSlug, "|D|": TestSlug} {
		in := &inbox{}
		n.Accept(t.Context(), in, []byte(strings.Replace(result, "|P|", processing, 1)))
		if len(in.messages) != 1 || in.messages[0].Network != want || in.messages[0].Reports[0].Lab != "northlab" {
			t.Errorf("%s: %+v", processing, in.messages)
		}
	}
}

// A production message of a lab that has only a connection for its test system is
// rejected: no alarm would follow its result.
func TestAProductionMessageIsNoTest(t *testing.T) {
	test := modernLab
	test.Slug, test.Sandbox = "northlab", true
	n, _ := receiver(t, Settings{Labs: map[string]Lab{"northlab-test": test}})
	for processing, want := range map[string]string{"|P|": "AR", "||": "AR", "|T|": "AA", "|D|": "AA"} {
		in := &inbox{}
		answer := string(n.Accept(t.Context(), in, []byte(strings.Replace(result, "|P|", processing, 1))))
		if !strings.Contains(answer, "MSA|"+want+"|") || len(in.messages) == 1 != (want == "AA") {
			t.Errorf("%s: %q, %d stored", processing, answer, len(in.messages))
		}
	}
}

// A lab sends over a connection, and gets AA when the message is stored.
func TestRun(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n, _ := receiver(t, Settings{MaxMessage: 10_000})
	in := inbox{broken: errors.New("disk full")}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- n.Serve(ctx, l, &in) }()
	lab := mllp.Client{Address: l.Addr().String()}
	defer lab.Close()
	send := func(text string) string {
		t.Helper()
		answer, err := lab.Exchange(t.Context(), []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		wantFinalRejection(t, answer)
		_, msa, _ := strings.Cut(strings.ReplaceAll(string(answer), "\r", "\n"), "\n")
		return strings.SplitN(msa, "\n", 2)[0]
	}
	if got := send(result); got != "MSA|AE|N-7" || len(in.messages) != 0 {
		t.Errorf("while the disk is full: %s", got)
	}
	in.mu.Lock()
	in.broken = nil
	in.mu.Unlock()
	for range 2 {
		if got := send(result); got != "MSA|AA|N-7" || len(in.messages) != 1 {
			t.Errorf("%s, %d stored", got, len(in.messages))
		}
	}
	if got := send(result + "NTE|1||" + strings.Repeat("x", 10_000) + "\r"); got != "MSA|AR|N-7" || len(in.messages) != 1 {
		t.Errorf("a message over the limit: %s", got)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	for _, listen := range []string{"", "127.0.0.1:0"} {
		n, _ := receiver(t, Settings{Listen: listen})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := n.Run(ctx, &inbox{}); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("%q: %v", listen, err)
		}
	}
}

// The public samples are accepted as they are, marked as production messages.
func TestSamplesAreTaken(t *testing.T) {
	n, _ := receiver(t, Settings{AcceptUnknown: true})
	in := inbox{}
	for _, file := range []string{"ORU-R01-01.hl7", "ORU-R01-RMGEAD.hl7", "LAB-ORU-1.hl7", "ORU-multiline-short.hl7"} {
		raw, err := sample(t, file).Emit()
		if err != nil {
			t.Fatal(err)
		}
		answer := string(n.Accept(t.Context(), &in, bytes.Replace(raw, []byte("|T|"), []byte("|P|"), 1)))
		if !strings.Contains(answer, "MSA|AA|") && !strings.Contains(answer, "MSA|CA|") {
			t.Errorf("%s: %s", file, answer)
		}
	}
	if len(in.messages) != 4 {
		t.Errorf("%d messages", len(in.messages))
	}
}

func BenchmarkAccept(b *testing.B) {
	raw, err := os.ReadFile("testdata/oru-panel.hl7")
	if err != nil {
		b.Fatal(err)
	}
	n, err := New(Settings{Labs: map[string]Lab{"northlab": modernLab}}, testTime, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	in := &inbox{}
	for b.Loop() {
		n.Accept(b.Context(), in, raw)
	}
}
