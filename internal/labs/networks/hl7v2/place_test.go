package hl7v2

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hale/internal/labs/hl7"
	"hale/internal/labs/hl7/mllp"
	"hale/internal/labs/networks"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func testTime() time.Time { return time.Date(2026, 3, 2, 16, 0, 0, 0, time.UTC) }

// fakeLab answers orders from a script, and keeps the messages that it
// receives.
type fakeLab struct {
	mu     sync.Mutex
	got    []string
	answer func(m *hl7.Message) []string
}

// network starts the lab and a network that is connected to it.
func (f *fakeLab) network(t *testing.T, lab Lab) *Network {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := mllp.Server{Handle: func(_ context.Context, raw []byte) []byte {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.got = append(f.got, string(raw))
		m, err := hl7.Parse(raw)
		if err != nil {
			t.Error(err)
			return nil
		}
		return []byte(strings.Join(f.answer(m), "\r") + "\r")
	}}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, l) }()
	lab.Address = l.Addr().String()
	n, err := New(Settings{Labs: map[string]Lab{"northlab": lab}}, testTime, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		n.close()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return n
}

func answersWith(lines ...string) func(*hl7.Message) []string {
	return func(m *hl7.Message) []string {
		id := m.First("MSH").Get(10)
		answer := []string{`MSH|^~\&|NLIS|NORTH|HALE|44120|20260302160000||ACK|A1|P|2.5.1`}
		for _, line := range lines {
			answer = append(answer, strings.ReplaceAll(line, "$ID", id))
		}
		return answer
	}
}

func TestPlace(t *testing.T) {
	const ours = "*" // the number that we made
	for name, c := range map[string]struct {
		answer  []string
		sample  string // what the receipt says
		refused string // the lab's final no; "?" for an error that is tried again
	}{
		"accepted":               {[]string{"MSA|AA|$ID"}, ours, ""},
		"stored":                 {[]string{"MSA|CA|$ID"}, ours, ""},
		"with the lab's number":  {[]string{"MSA|AA|$ID", "ORC|OK|P1|F-900^NLIS", "OBR|1|P1|F-900|CMP01"}, "F-900", ""},
		"an order was refused":   {[]string{"MSA|AA|$ID", "ORC|UA|P1", "NTE|1||No such test"}, "", "No such test"},
		"refused with a reason":  {[]string{"MSA|AA|$ID", "ORC|UA|P1" + strings.Repeat("|", 14) + "X9^Account on hold"}, "", "Account on hold"},
		"one named test":         {[]string{"MSA|AA|$ID", "ORC|UA|P1", "OBR|1|P1||LEAD"}, ours, ""},
		"each test by name":      {[]string{"MSA|AA|$ID", "ORC|UA|P1", "OBR|1|P1||LEAD", "NTE|1||Closed", "ORC|UA|P1", "OBR|2|P1||CMP01"}, "", "Closed"},
		"a test of no order":     {[]string{"MSA|AA|$ID", "ORC|UA|P1", "OBR|1|P1||OTHER", "NTE|1||No such test"}, "", "No such test"},
		"refused for another":    {[]string{"MSA|AA|$ID", "PID|1||7||Hopper^Grace||19061209|F", "ORC|UA|P1", "NTE|1||No such test"}, "", "?"},
		"refused for the person": {[]string{"MSA|AA|$ID", "PID|1||7||QUILL^ADA||20120709|F", "ORC|UA|P1", "NTE|1||No such test"}, "", "No such test"},
		"one test was refused":   {[]string{"MSA|AA|$ID", "ORC|UA|P1", "ORC|OK|P1|F-901"}, "F-901", ""},
		"trouble at the lab":     {[]string{"MSA|AE|$ID"}, "", "?"},
		"a value was wrong":      {[]string{"MSA|AE|$ID", "ERR||PID^1^7|102^Data type error^HL70357|E||||Bad date"}, "", "Bad date"},
		"wrong, an old version":  {[]string{"MSA|AE|$ID|Unknown code", "ERR|OBR^1^4^103&Table value not found"}, "", "Unknown code; Table value not found"},
		"rejected":               {[]string{"MSA|AR|$ID"}, "", "the lab gave no reason"},
		"rejected for its load":  {[]string{"MSA|AR|$ID", "ERR|||207^Application internal error"}, "", "?"},
		"commit rejected":        {[]string{"MSA|CR|$ID", "ERR|||203^Unsupported version id"}, "", "Unsupported version id"},
		"the lab has it already": {[]string{"MSA|AE|$ID", "ERR|||205^Duplicate key identifier"}, ours, ""},
		"nonsense":               {[]string{"MSA||$ID"}, "", "?"},
	} {
		t.Run(name, func(t *testing.T) {
			lab := fakeLab{answer: answersWith(c.answer...)}
			n := lab.network(t, modernLab)
			want := c.sample
			if want == ours {
				want = sampleNumber(bigOrder())
			}
			receipt, err := n.Place(t.Context(), bigOrder())
			var refusal *networks.Refusal
			switch {
			case c.refused == "":
				if err != nil || receipt.SampleID != want {
					t.Errorf("%+v, %v", receipt, err)
				}
			case c.refused == "?":
				if err == nil || errors.As(err, &refusal) {
					t.Errorf("must be tried again, not %v", err)
				}
			case !errors.As(err, &refusal) || refusal.Reason != c.refused:
				t.Errorf("%v, %+v", err, refusal)
			}
			if len(lab.got) != 1 || !strings.Contains(lab.got[0], "|OML^O21^OML_O21|") {
				t.Errorf("the lab got %d messages", len(lab.got))
			}
		})
	}
}

