package app_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/pdfcpu/pdfcpu/pkg/api"

	"hale/internal/labs/networks/networktest"
	"hale/internal/platform/store/storetest"
)

// pdf gets a document, which must be one, and says how many pages it has.
func (c *clinic) pdf(path, name string) (pages int) {
	c.t.Helper()
	res := c.Do("GET", path, "")
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "application/pdf" {
		c.t.Fatalf("GET %s was answered %d %s: %.300s", path, res.StatusCode, res.Header.Get("Content-Type"), body)
	}
	if got := res.Header.Get("Content-Disposition"); name != "" && got != `inline; filename="`+name+`.pdf"` {
		c.t.Errorf("%s is to be named %s", path, got)
	}
	if err := api.Validate(bytes.NewReader(body), nil); err != nil {
		c.t.Fatalf("%s: %v", path, err)
	}
	pages, err = api.PageCount(bytes.NewReader(body), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	return pages
}

// The documents of an order come with its requisition, and the address of the
// requisition opens it for a week, without a key.
func TestDocumentsOfAnOrder(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := newClinic(t, d, &networktest.Lab{})
		c.lab.Fail(0)
		o := c.order("walk_in_test")
		base := "/v3/order/" + o.ID
		c.until(o.ID, "received.walk_in_test.requisition_created")
		c.pdf(base+"/requisition/pdf", "requisition-"+o.ID)
		c.pdf(base+"/collection_instruction_pdf", "collection-instructions-"+o.ID)
		c.pdf("/v3/lab_test/"+c.tests["testkit"]+"/collection_instruction_pdf", "collection-instructions-"+c.tests["testkit"])
		if n := c.pdf(base+"/labels/pdf?collection_date=2026-03-05", "labels-"+o.ID); n != 3 {
			t.Errorf("%d labels, and 3 are the default", n)
		}
		for _, day := range []string{"2026-03-05T08:00:00Z", "2026-03-05T08:00:00-07:00", "2026-03-05T08:00:00"} {
			if n := c.pdf(base+"/labels/pdf?number_of_labels=5&collection_date="+url.QueryEscape(day), ""); n != 5 {
				t.Errorf("%d labels of 5", n)
			}
		}
		for _, query := range []string{"", "?collection_date=soon", "?number_of_labels=0&collection_date=2026-03-05", "?number_of_labels=101&collection_date=2026-03-05"} {
			c.Expect(422, "GET", base+"/labels/pdf"+query, "", nil)
		}
		c.Expect(404, "GET", base+"/abn_pdf", "", nil)
		(&clinic{Service: c.NewTeam("Others"), t: t}).Expect(404, "GET", base+"/requisition/pdf", "", nil)
		c.links(o.ID)
	})
}

func (c *clinic) links(order string) {
	c.t.Helper()
	var body struct {
		RequisitionFormURL string `json:"requisition_form_url"`
	}
	c.Get("/v3/order/"+order, &body)
	if !strings.HasPrefix(body.RequisitionFormURL, c.URL()+"/v3/requisition_form?token=") || strings.Contains(body.RequisitionFormURL, order) {
		c.t.Fatalf("requisition_form_url is %q", body.RequisitionFormURL)
	}
	get := func(address string) (int, []byte) {
		res, text := c.open(address)
		return res.StatusCode, text
	}
	status, text := get(body.RequisitionFormURL)
	if status != http.StatusOK || !bytes.HasPrefix(text, []byte("%PDF-")) {
		c.t.Errorf("the link was answered %d: %.200s", status, text)
	}
	_, own := c.Call("GET", "/v3/order/"+order+"/requisition/pdf", "")
	if !bytes.Equal(text, own) {
		c.t.Error("the link and the operation give different documents")
	}
	token := body.RequisitionFormURL[strings.IndexByte(body.RequisitionFormURL, '=')+1:]
	changed := "A" + token[1:]
	if changed == token {
		changed = "B" + token[1:]
	}
	for _, wrong := range []string{"", changed, token[:40], token + "AAAA", "%00"} {
		if status, text := get(c.URL() + "/v3/requisition_form?token=" + wrong); status != http.StatusNotFound && status != http.StatusUnprocessableEntity {
			c.t.Errorf("a wrong link was answered %d: %.200s", status, text)
		}
	}
}

