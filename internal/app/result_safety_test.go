package app_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdfcpu/pdfcpu/pkg/api"

	"hale/internal/platform/store/storetest"
)

// report is a result message that a test writes line by line.
type report struct {
	c       *certification
	order   orderView
	at      time.Time // OBR-22
	lines   []string
	charted time.Time // OBR-7
	sent    time.Time // MSH-7
}

func (c *certification) report(o orderView, minutes int) *report {
	at := time.Now().Add(time.Duration(minutes)*time.Minute - 3*time.Hour)
	return &report{c: c, order: o, at: at, charted: at.Add(-2 * time.Hour), sent: at}
}

func hl7Time(at time.Time) string { return at.UTC().Format("20060102150405") + "+0000" }

// test begins a test with a status (OBR-25).
func (r *report) test(code, status string) *report {
	r.lines = append(r.lines, fmt.Sprintf("OBR|%d|%s||%s^%s^L|||%s|||||||||||||||%s|||%s", len(r.lines)+1, r.order.ID, code, code, hl7Time(r.charted), hl7Time(r.at), status))
	return r
}

// line adds a segment.
func (r *report) line(format string, values ...any) *report {
	r.lines = append(r.lines, fmt.Sprintf(format, values...))
	return r
}

// send sends the message, and expects that it is stored.
func (r *report) send() {
	r.c.t.Helper()
	head := fmt.Sprintf("MSH|^~\\&|NLIS|NORTH|HALE||%s||ORU^R01^ORU_R01|S%d|P|2.5.1\rPID|1||P-77||Byron^Ada||19841210|F\r", hl7Time(r.sent), time.Now().UnixNano())
	if code := r.c.send(head + strings.Join(r.lines, "\r") + "\r"); code != "AA" {
		r.c.t.Fatalf("the report was answered %s", code)
	}
}

// resultView is the answer of the results of an order.
type resultView struct {
	Metadata struct {
		Status         string
		Interpretation string
	}
	Results []struct {
		ProviderID     string `json:"provider_id"`
		Result, Type   string
		Interpretation string
		Status         string
		Notes          *string
		SampleID       string `json:"source_sample_id"`
		Timestamp      *string
		Previous       *struct{ Result, Status, Interpretation string }
	}
	Missing []struct {
		ProviderID string `json:"provider_id"`
		Failure    string `json:"inferred_failure_type"`
		Note       *string
		SampleID   string `json:"source_sample_id"`
	} `json:"missing_results"`
	Samples map[string]struct {
		Type      string                      `json:"sample_type"`
		Collected *struct{ Timestamp string } `json:"date_collected"`
	} `json:"sample_information"`
	Warnings []struct {
		Code, Message string
		Detail        *string
	}
}

func (c *certification) view(order string) (v resultView) {
	c.t.Helper()
	c.Get("/v3/order/"+order+"/result", &v)
	return v
}

// shown lists values and missing results as text.
func (v resultView) shown() (all []string) {
	for _, r := range v.Results {
		all = append(all, fmt.Sprintf("%s=%s %s %s", r.ProviderID, r.Result, r.Interpretation, r.Status))
	}
	for _, m := range v.Missing {
		all = append(all, fmt.Sprintf("%s missing %s", m.ProviderID, m.Failure))
	}
	slices.Sort(all)
	return all
}

func (c *certification) wantShown(order string, want ...string) {
	c.t.Helper()
	var got []string
	for deadline := time.Now().Add(90 * time.Second); !slices.Equal(got, want) && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if status, _ := c.Call("GET", "/v3/order/"+order+"/result", ""); status == 200 {
			got = c.view(order).shown()
		}
	}
	if !slices.Equal(got, want) {
		c.t.Errorf("%q, want %q", got, want)
	}
}