// The tests that a lab refuses are in its answer and are known at once: by
// their codes, with the lab's reason.
func TestAnswerRefusesTests(t *testing.T) {
	why := strings.Repeat("|", 14) + "X9^Not offered"
	for name, c := range map[string]struct {
		answer  []string
		refused string
	}{
		"none":             {[]string{"ORC|OK|P1|F-1", "OBR|1|P1|F-1|CMP01", "ORC|OK|P1|F-1", "OBR|2|P1|F-1|LEAD"}, ""},
		"one":              {[]string{"ORC|OK|P1|F-1", "OBR|1|P1|F-1|CMP01", "ORC|UA|P1" + why, "OBR|2|P1||LEAD"}, "LEAD: Not offered"},
		"the only answer":  {[]string{"ORC|UA|P1" + why, "OBR|1|P1||LEAD"}, "LEAD: Not offered"},
		"by two codings":   {[]string{"ORC|UA|P1", "OBR|1|P1||LEAD^Lead^99NL^5671-3^Lead^LN", "NTE|1||No tube", "ORC|OK|P1|F-1"}, "LEAD 5671-3: No tube"},
		"without a code":   {[]string{"ORC|UA|P1", "ORC|OK|P1|F-1"}, ""},
		"a general answer": {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			lab := fakeLab{answer: answersWith(append([]string{"MSA|AA|$ID"}, c.answer...)...)}
			order := bigOrder()
			receipt, err := lab.network(t, modernLab).Place(t.Context(), order)
			if err != nil {
				t.Fatal(err)
			}
			if c.refused == "" {
				if receipt.Answer != nil {
					t.Errorf("the answer refuses %+v", receipt.Answer.Reports)
				}
				return
			}
			if receipt.Answer == nil || len(receipt.Answer.Reports) != 1 {
				t.Fatalf("the answer is %+v", receipt.Answer)
			}
			r := receipt.Answer.Reports[0]
			if got := strings.Join(r.Refused, " ") + ": " + r.Reason; got != c.refused || r.Placer != order.ID.String() || r.Lab != "northlab" || r.Status != "" {
				t.Errorf("refused are %s, in %+v", got, r)
			}
			if raw := string(receipt.Answer.Raw); !strings.Contains(raw, "ORC|UA|") || receipt.Answer.Network != Slug {
				t.Errorf("kept as %q of %s", raw, receipt.Answer.Network)
			}
		})
	}
}

// ORC-20 carries the notice that an insurance may not pay, in both directions.
func TestNotices(t *testing.T) {
	for name, c := range map[string]struct {
		orc20 string // of the answer
		want  bool
	}{"the lab wants one": {"1^^HL70339", true}, "not signed": {"4", true}, "signed": {"2", false}, "none": {"", false}} {
		lab := fakeLab{answer: answersWith("MSA|AA|$ID", "ORC|OK|P1|F-1"+strings.Repeat("|", 17)+c.orc20)}
		n := lab.network(t, modernLab)
		order := bigOrder()
		order.Notice = c.want
		receipt, err := n.Place(t.Context(), order)
		if err != nil || receipt.Notice != c.want {
			t.Errorf("%s: %+v, %v", name, receipt, err)
		}
		sent, err := hl7.Parse([]byte(lab.got[0]))
		if err != nil {
			t.Fatal(err)
		}
		if says := sent.First("ORC").Get(20) == "1"; says != c.want {
			t.Errorf("%s: ORC-20 is %q", name, sent.First("ORC").Get(20))
		}
	}
}