// The link of a cancelled order answers with a page that says so. The team's
// requisition says it too, and labels are refused.
func TestDocumentsOfACancelledOrder(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := newClinic(t, d, &networktest.Lab{})
		o := c.order("walk_in_test")
		c.until(o.ID, "received.walk_in_test.requisition_created")
		var body struct {
			RequisitionFormURL *string `json:"requisition_form_url"`
		}
		c.Get("/v3/order/"+o.ID, &body)
		link := *body.RequisitionFormURL
		c.Expect(200, "POST", "/v3/order/"+o.ID+"/cancel", "", nil)
		c.Get("/v3/order/"+o.ID, &body)
		if body.RequisitionFormURL != nil {
			t.Errorf("a cancelled order has the address %q", *body.RequisitionFormURL)
		}
		res, text := c.open(link)
		if h := res.Header; res.StatusCode != http.StatusGone || !bytes.Contains(text, []byte("This order was cancelled")) || bytes.Contains(text, []byte("Byron")) ||
			!strings.HasPrefix(h.Get("Content-Type"), "text/html") || h.Get("Cache-Control") != "private, no-store" || h.Get("Content-Security-Policy") == "" {
			t.Errorf("the link was answered %d %v: %s", res.StatusCode, res.Header, text)
		}
		c.pdf("/v3/order/"+o.ID+"/requisition/pdf", "requisition-"+o.ID)
		c.Expect(400, "GET", "/v3/order/"+o.ID+"/labels/pdf?collection_date=2026-03-05", "", nil)
	})
}

// The link of a deleted user answers like an unknown link, and works again for a user who is
// restored.
func TestTheLinkOfADeletedUser(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := newClinic(t, d, &networktest.Lab{})
		o := c.order("walk_in_test")
		c.until(o.ID, "received.walk_in_test.requisition_created")
		var body struct {
			UserID             string `json:"user_id"`
			RequisitionFormURL string `json:"requisition_form_url"`
		}
		c.Get("/v3/order/"+o.ID, &body)
		_, unknown := c.open(c.URL() + "/v3/requisition_form?token=AAAA")
		c.Expect(200, "DELETE", "/v2/user/"+body.UserID, "", nil)
		if res, text := c.open(body.RequisitionFormURL); res.StatusCode != http.StatusNotFound || !bytes.Equal(text, unknown) {
			t.Errorf("of a deleted user: %d %.200s, an unknown link has %.200s", res.StatusCode, text, unknown)
		}
		c.Expect(200, "POST", "/v2/user/undo_delete?user_id="+body.UserID, "", nil)
		if res, text := c.open(body.RequisitionFormURL); res.StatusCode != http.StatusOK {
			t.Errorf("of a restored user: %d %.200s", res.StatusCode, text)
		}
	})
}