// The test sends messages of a laboratory that could harm a patient. Words in place of a
// value are not a result: most mean a missing result, and some mean that the value comes
// later.
func TestSafeResults(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := certify(t, d, overMLLP(t))
		c.testDocuments()
		c.testSpecimens()
		c.testTimes()
		c.testNewerReading()
		c.testDecimalComma()
		o := c.placed(addOnOnly(`"GLU","HB","UC"`))
		c.report(o, 0).test("GLU", "F").line("OBX|1|NM|GLU-1^Glucose^L||HEMOLYZED|mg/dL|70-99||||F").line("NTE|1||Please recollect").
			test("HB", "F").line("OBX|1|ST|HB-1^Hemoglobin^L||PENDING|g/dL|12-16||||F").
			test("UC", "F").line("OBX|1|ST|UC-1^Urine culture^L||SEE NOTE||||||F").line("NTE|1||No growth").send()
		c.until(o.ID, "sample_with_lab.walk_in_test.partial_results")
		c.wantShown(o.ID, "GLU-1 missing collection_process_failure", "UC-1=SEE NOTE unknown final")
		if v := c.view(o.ID); v.Metadata.Status != "partial" || *v.Missing[0].Note != "HEMOLYZED\nPlease recollect" || *v.Results[0].Notes != "SEE NOTE\nNo growth" {
			t.Errorf("%+v", v)
		}
		c.report(o, 1).test("HB", "F").line("OBX|1|NM|HB-1^Hemoglobin^L||13.1|g/dL|12-16||||F").send()
		c.until(o.ID, "completed.walk_in_test.completed")
		c.wantShown(o.ID, "GLU-1 missing collection_process_failure", "HB-1=13.1 normal final", "UC-1=SEE NOTE unknown final")

		// A report whose only value comes later changes nothing.
		waits := c.placed(addOnOnly(`"HB"`))
		c.report(waits, 0).test("HB", "F").line("OBX|1|ST|HB-1^Hemoglobin^L||RESULTS TO FOLLOW||||||F").line("NTE|1||Sent to another laboratory").send()
		// Words with a critical flag stay a result.
		critical := c.placed(addOnOnly(`"GLU"`))
		c.report(critical, 0).test("GLU", "F").line("OBX|1|ST|GLU-1^Glucose^L||SEE NOTE|mg/dL|70-99|HH|||F").line("NTE|1||Over 900, called").send()
		c.until(critical.ID, "completed.walk_in_test.completed")
		c.wantShown(critical.ID, "GLU-1=SEE NOTE critical final")
		c.until(waits.ID, "received.walk_in_test.requisition_created")
		c.wantValues(waits.ID)
	})
}

// warnings waits for the results of an order, and lists their warnings.
func (c *certification) warnings(order string) (all []string) {
	c.t.Helper()
	for _, w := range c.view(order).Warnings {
		all = append(all, w.Code)
		if w.Message == "" {
			c.t.Errorf("the warning %s has no message", w.Code)
		}
	}
	return all
}

