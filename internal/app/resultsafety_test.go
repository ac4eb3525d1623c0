package app_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hale/internal/platform/store/storetest"
)

// report is a result message that a test writes line by line.
type report struct {
	c       *certification
	order   orderView
	at      time.Time // OBR-22
	lines   []string
	charted time.Time // OBR-7
}

func (c *certification) report(o orderView, minutes int) *report {
	at := time.Now().Add(time.Duration(minutes)*time.Minute - 3*time.Hour)
	return &report{c: c, order: o, at: at, charted: at.Add(-2 * time.Hour)}
}

func hl7Time(at time.Time) string { return at.UTC().Format("20060102150405") + "+0000" }

// test begins a test with its status (OBR-25).
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
	head := fmt.Sprintf("MSH|^~\\&|NLIS|NORTH|HALE||%s||ORU^R01^ORU_R01|S%d|P|2.5.1\rPID|1||P-77||Byron^Ada||19841210|F\r", hl7Time(r.at), time.Now().UnixNano())
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
		Previous       *struct{ Result, Status, Interpretation string }
	}
	Missing []struct {
		ProviderID string `json:"provider_id"`
		Failure    string `json:"inferred_failure_type"`
		Note       *string
	} `json:"missing_results"`
}

func (c *certification) view(order string) (v resultView) {
	c.t.Helper()
	c.Get("/v3/order/"+order+"/result", &v)
	return v
}

// shown describes values and missing results.
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
	for deadline := time.Now().Add(20 * time.Second); !slices.Equal(got, want) && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if status, _ := c.Call("GET", "/v3/order/"+order+"/result", ""); status == 200 {
			got = c.view(order).shown()
		}
	}
	if !slices.Equal(got, want) {
		c.t.Errorf("%q, want %q", got, want)
	}
}

// Words in place of a value are no result: most are a missing result, some mean
// that the value is still to come.
func TestWordsInPlaceOfAValue(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := certify(t, d, overMLLP(t))
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

		// A report in which every value is still to come changes nothing.
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