// A team ends the links of an order: each answers like an unknown link from then on. The
// order has a new version, which shows a new link, and an event says so.
func TestRevokedLinks(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := newClinic(t, d, &networktest.Lab{})
		o := c.order("walk_in_test")
		c.until(o.ID, "received.walk_in_test.requisition_created")
		path := "/v3/order/" + o.ID
		ask := func(method, path string, headers ...string) (taggedAnswer, string) {
			t.Helper()
			answer := askTagged(t, c.Service, method, path, "", headers...)
			var body struct {
				URL   string `json:"requisition_form_url"`
				Order struct {
					URL string `json:"requisition_form_url"`
				} `json:"order"`
			}
			if answer.status == http.StatusOK {
				if err := json.Unmarshal([]byte(answer.body), &body); err != nil {
					t.Fatal(err)
				}
			}
			return answer, cmp.Or(body.URL, body.Order.URL)
		}
		unknown, unknownText := c.open(c.URL() + "/v3/requisition_form?token=AAAA")
		check := func(what, link string, works bool) {
			t.Helper()
			res, text := c.open(link)
			if works && (res.StatusCode != http.StatusOK || !bytes.HasPrefix(text, []byte("%PDF-"))) {
				t.Errorf("%s: %d %.200s", what, res.StatusCode, text)
			}
			if !works && (res.StatusCode != http.StatusNotFound || !bytes.Equal(text, unknownText) || !sameNames(res.Header, unknown.Header)) {
				t.Errorf("%s: %d %v %.200s, an unknown link has %v %.200s", what, res.StatusCode, res.Header, text, unknown.Header, unknownText)
			}
		}
		before, first := ask("GET", path)
		check("the first link", first, true)

		refused, _ := ask("DELETE", path+"/requisition_link", "If-Match", `"another"`)
		refused.want(t, 412, preconditionFailed)
		check("after a refused revocation", first, true)
		(&clinic{Service: c.NewTeam("Others"), t: t}).Expect(404, "DELETE", path+"/requisition_link", "", nil)
		c.Expect(404, "DELETE", "/v3/order/00000000-0000-4000-8000-000000000000/requisition_link", "", nil)
		check("after a revocation by another team", first, true)

		revoked, second := ask("DELETE", path+"/requisition_link", "If-Match", before.tag)
		revoked.want(t, 200, "requisition links revoked")
		check("the first link after the revocation", first, false)
		check("the link in the answer", second, true)
		after, third := ask("GET", path, "If-None-Match", before.tag)
		after.want(t, 200)
		check("a link of a later read", third, true)
		if after.tag == before.tag || after.tag != revoked.tag {
			t.Errorf("the tag was %s, the answer has %s, a later read %s", before.tag, revoked.tag, after.tag)
		}
		event := ""
		c.eventually(func() bool { // the feed has an event a moment after its commit
			var page struct{ Events []feedEvent }
			c.Get("/v2/events?limit=1000&types=labtest.order.updated", &page)
			event, _ = page.Events[len(page.Events)-1].Event.Data["requisition_form_url"].(string)
			res, _ := c.open(event)
			return res.StatusCode == http.StatusOK
		}, "the link of the last event does not work")

		again, _ := ask("DELETE", path+"/requisition_link")
		again.want(t, 200, "requisition links revoked")
		for _, link := range []string{first, second, third, event} {
			check("after the second revocation", link, false)
		}
		_, last := ask("GET", path)
		check("a link after both revocations", last, true)

		// The page about a cancelled order ends with the links, too.
		c.Expect(200, "POST", path+"/cancel", "", nil)
		if res, _ := c.open(last); res.StatusCode != http.StatusGone {
			t.Errorf("the link of the cancelled order was answered %d", res.StatusCode)
		}
		cancelled, link := ask("DELETE", path+"/requisition_link")
		cancelled.want(t, 200, "requisition links revoked")
		if link != "" {
			t.Errorf("the cancelled order has the link %s", link)
		}
		check("the link of the cancelled order after its revocation", last, false)
	})
}

// sameNames reports whether two answers have headers of the same names.
func sameNames(a, b http.Header) bool {
	return slices.Equal(slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b)))
}

// open requests an address without a key.
func (c *clinic) open(address string) (*http.Response, []byte) {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		c.t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return res, text
}

