package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"time"

	"hale/internal/harness/load"
	"hale/internal/harness/rawhttp"
)

// listCase is one request for a list. It is repeated, so that its rows are in memory,
// unless each request reads another page.
type listCase struct {
	name  string
	query url.Values
	pages bool
}

// lists returns the lists to measure: filters, searches and sorts, one by one and some
// together.
func (s *seeding) lists() []listCase {
	o := s.some[0]
	p := o.Body.Patient
	month := []string{o.CreatedAt.AddDate(0, -1, 0).Format(time.DateOnly), o.CreatedAt.Format(time.DateOnly)}
	var someIDs []string
	for i := range s.some[:min(len(s.some), ordersPerUser)] {
		someIDs = append(someIDs, s.some[i].ID.String())
	}
	return []listCase{
		{"newest first", url.Values{}, false},
		{"page 5,000", url.Values{"page": {"5000"}}, false},
		{"any page", url.Values{}, true},
		{"by status", url.Values{"status": {"completed", "partial_results"}}, false},
		{"by method, oldest first", url.Values{"order_type": {"testkit"}, "order_direction": {"asc"}}, false},
		{"created in a month", url.Values{"start_date": month[:1], "end_date": month[1:]}, false},
		{"changed in a month", url.Values{"updated_start_date": month[:1], "updated_end_date": month[1:]}, false},
		{"critical", url.Values{"is_critical": {"true"}}, false},
		{"interpretation", url.Values{"interpretation": {"abnormal"}}, false},
		{"scheduled", url.Values{"order_activation_types": {"scheduled"}}, false},
		{"of a user", url.Values{"user_id": {o.User.String()}}, false},
		{"of a transaction", url.Values{"order_transaction_id": {o.Transaction.String()}}, false},
		{"twenty ids", url.Values{"order_ids": someIDs}, false},
		{"a patient's name", url.Values{"patient_name": {p.FirstName + " " + p.LastName}}, false},
		{"a first name, one in ten", url.Values{"patient_name": {p.FirstName}}, false},
		{"a recipient's name", url.Values{"shipping_recipient_name": {p.FirstName + " " + p.LastName[:5]}}, false},
		{"search, an id", url.Values{"search_input": {o.ID.String()}}, false},
		{"search, a birth date", url.Values{"search_input": {p.BirthDate.String()}}, false},
		{"search, a name, one in ten", url.Values{"search_input": {strings.ToLower(p.FirstName)}}, false},
		{"search, a letter", url.Values{"search_input": {"a"}}, false},
		{"search, no match", url.Values{"search_input": {"zzyzx"}}, false},
		{"sorted by name, page 3,000", url.Values{"order_key": {"patient_name"}, "page": {"3000"}}, false},
		{"sorted by status, page 3,000", url.Values{"order_key": {"last_status"}, "page": {"3000"}}, false},
		{"five at once", url.Values{"status": {"completed"}, "interpretation": {"normal"}, "patient_name": {"ada"}, "order_type": {"walk_in_test"}, "order_key": {"patient_name"}}, false},
		{"nine at once", url.Values{
			"status": {"completed", "ordered", "partial_results"}, "order_type": {"walk_in_test", "testkit"}, "is_critical": {"false"}, "order_activation_types": {"current"},
			"patient_name": {"a"}, "shipping_recipient_name": {"e"}, "search_input": {"r"}, "updated_start_date": month[:1], "order_key": {"last_status"}, "order_direction": {"asc"},
		}, false},
	}
}

// measureList measures one list, with one caller.
func measureList(ctx context.Context, b *bench, l listCase) error {
	head := func() []byte {
		return rawhttp.Head("GET", "/v3/orders?"+l.query.Encode(), b.server.Address(), "x-service-api-key: "+b.key)
	}
	same := head()
	result, err := load.Run(ctx, load.Plan{Address: b.server.Address(), Conns: 1, For: b.period / 5}, func(w *load.Worker, _ int) error {
		if l.pages {
			l.query.Set("page", strconv.Itoa(1+rand.IntN(max(1, *seededOrders/50))))
			same = head()
		}
		_, err := expect(w.Do(same, nil))
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", l.name, err)
	}
	b.report.line("orders, "+l.name, millis(result.Quantile(.99))+" p99", millis(result.Quantile(.5))+" p50", "p99 ≤ 20 ms")
	return nil
}