// onePage returns a PDF with one page.
func onePage(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	var at []int
	b.WriteString("%PDF-1.4\n")
	for i, object := range []string{"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>", "<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>"} {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	end := b.Len()
	b.WriteString("xref\n0 4\n0000000000 65535 f \n")
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer\n<</Size 4/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", end)
	return b.Bytes()
}

// Two documents of a message are joined. A damaged document is refused with a warning,
// and the report that Hale prints replaces it.
func (c *certification) testDocuments() {
	c.t.Helper()
	document := func(content []byte) string { return base64.StdEncoding.EncodeToString(content) }
	pdf := onePage(c.t)
	other := bytes.Replace(pdf, []byte("200 200"), []byte("300 300"), 1)
	o := c.placed(addOnOnly(`"HB"`))
	c.report(o, 0).test("HB", "F").line("OBX|1|NM|HB-1^Hemoglobin^L||13.1|g/dL|12-16||||F").
		line("OBX|2|ED|PDF^Report^L||^application^pdf^Base64^%s||||||F", document(pdf)).
		line("OBX|3|ED|PDF^Report^L||^application^pdf^Base64^%s||||||F", document(other)).send()
	c.until(o.ID, "completed.walk_in_test.completed")
	if _, got := c.Call("GET", "/v3/order/"+o.ID+"/result/pdf", ""); c.pages(got) != 2 {
		c.t.Errorf("the document has %d pages", c.pages(got))
	}
	if w := c.warnings(o.ID); w != nil {
		c.t.Errorf("warnings %v", w)
	}
	for name, text := range map[string]string{
		"bad_encoding": "JVBERi0x*not base64*", "not_pdf": document([]byte("<html>no report</html>")), "cut_off": document(pdf[:len(pdf)-30]),
		"damaged": document([]byte("%PDF-1.4\nnothing\n%%EOF\n")),
	} {
		o := c.placed(addOnOnly(`"HB"`))
		c.report(o, 0).test("HB", "F").line("OBX|1|NM|HB-1^Hemoglobin^L||13.1|g/dL|12-16||||F").
			line("OBX|2|ED|PDF^Report^L||^application^pdf^Base64^%s||||||F", text).send()
		c.until(o.ID, "completed.walk_in_test.completed")
		c.wantShown(o.ID, "HB-1=13.1 normal final")
		v := c.view(o.ID)
		if len(v.Warnings) != 1 || v.Warnings[0].Code != "document_refused" || *v.Warnings[0].Detail != name {
			c.t.Errorf("%s: warnings %+v", name, v.Warnings)
		}
		if status, got := c.Call("GET", "/v3/order/"+o.ID+"/result/pdf", ""); status != 200 || c.pages(got) < 1 {
			c.t.Errorf("%s: the document was answered %d", name, status)
		}
	}
}

// pages counts the pages of a document; 0 if it cannot be read.
func (c *certification) pages(document []byte) int {
	c.t.Helper()
	n, err := api.PageCount(bytes.NewReader(document), nil)
	if err != nil {
		return 0
	}
	return n
}

// Each test of a message has its own specimen.
func (c *certification) testSpecimens() {
	c.t.Helper()
	o := c.placed(addOnOnly(`"GLU","UC"`))
	r := c.report(o, 0)
	blood, urine := r.charted, r.charted.Add(-time.Hour)
	r.test("GLU", "F").line("OBX|1|NM|GLU-1^Glucose^L||91|mg/dL|70-99||||F").line("SPM|1|SB-%s||SER^Serum^HL70487|||||||||||||%s", o.ID[:8], hl7Time(blood))
	r.charted = urine
	r.test("UC", "F").line("OBX|1|ST|UC-1^Urine culture^L||No growth||||||F").line("SPM|2|SU-%s||UR^Urine^HL70487|||||||||||||%s", o.ID[:8], hl7Time(urine)).send()
	c.until(o.ID, "completed.walk_in_test.completed")
	v := c.view(o.ID)
	for _, r := range v.Results {
		want, at, kind := "SB-"+o.ID[:8], blood, "Serum"
		if r.ProviderID == "UC-1" {
			want, at, kind = "SU-"+o.ID[:8], urine, "Urine"
		}
		s := v.Samples[r.SampleID]
		if r.SampleID != want || s.Type != kind || s.Collected == nil || !strings.HasPrefix(s.Collected.Timestamp, at.UTC().Format("2006-01-02T15:04:05")) {
			c.t.Errorf("%s is of the specimen %s: %+v, want %s", r.ProviderID, r.SampleID, s, want)
		}
	}
	if len(v.Samples) != 2 {
		c.t.Errorf("%d specimens", len(v.Samples))
	}
}

// An impossible time of collection causes a warning, and results do not show it.
func (c *certification) testTimes() {
	c.t.Helper()
	for want, at := range map[string]time.Time{
		"collected_after_receipt":     time.Now().Add(48 * time.Hour),
		"collected_before_birth":      time.Date(1980, 1, 2, 8, 0, 0, 0, time.UTC),
		"collected_long_before_order": time.Now().AddDate(-3, 0, 0),
	} {
		o := c.placed(addOnOnly(`"HB"`))
		r := c.report(o, 0)
		r.charted = at
		r.test("HB", "F").line("OBX|1|NM|HB-1^Hemoglobin^L||13.1|g/dL|12-16||||F").send()
		c.until(o.ID, "completed.walk_in_test.completed")
		c.wantShown(o.ID, "HB-1=13.1 normal final")
		v := c.view(o.ID)
		if w := c.warnings(o.ID); !slices.Equal(w, []string{want}) || v.Results[0].Timestamp != nil {
			c.t.Errorf("%s: warnings %v, observed %v", want, w, v.Results[0].Timestamp)
		}
		for _, s := range v.Samples {
			if s.Collected != nil {
				c.t.Errorf("%s: collected %v", want, s.Collected)
			}
		}
	}
}

// A critical value that is not final comes after a final one. Of two final values of one
// time, the one that was sent later counts.
func (c *certification) testNewerReading() {
	c.t.Helper()
	o := c.placed(addOnOnly(`"GLU"`))
	c.report(o, 0).test("GLU", "F").line("OBX|1|NM|GLU-1^Glucose^L||91|mg/dL|70-99||||F").send()
	c.until(o.ID, "completed.walk_in_test.completed")
	c.report(o, 5).test("GLU", "P").line("OBX|1|NM|GLU-1^Glucose^L||612|mg/dL|70-99|HH|||P").send()
	c.wantShown(o.ID, "GLU-1=612 critical preliminary")
	if p := c.view(o.ID).Results[0].Previous; p == nil || p.Result != "91" || p.Status != "final" {
		c.t.Errorf("the previous value is %+v", p)
	}
	var notices struct {
		Data []struct {
			OrderID string `json:"order_id"`
		} `json:"data"`
	}
	c.eventually(func() bool {
		c.Get("/v3/critical_result", &notices)
		return len(notices.Data) == 1 && notices.Data[0].OrderID == o.ID
	}, "the critical value raised no notice")
	c.until(o.ID, "completed.walk_in_test.corrected")

	both := c.placed(addOnOnly(`"GLU"`))
	r := c.report(both, 0)
	r.test("GLU", "F").line("OBX|1|NM|GLU-1^Glucose^L||91|mg/dL|70-99||||F|||%s", hl7Time(r.charted)).
		line("OBX|2|NM|GLU-1^Glucose^L||612|mg/dL|70-99|HH|||P|||%s", hl7Time(r.at)).send()
	c.wantShown(both.ID, "GLU-1=612 critical preliminary", "GLU-1=91 normal final")

	repeated := c.placed(addOnOnly(`"GLU"`))
	c.report(repeated, 0).test("GLU", "F").line("OBX|1|NM|GLU-1^Glucose^L||91~612|mg/dL|70-99||||F").send()
	c.wantShown(repeated.ID, "GLU-1=612 critical final", "GLU-1=91 normal final")

	twice := c.placed(addOnOnly(`"HB"`))
	later := c.report(twice, 0)
	later.sent = later.sent.Add(time.Minute)
	later.test("HB", "F").line("OBX|1|NM|HB-1^Hemoglobin^L||13.2|g/dL|12-16||||F").send()
	c.until(twice.ID, "completed.walk_in_test.completed")
	earlier := c.report(twice, 0)
	earlier.at, earlier.charted, earlier.sent = later.at, later.charted, later.at
	earlier.test("HB", "F").line("OBX|1|NM|HB-1^Hemoglobin^L||13.1|g/dL|12-16||||F").send()
	c.wantShown(twice.ID, "HB-1=13.2 normal corrected")
}

// Decimal commas of a European laboratory.
func (c *certification) testDecimalComma() {
	c.t.Helper()
	o := c.placed(addOnOnly(`"GLU","HB"`))
	c.report(o, 0).test("GLU", "F").line("OBX|1|NM|GLU-1^Glucose^L||4,000|mmol/L|3,9-5,5||||F").
		test("HB", "F").line("OBX|1|NM|HB-1^Hemoglobin^L||11,2|g/dL|12,0-16,0||||F").send()
	c.until(o.ID, "completed.walk_in_test.completed")
	c.wantShown(o.ID, "GLU-1=4.000 normal final", "HB-1=11.2 abnormal final")
}
