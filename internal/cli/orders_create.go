package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"hale/internal/cli/client"
	"hale/internal/labs/catalogue"
	"hale/internal/platform/fault"
)

func (s *shell) ordersCreate() *cobra.Command {
	var user, test, method string
	c := &cobra.Command{
		Use: "create", Short: "order a lab test for a user",
		Long: `Order a lab test for a user. The patient details are the demographics of the user.
If a user of a sandbox team has none, the order has invented patient details, and
the output says so. hale docs ordering describes the other fields of an order, which
the API accepts.`,
		Example: examples("hale orders create --user anna --test annual-check", "hale orders create --user anna --test home-health-kit -o id"),
		Args:    wantArgs(),

		Annotations: map[string]string{"collection_method": "--method", "lab_test_ids": "--test"},
		RunE: func(c *cobra.Command, _ []string) error {
			if user == "" || test == "" {
				return withHint(badUsagef("needs --user and --test"), "hale catalog tests lists the lab tests")
			}
			_, userID, err := s.findUser(c.Context(), user)
			if err != nil {
				return err
			}
			testID, err := s.findLabTest(c.Context(), test)
			if err != nil {
				return err
			}
			p, err := s.patient(c.Context(), userID)
			if err != nil {
				return err
			}
			return s.createOrder(c.Context(), userID, testID, method, p)
		},
	}
	flags := c.Flags()
	flags.StringVar(&user, "user", "", "the patient: user_id or client_user_id")
	flags.StringVar(&test, "test", "", "the lab test: id or slug")
	flags.StringVar(&method, "method", "", "collection method; without it, that of the lab test")
	return c
}

// patient holds the patient's fields of an order.
type patient struct {
	Details  map[string]any
	Address  map[string]any
	invented bool
}

// inventedPatient returns details of no real person. The phone number is from the
// range for fiction.
func inventedPatient() patient {
	return patient{
		Details: map[string]any{
			"first_name": "Sample", "last_name": "Patient", "dob": "1980-01-01", "gender": "female",
			"phone_number": "+12025550123", "email": "sample.patient@example.com",
		},
		Address: map[string]any{
			"first_line": "1 Sample Street", "city": "Phoenix", "state": "AZ", "zip": "85004", "country": "US",
		},
		invented: true,
	}
}

// patient reads the demographics of a user. A user of a sandbox team without them gets
// invented ones.
func (s *shell) patient(ctx context.Context, userID string) (patient, error) {
	var info map[string]any
	err := s.get(ctx, client.Path("v2", "user", userID, "info", "latest"), nil, &info)
	if fault.Is(err, fault.NotFound) {
		if sandboxErr := s.get(ctx, "/v3/sandbox", nil, new(struct{})); sandboxErr == nil {
			return inventedPatient(), nil
		}
		return patient{}, withHint(fault.New(fault.Refused, "the user has no demographics"), "hale docs users shows how to store them")
	}
	if err != nil {
		return patient{}, err
	}
	p := patient{Details: map[string]any{}, Address: map[string]any{}}
	for _, name := range []string{"first_name", "last_name", "dob", "gender", "phone_number", "email", "medical_proxy", "race", "ethnicity", "sexual_orientation", "gender_identity"} {
		if value := info[name]; value != nil {
			p.Details[name] = value
		}
	}
	address, _ := info["address"].(map[string]any)
	for _, name := range []string{"first_line", "second_line", "city", "state", "zip", "country", "access_notes"} {
		if value := address[name]; value != nil {
			p.Address[name] = value
		}
	}
	return p, nil
}

func (s *shell) createOrder(ctx context.Context, userID, testID, method string, p patient) error {
	body := map[string]any{
		"user_id": userID, "order_set": map[string]any{"lab_test_ids": []string{testID}},
		"patient_details": p.Details, "patient_address": p.Address,
	}
	if method != "" {
		body["collection_method"] = method
	}
	if p.invented {
		body["consents"] = []map[string]string{{"consentType": "terms-of-use"}, {"consentType": "telehealth-informed-consent"}}
	}
	answer, err := s.call(ctx, http.MethodPost, "/v3/order", nil, body)
	if err != nil {
		return s.hintMethods(ctx, err, testID, strings.ToLower(method))
	}
	var made struct {
		Order    json.RawMessage `json:"order"`
		Warnings []struct {
			Msg string `json:"msg"`
		} `json:"warnings"`
	}
	if err := json.Unmarshal(answer, &made); err != nil {
		return err
	}
	for _, w := range made.Warnings {
		s.say("warning: %s", plainWords(w.Msg))
	}
	if p.invented {
		s.say("the patient is invented, because the user has no demographics")
	}
	if s.format != formatTable {
		return s.show(orderView, made.Order)
	}
	return s.showOrder(ctx, made.Order)
}