// An imported order has no requisition, however far it gets; another team's
// order has nothing at all.
func TestImportedOrdersHaveNoRequisition(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := newClinic(t, d, &networktest.Lab{})
		var made struct{ Order orderView }
		c.Expect(200, "POST", "/v3/order/import", `{"user_id":"`+c.user+`","billing_type":"client_bill","order_set":{"lab_test_ids":["`+c.tests["walk_in_test"]+`"]},
			"collection_method":"walk_in_test","patient_details":`+aPatient+`,"patient_address":`+anAddress+`,"sample_id":"CONTROL-1"}`, &made)
		base := "/v3/order/" + made.Order.ID
		c.Expect(404, "GET", base+"/requisition/pdf", "", nil)
		c.pdf(base+"/labels/pdf?collection_date=2026-03-05", "")
		c.reportStatus(made.Order.ID, "completed", "completed.walk_in_test.completed")
		c.Expect(404, "GET", base+"/requisition/pdf", "", nil)
		var body struct {
			RequisitionFormURL *string `json:"requisition_form_url"`
		}
		c.Get(base, &body)
		if body.RequisitionFormURL != nil {
			t.Errorf("an imported order has the address %q", *body.RequisitionFormURL)
		}
		other := &clinic{Service: c.NewTeam("Others"), t: t}
		for _, path := range []string{"/requisition/pdf", "/labels/pdf?collection_date=2026-03-05", "/abn_pdf", "/collection_instruction_pdf"} {
			other.Expect(404, "GET", base+path, "", nil)
		}
		other.Expect(404, "GET", "/v3/lab_test/"+c.tests["testkit"]+"/collection_instruction_pdf", "", nil)
	})
}

// An order has a notice when Medicare may not pay, and when the lab requires
// one. In the first case the order shows it from the beginning. In the second
// case it shows it after the lab's receipt.
func TestNoticeOfAnOrder(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := newClinic(t, d, &networktest.Lab{})
		c.Expect(200, "PATCH", "/v2/user/"+c.user+"/info", aPerson, nil)
		c.Expect(200, "POST", "/v2/user/"+c.user+"/insurance", anInsurance("MEDFED"), nil)
		hasABN := func(id string) (has bool) {
			c.Get("/v3/order/"+id, &struct {
				HasABN *bool `json:"has_abn"`
			}{&has})
			return has
		}
		insured := func(icd string) orderView {
			var made struct{ Order orderView }
			body := strings.TrimSuffix(c.body("walk_in_test"), "}") + `,"billing_type":"commercial_insurance","icd_codes":` + icd + `}`
			c.Expect(200, "POST", "/v3/order", body, &made)
			return made.Order
		}
		o := insured(`["N40.1"]`)
		if !hasABN(o.ID) {
			t.Error("an order that Medicare may not pay for has no notice")
		}
		c.pdf("/v3/order/"+o.ID+"/abn_pdf", "abn-"+o.ID)
		if o := insured(`["E78.5","E03.9"]`); hasABN(o.ID) {
			t.Error("a supported order has a notice")
		}
		c.lab.WantNotices(true)
		o = c.order("walk_in_test")
		c.until(o.ID, "received.walk_in_test.requisition_created")
		if !hasABN(o.ID) {
			t.Error("the lab wants a notice, and there is none")
		}
		c.pdf("/v3/order/"+o.ID+"/abn_pdf", "abn-"+o.ID)
	})
}

const aPerson = `{"first_name":"Ada","last_name":"Byron","email":"ada@example.org","phone_number":"+14155550132","gender":"female","dob":"1950-12-10",
	"address":{"first_line":"1 Main Street","city":"Phoenix","state":"AZ","zip":"85004","country":"US"}}`

func anInsurance(payor string) string {
	return `{"payor_code":"` + payor + `","member_id":"M-1","relationship":"Self","is_primary":true,"insured":{"first_name":"Ada","last_name":"Byron",
		"gender":"female","dob":"1950-12-10","email":"ada@example.org","phone_number":"+14155550132",
		"address":{"first_line":"1 Main Street","city":"Phoenix","state":"AZ","zip":"85004","country":"US"}}}`
}
