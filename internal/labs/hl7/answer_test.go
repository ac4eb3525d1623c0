package hl7_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hale/internal/labs/hl7"
)

func TestBuiltMessagesAreParsedBack(t *testing.T) {
	m := hl7.New(hl7.UTF8, hl7.Fields{3: hl7.Text("HALE"), 9: hl7.Text("OML", "O21", "OML_O21"), 10: hl7.Text("C-9"), 12: hl7.Text("2.5.1")})
	m.Add("PID", hl7.Fields{
		1: hl7.Text("1"),
		3: hl7.Text("77", "", "", "HALE", "PI").Repeat("88", "", "").Repeat(),
		5: hl7.Text("O|Neil", "Ana^Lu", ""),
		6: hl7.Text(""),
	})
	m.Add("NTE", hl7.Fields{3: hl7.Text("two\nlines & more")})
	want := strings.Join([]string{
		`MSH|^~\&|HALE||||||OML^O21^OML_O21|C-9||2.5.1||||||UNICODE UTF-8`,
		`PID|1||77^^^HALE^PI~88||O\F\Neil^Ana\S\Lu`,
		`NTE|||two\.br\lines \T\ more`, "",
	}, "\r")
	emitted, err := m.Emit()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(emitted)); diff != "" {
		t.Fatal(diff)
	}
	back := parse(t, string(emitted))
	if got := back.First("PID").Get(5); got != "O|Neil" {
		t.Errorf("the name came back as %q", got)
	}
	if got := back.First("NTE").Text(3); got != "two\nlines & more" {
		t.Errorf("the note came back as %q", got)
	}
}

func TestAcknowledge(t *testing.T) {
	at := time.Date(2026, 3, 1, 14, 0, 0, 0, time.UTC)
	trouble := &hl7.ErrorSegment{Code: hl7.InternalError, Text: "not stored|try again", Segment: "OBX", Sequence: 2, Field: 5}
	for name, c := range map[string]struct {
		message string
		code    hl7.AckCode
		trouble *hl7.ErrorSegment
		want    string
	}{
		"accepted": {
			header + "||||||8859/1", hl7.Accepted, nil,
			`MSH|^~\&|HALE|US|LAB|NORTH|20260301140000+0000||ACK^R01^ACK|A-1|P|2.5.1||||||8859/1` + "\r" + `MSA|AA|C-1` + "\r",
		},
		"errored": {
			header, hl7.Errored, trouble,
			`MSH|^~\&|HALE|US|LAB|NORTH|20260301140000+0000||ACK^R01^ACK|A-1|P|2.5.1` + "\r" + `MSA|AE|C-1` + "\r" +
				`ERR||OBX^2^5|207^not stored\F\try again^HL70357|E||||not stored\F\try again` + "\r",
		},
		"an old version": {
			"MSH$%*?@$L$N$H$U$2026$$ORU%R01$7$T$2.2", hl7.Rejected, trouble,
			"MSH$%*?@$H$U$L$N$20260301140000+0000$$ACK%R01$A-1$T$2.2\rMSA$AR$7\rERR$OBX%2%5%207@not stored|try again\r",
		},
		"hardly a header": {
			"MSH|^~", hl7.Rejected, nil,
			"MSH|^~|||||20260301140000+0000||ACK|A-1||2.5.1\rMSA|AR\r",
		},
	} {
		out, err := parse(t, c.message).Acknowledge(c.code, "A-1", at, c.trouble).Emit()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, string(out)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestHeader(t *testing.T) {
	h := parse(t, header+"|||AL|ne").Header()
	if h.SendingApplication.Get() != "LAB" || h.SendingFacility.Get() != "NORTH" || h.ReceivingApplication.Get() != "HALE" ||
		h.ReceivingFacility.Get() != "US" || h.Type != "ORU" || h.Trigger != "R01" || h.ControlID != "C-1" || h.Processing != "P" ||
		h.Version != "2.5.1" || h.AcceptAck != "AL" || h.ApplicationAck != "NE" || h.Time.Format(time.RFC3339) != "2026-03-01T08:15:00-05:00" {
		t.Errorf("%+v", h)
	}
}

func TestSplit(t *testing.T) {
	one, two := "MSH|^~\\&|A\rNTE|1||x\r", "MSH|^~\\&|B\rNTE|1||broken\nBTS of a text\r"
	for name, c := range map[string]struct {
		data string
		want []string
	}{
		"one":      {one, []string{one}},
		"two":      {one + two, []string{one, two}},
		"a batch":  {"\ufeffFHS|^~\\&|A\rBHS|^~\\&|A\r" + one + two + "BTS|2\rFTS|1\r", []string{one, two}},
		"batches":  {"FHS|^~\\&|A\rBHS|^~\\&|A\r" + one + "BTS|1\rBHS|^~\\&|A\r" + two + "BTS|1\rFTS|2\r", []string{one, two}},
		"no count": {"BHS|^~\\&|A\r" + one + "BTS\r", []string{one}},
		"LF":       {"BHS|^~\\&|A\nMSH|^~\\&|A\nBTS|1\n", []string{"MSH|^~\\&|A\n"}},
	} {
		messages, err := hl7.Split([]byte(c.data))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, m := range messages {
			got = append(got, string(m))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for name, data := range map[string]string{
		"lost a message": "BHS|^~\\&|A\r" + one + "BTS|2\r",
		"nothing":        "",
		"no header":      "PID|1\r",
		"empty batch":    "BHS|^~\\&|A\rBTS|0\r",
	} {
		if messages, err := hl7.Split([]byte(data)); err == nil {
			t.Errorf("%s: %d messages and no error", name, len(messages))
		}
	}
}