// hintMethods adds a hint if a lab test does not allow a collection method. The hint has
// the methods of its laboratory, and the lab tests that have the method.
func (s *shell) hintMethods(ctx context.Context, err error, testID, method string) error {
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Code != "method_not_offered" {
		return err
	}
	all, failed := s.labTests(ctx)
	if failed != nil {
		return err
	}
	var offered, others []string
	for _, raw := range all {
		var t struct {
			ID, Slug, Method string
			Lab              struct {
				Methods []string `json:"collection_methods"`
			}
		}
		if json.Unmarshal(raw, &t) != nil {
			return err
		}
		if t.ID == testID {
			offered = t.Lab.Methods
		} else if t.Method == method {
			others = append(others, cmp.Or(t.Slug, t.ID))
		}
	}
	offered = slices.DeleteFunc(offered, func(m string) bool { return m == method }) // a marker does not allow it
	hint := "the laboratory of this lab test offers " + strings.Join(offered, ", ")
	if len(others) > 0 {
		hint += fmt.Sprintf("; lab tests with %s: %s", method, strings.Join(others[:min(5, len(others))], ", "))
	}
	return withHint(err, "%s", hint)
}

var labTestColumns = []column{
	{"id", "id"},
	{"slug", "slug"},
	{"method", "method"},
	{"usd", "usd"},
}

// prepareLabTest adds the price with cents.
func prepareLabTest(t map[string]any) {
	if price, ok := t["price"].(json.Number); ok {
		if f, err := price.Float64(); err == nil {
			t["usd"] = fmt.Sprintf("%.2f", f)
		}
	}
}

var (
	labTestView  = view{id: "id", prepare: prepareLabTest, columns: append(labTestColumns[:len(labTestColumns):len(labTestColumns)], column{"name", "name"}, column{"lab", "lab.name"}, column{"sample", "sample_type"}, column{"fasting", "fasting"}, column{"status", "status"})}
	labTestsView = view{list: "data", id: "id", prepare: prepareLabTest, columns: labTestColumns, none: "no lab tests"}
)

func (s *shell) catalogTests() *cobra.Command {
	return s.calls(&cobra.Command{
		Use: "tests [LAB_TEST]", Short: "list the lab tests that a team can order, or show one",
		Long: `List the lab tests of a team, or show one. LAB_TEST is an id or a slug. Unlike the
other commands of this group, this one calls the server.`,
		Example: examples("hale catalog tests", "hale catalog tests annual-check", "LAB_TEST_ID=$(hale catalog tests annual-check -o id)"),
		Args:    wantArgs("[LAB_TEST]"),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				id, err := s.findLabTest(c.Context(), args[0])
				if err != nil {
					return err
				}
				return s.showGet(c.Context(), labTestView, client.Path("v3", "lab_tests", id), nil)
			}
			all, err := s.labTests(c.Context())
			if err != nil {
				return err
			}
			return s.showValue(labTestsView, map[string]any{"data": all})
		},
	})
}

// labTests lists all lab tests of the team.
func (s *shell) labTests(ctx context.Context) (all []json.RawMessage, err error) {
	query := url.Values{"lab_test_limit": {"500"}}
	for {
		var page struct {
			Data []json.RawMessage `json:"data"`
			Next *string           `json:"next_cursor"`
		}
		if err := s.get(ctx, "/v3/lab_test", query, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Data...)
		if page.Next == nil {
			return all, nil
		}
		query.Set("next_cursor", *page.Next)
	}
}

// ambiguousSlug returns the error for a slug that several lab tests have.
func ambiguousSlug(slug string, ids []string) error {
	return withHint(badUsagef("%d lab tests have the slug %s", len(ids), slug), "name one by its id: %s", strings.Join(ids, ", "))
}

// findLabTest returns the id of a lab test, given its id or its slug. An active test comes
// before others with its slug.
func (s *shell) findLabTest(ctx context.Context, name string) (string, error) {
	if id, err := uuid.Parse(name); err == nil {
		return id.String(), nil
	}
	all, err := s.labTests(ctx)
	if err != nil {
		return "", err
	}
	var slugs, active, others []string
	for _, raw := range all {
		var t struct{ ID, Slug, Status string }
		if err := json.Unmarshal(raw, &t); err != nil {
			return "", err
		}
		switch {
		case t.Slug == name && t.Status == string(catalogue.Active):
			active = append(active, t.ID)
		case t.Slug == name:
			others = append(others, t.ID)
		}
		if strings.Contains(t.Slug, name) {
			slugs = append(slugs, t.Slug)
		}
	}
	if len(active) == 0 {
		active = others
	}
	switch len(active) {
	case 0:
	case 1:
		return active[0], nil
	default:
		return "", ambiguousSlug(name, active)
	}
	text := "no lab test has this id or slug"
	if len(slugs) > 0 {
		text += fmt.Sprintf("; did you mean %s?", strings.Join(slugs, " or "))
	}
	return "", withHint(fault.New(fault.NotFound, text), "hale catalog tests lists the lab tests")
}
