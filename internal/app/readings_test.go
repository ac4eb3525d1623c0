package app_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hale/internal/platform/store/storetest"
)

// obr begins a test with its parent result (OBR-26).
func (r *report) obr(code, status, parent string) *report {
	r.test(code, status)
	r.lines[len(r.lines)-1] += "|" + parent
	return r
}

// glucose adds a value with its time (OBX-14).
func (r *report) glucose(value, flag, status string, at time.Time) *report {
	return r.line("OBX|1|NM|GLU-1^Glucose^L||%s|mg/dL|70-99|%s|||%s|||%s", value, flag, status, hl7Time(at))
}

func (c *certification) notices(order string) (n int) {
	var all struct {
		Data []struct {
			OrderID string `json:"order_id"`
		} `json:"data"`
	}
	c.Get("/v3/critical_result", &all)
	for _, one := range all.Data {
		if one.OrderID == order {
			n++
		}
	}
	return n
}

// A laboratory reports one code several times: at several times, for several
// organisms and specimens.
func TestSeveralValuesOfOneCode(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := certify(t, d, overMLLP(t))
		o := c.placed(addOnOnly(`"GLU"`))
		first := c.report(o, 0)
		eight, ten := first.charted, first.charted.Add(time.Hour)
		first.test("GLU", "F").glucose("88", "N", "F", eight).glucose("543", "HH", "F", ten).send()
		c.until(o.ID, "completed.walk_in_test.completed")
		c.report(o, 30).test("GLU", "C").glucose("39", "LL", "C", eight).send()
		c.wantShown(o.ID, "GLU-1=39 critical corrected", "GLU-1=543 critical final")
		for _, r := range c.view(o.ID).Results {
			if r.Result == "39" && (r.Previous == nil || r.Previous.Result != "88") {
				t.Errorf("the value before the correction is %+v", r.Previous)
			}
		}
		if n := c.notices(o.ID); n != 2 {
			t.Errorf("%d notices", n)
		}
		c.report(o, 60).test("GLU", "C").glucose("", "", "W", ten).line("NTE|1||Wrong patient").send()
		c.wantShown(o.ID, "GLU-1 missing unknown_failure", "GLU-1=39 critical corrected")
		if note := c.view(o.ID).Missing[0].Note; note == nil || !strings.Contains(*note, "Wrong patient") {
			t.Errorf("the note is %v", note)
		}

		c.testOrganisms()
		c.testBrokenBottle()
		c.testFutureReport()
		c.testAnnouncedTest()
	})
}

// A susceptibility is that of its organism.
func (c *certification) testOrganisms() {
	c.t.Helper()
	o := c.placed(addOnOnly(`"UC"`))
	c.report(o, 0).test("UC", "F").line("OBX|1|ST|UC-1^Urine culture^L|1|Escherichia coli||||||F").line("OBX|2|ST|UC-1^Urine culture^L|2|Staphylococcus aureus||||||F").
		obr("SUSC", "F", "UC-1&Urine culture^2").line("OBX|1|NM|VAN^Vancomycin^L||16|ug/mL||R|||F").send()
	c.until(o.ID, "completed.walk_in_test.completed")
	c.report(o, 5).obr("SUSC", "F", "UC-1&Urine culture^1").line("OBX|1|NM|VAN^Vancomycin^L||1|ug/mL||S|||F").send()
	c.wantShown(o.ID, "UC-1=Escherichia coli unknown final", "UC-1=Staphylococcus aureus unknown final", "VAN=1 normal final", "VAN=16 abnormal final")
	for _, r := range c.view(o.ID).Results {
		want := map[string]string{"1": "Urine culture: Escherichia coli", "16": "Urine culture: Staphylococcus aureus"}[r.Result]
		if want != "" && (r.Notes == nil || *r.Notes != want) {
			c.t.Errorf("the note of %s is not %q", r.Result, want)
		}
	}
}

// The second of two bottles broke: its test is missing beside the value of the first.
func (c *certification) testBrokenBottle() {
	c.t.Helper()
	o := c.placed(addOnOnly(`"GLU"`))
	r := c.report(o, 0)
	r.test("GLU", "F").glucose("91", "N", "F", r.charted).line("SPM|1|B1||SER").
		test("GLU", "F").glucose("", "", "X", r.charted).line("NTE|1||Bottle broken in transit").line("SPM|2|B2||SER").send()
	c.until(o.ID, "completed.walk_in_test.completed")
	c.wantShown(o.ID, "GLU-1 missing drop_off_failure", "GLU-1=91 normal final")
	v := c.view(o.ID)
	if note := v.Missing[0].Note; note == nil || *note != "Bottle broken in transit" || v.Missing[0].SampleID != "B2" {
		c.t.Errorf("%+v", v.Missing)
	}
	if code, fhir := c.Call("GET", "/v3/order/"+o.ID+"/fhir", ""); code != 200 || !strings.Contains(string(fhir), "Bottle broken in transit") {
		c.t.Errorf("FHIR does not have the note: %d", code)
	}
}

// A report with a time in the future does not hide a later critical value.
func (c *certification) testFutureReport() {
	c.t.Helper()
	o := c.placed(addOnOnly(`"GLU"`))
	r := c.report(o, 0)
	r.at = time.Now().AddDate(9, 0, 0)
	r.sent, r.charted = r.at, r.at.Add(-time.Hour)
	r.test("GLU", "F").line("OBX|1|NM|GLU-1^Glucose^L||91|mg/dL|70-99||||F").send()
	c.until(o.ID, "completed.walk_in_test.completed")
	c.report(o, 0).test("GLU", "F").line("OBX|1|NM|GLU-1^Glucose^L||543|mg/dL|70-99|HH|||F").send()
	c.wantShown(o.ID, "GLU-1=543 critical corrected")
	if w := c.warnings(o.ID); !slices.Contains(w, "reported_after_receipt") {
		c.t.Errorf("warnings %q", w)
	}
	if n := c.notices(o.ID); n != 1 {
		c.t.Errorf("%d notices", n)
	}
}

// A report of a reflex test alone needs no review, if the laboratory announced it.
func (c *certification) testAnnouncedTest() {
	c.t.Helper()
	for _, pending := range []string{"", "OBX|1|ST|FT4-1^Free T4^L||PENDING||||||I"} {
		o := c.placed(addOnOnly(`"HB"`))
		r := c.report(o, 0).test("HB", "F").line("OBX|1|NM|HB-1^Hemoglobin^L||13.1|g/dL|12-16||||F").test("FT4", "I")
		if pending != "" {
			r.line("%s", pending)
		}
		r.send()
		c.until(o.ID, "sample_with_lab.walk_in_test.partial_results")
		later := c.report(o, 5).test("FT4", "F").line("OBX|1|NM|FT4-1^Free T4^L||1.1|ng/dL||N|||F")
		later.lines[0] = strings.Replace(later.lines[0], "|"+o.ID+"|", "||", 1) + "|HB-1^1|||" + o.ID
		later.send()
		c.until(o.ID, "completed.walk_in_test.completed")
		c.wantShown(o.ID, "FT4-1=1.1 normal final", "HB-1=13.1 normal final")
	}
}
