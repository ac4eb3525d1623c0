package apitest

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"hale/internal/app"
	"hale/internal/app/apptest"
	"hale/internal/harness/testpartner"
	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/networks/networktest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

const kitCompendium = `{
	"lab": {"slug":"care_lab","name":"Care Laboratory","address":"1 Example Way","city":"Nowhere","zip":"85004",
		"methods":["testkit"],"sample_types":["serum"],"states":["AZ"],"billings":["client_bill"]},
	"markers": [{"provider_id":"GLU","name":"Glucose","methods":["testkit"],"expected_results":[{"provider_id":"GLU-1","loinc":"2345-7"}]}]
}`

// startProduction starts a production team whose laboratory leaves kits to a partner.
func startProduction(t *testing.T) (*service, *testpartner.Partner) {
	t.Helper()
	partner := &testpartner.Partner{Name: "acme", Secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="}
	url := partner.Open()
	t.Cleanup(partner.Close)
	secret, settings := filepath.Join(t.TempDir(), "secret"), filepath.Join(t.TempDir(), "networks.yaml")
	for name, text := range map[string]string{
		secret:   partner.Secret + "\n",
		settings: fmt.Sprintf("networks:\n  fulfilment:\n    partners:\n      acme: {url: %q, secret_file: %q, kits: true}\n", url, secret),
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := &service{promises: loadContractCheck(t), Service: apptest.StartWith(t, storetest.NewSQLite(t), func(o *app.Options) {
		o.Config.Environment, o.Config.Networks = string(teams.Production), settings
		o.Networks = []networks.Network{&networktest.Lab{Name: "hl7v2"}}
	})}
	s.doc = parseDocument(t, s.requestOK(t, "GET", "/openapi.json", ""))
	compendium, err := catalogue.ReadJSON([]byte(kitCompendium))
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, func(ctx context.Context, tx *store.Tx) error {
		if _, err := catalogue.Import(ctx, tx, compendium.Lab.Slug, compendium.Lab, compendium, true); err != nil {
			return err
		}
		c, err := catalogue.Load(ctx, tx, s.First.Team.ID)
		if err != nil {
			return err
		}
		lab, _ := c.LabBySlug("care_lab")
		_, err = catalogue.AddAccount(ctx, tx, catalogue.NewAccount{
			Lab: lab.ID, Number: "44120", Status: catalogue.AccountActive, Flow: catalogue.NotDelegated,
			AllowedBilling: map[catalogue.Billing][]string{catalogue.ClientBill: {"AZ"}},
		})
		return err
	})
	return s, partner
}

// orderKit creates an order of a kit that the lab has accepted.
func (s *service) orderKit(t *testing.T) (order string) {
	t.Helper()
	user := s.requestField(t, "POST", "/v2/user", `{"client_user_id":"`+newUserName()+`"}`, "user_id")
	made := s.requestObject(t, "POST", "/v3/order", fmt.Sprintf(`{"user_id":%q,"order_set":{"add_on":{"provider_ids":["GLU"]}},"collection_method":"testkit",%s}`, user, orderPeople))
	order = made["order"].(map[string]any)["id"].(string)
	waitUntil(t, "the requisition", func() bool {
		last := s.requestObject(t, "GET", "/v3/order/"+order, "")["last_event"].(map[string]any)
		return strings.HasSuffix(last["status"].(string), ".requisition_created")
	})
	return order
}

// kitSent has the fields of a report about a sent kit. A partner also names the order.
const kitSent = `"status":"transit_customer","shipment":{"direction":"outbound","courier":"USPS","tracking_number":"9400"}`

// fulfilmentRequest returns the report about a new kit, by staff or signed by a partner.
func (s *service) fulfilmentRequest(t *testing.T, o operation, partner *testpartner.Partner) request {
	t.Helper()
	order := s.orderKit(t)
	r := request{method: http.MethodPost, headers: map[string]string{"content-type": "application/json"}}
	if strings.Contains(o.Path, "{order_id}") {
		r.path, r.body = o.fill(map[string]string{"order_id": order}), []byte("{"+kitSent+"}")
		return r
	}
	r.path, r.body = o.fill(map[string]string{"partner": partner.Name}), []byte(`{"order_id":"`+order+`",`+kitSent+`}`)
	at := strconv.FormatInt(time.Now().Unix(), 10)
	r.headers["webhook-id"], r.headers["webhook-timestamp"], r.headers["webhook-signature"] = "report-1", at, partner.Sign("report-1", at, r.body)
	return r
}