func TestPlaceAgainSendsTheSameBytes(t *testing.T) {
	lab := fakeLab{answer: answersWith("MSA|AA|$ID", "ORC|OK||F-1")}
	n := lab.network(t, modernLab)
	for range 2 {
		if receipt, err := n.Place(t.Context(), smallOrder()); err != nil || receipt.SampleID != "KIT-77" {
			t.Errorf("%+v, %v", receipt, err)
		}
	}
	if lab.got[0] != lab.got[1] {
		t.Error("the second try differs from the first")
	}
}

func TestCancel(t *testing.T) {
	for name, c := range map[string]struct {
		answer []string
		want   string // "", "refused" or "again"
	}{
		"accepted":           {[]string{"MSA|AA|$ID"}, ""},
		"done":               {[]string{"MSA|AA|$ID", "ORC|CR|P1"}, ""},
		"too late":           {[]string{"MSA|AA|$ID", "ORC|UC|P1", "NTE|1||Already tested"}, "refused"},
		"unknown to the lab": {[]string{"MSA|AE|$ID", "ERR|||204^Unknown key identifier"}, ""},
		"trouble":            {[]string{"MSA|AE|$ID"}, "again"},
	} {
		t.Run(name, func(t *testing.T) {
			lab := fakeLab{answer: answersWith(c.answer...)}
			err := lab.network(t, modernLab).Cancel(t.Context(), smallOrder())
			var refusal *networks.Refusal
			refused := errors.As(err, &refusal)
			if (err != nil) != (c.want != "") || refused != (c.want == "refused") {
				t.Errorf("%v", err)
			}
			if !strings.Contains(lab.got[0], "\rORC|CA|01890000-0000-7000-8000-000000000002^HALE") {
				t.Error("the lab did not get CA")
			}
		})
	}
}

func TestSandboxAndRealOrders(t *testing.T) {
	lab := fakeLab{answer: answersWith("MSA|AA|$ID")}
	n := lab.network(t, modernLab)
	order := smallOrder()
	order.Sandbox = true
	var refusal *networks.Refusal
	if _, err := n.Place(t.Context(), order); !errors.As(err, &refusal) {
		t.Errorf("a sandbox order at a real lab: %v", err)
	}
	if err := n.Cancel(t.Context(), order); !errors.As(err, &refusal) {
		t.Errorf("its cancellation: %v", err)
	}
	if len(lab.got) > 0 {
		t.Fatal("the real lab heard of a sandbox order")
	}
	test := modernLab
	test.Sandbox = true
	n = lab.network(t, test)
	if _, err := n.Place(t.Context(), smallOrder()); !errors.As(err, &refusal) {
		t.Errorf("a real order at a test system: %v", err)
	}
	if _, err := n.Place(t.Context(), order); err != nil || !strings.Contains(lab.got[0], "|T|2.5.1|") {
		t.Errorf("a sandbox order at a test system: %v", err)
	}
}

func TestOrdersThatCannotBeSent(t *testing.T) {
	lab := fakeLab{answer: answersWith("MSA|AA|$ID")}
	ascii := modernLab
	ascii.Charset = "ASCII"
	n := lab.network(t, ascii)
	n.settings.Labs["resultsonly"] = Lab{Application: "HALE", LabApplication: "X"}
	var refusal *networks.Refusal

	order := smallOrder()
	order.Patient.LastName = "Šimůnek"
	_, err := n.Place(t.Context(), order)
	if !errors.As(err, &refusal) || refusal.Reason != "hl7: PID-5 of segment 2 holds a character that ASCII lacks" {
		t.Errorf("a name that the lab cannot read: %v, %+v", err, refusal)
	}
	order = smallOrder()
	order.Tests = nil
	if _, err := n.Place(t.Context(), order); !errors.As(err, &refusal) {
		t.Errorf("no tests: %v", err)
	}
	for _, slug := range []string{"nolab", "resultsonly"} {
		order := smallOrder()
		order.Lab = slug
		if _, err := n.Place(t.Context(), order); err == nil || errors.As(err, &refusal) || !strings.Contains(err.Error(), slug) {
			t.Errorf("a lab that is not set up: %v", err)
		}
	}
	if len(lab.got) > 0 {
		t.Error("the lab got something")
	}
}
