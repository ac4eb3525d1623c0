package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// comparison compares a copy with the API.
type comparison struct {
	name      string
	api       *client
	replica   *replica
	compared  int
	different []string
	isProgram bool // of docs/examples; these keep no reviews
}

func number(v any) int64 {
	n, _ := v.(json.Number)
	i, _ := n.Int64()
	return i
}

// expect compares one value. Each side may be absent.
func (c *comparison) expect(what string, copied, read any) {
	c.compared++
	if a, b := textOf(copied), textOf(read); a != b && plainNumbers(a) != plainNumbers(b) {
		c.different = append(c.different, fmt.Sprintf("%s\n    copy %s\n    API  %s%s", what, shorten(a), shorten(b), fieldsOf(copied, read)))
	}
}

// plainNumbers writes all numbers of a JSON text in one way: 1e-07 of Python is 1e-7.
func plainNumbers(text string) string {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	return textOf(v)
}

func shorten(text string) string {
	if len(text) > 700 {
		return text[:700] + "…"
	}
	return text
}

// fieldsOf names the fields that differ.
func fieldsOf(a, b any) string {
	x, _ := a.(object)
	y, _ := b.(object)
	if x == nil || y == nil {
		return ""
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(x)) {
		if textOf(x[name]) != textOf(y[name]) {
			names = append(names, fmt.Sprintf("%s: %s, %s", name, shorten(textOf(x[name])), shorten(textOf(y[name]))))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(y)) {
		if _, known := x[name]; !known {
			names = append(names, name+" is missing")
		}
	}
	return "\n    " + strings.Join(names, "\n    ")
}

// expectAll compares maps of values.
func (c *comparison) expectAll(what string, copied, read map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(copied)) {
		c.expect(what+" "+key, copied[key], read[key])
	}
	for _, key := range slices.Sorted(maps.Keys(read)) {
		if _, known := copied[key]; !known {
			c.expect(what+" "+key, nil, read[key])
		}
	}
}

func (c *comparison) print(out io.Writer) {
	byKind := map[string]int{}
	for _, d := range c.different {
		kind, _, _ := strings.Cut(d, " ")
		if byKind[kind]++; byKind[kind] <= 3 {
			fmt.Fprintf(out, "  DIFFERS: %s\n", d)
		}
	}
	if len(byKind) > 0 {
		fmt.Fprintf(out, "  %v\n", byKind)
	}
}

func (c *comparison) all(ctx context.Context) error {
	c.replica.mu.Lock()
	defer c.replica.mu.Unlock()
	users, err := c.users(ctx)
	if err != nil {
		return err
	}
	for _, user := range users {
		for _, compare := range []func(context.Context, string) error{c.connections, c.devices, c.samples, c.summaries} {
			if err := compare(ctx, user); err != nil {
				return err
			}
		}
	}
	if !c.isProgram {
		if err := c.reviews(ctx); err != nil {
			return err
		}
	}
	return c.orders(ctx)
}

// documents returns the copied documents of a kind whose key begins with a prefix.
func (r *replica) documents(kind, prefix string) map[string]any {
	all := map[string]any{}
	for key, v := range r.values[kind] {
		if v.doc != nil && strings.HasPrefix(key, prefix) {
			all[key] = v.doc
		}
	}
	return all
}

func (c *comparison) users(ctx context.Context) (ids []string, err error) {
	read := map[string]any{}
	for offset := 0; ; offset += 500 {
		a, err := c.api.get(ctx, fmt.Sprintf("/v2/user?limit=500&offset=%d", offset))
		if err != nil {
			return nil, err
		}
		page := listField(a.body, "users")
		for _, u := range page {
			sources := map[string]any{}
			for _, s := range listField(u, "connected_sources") {
				sources[textField(u, "user_id")+" "+textField(s, "provider", "slug")] = object{"provider": s["provider"], "created_on": s["created_on"]}
			}
			copied := map[string]any{}
			for key, doc := range c.replica.documents("connection", textField(u, "user_id")+" ") {
				copied[key] = object{"provider": field(doc.(object), "provider"), "created_on": field(doc.(object), "created_on")}
			}
			c.expectAll("source", copied, sources)
			delete(u, "connected_sources")
			read[textField(u, "user_id")] = u
			ids = append(ids, textField(u, "user_id"))
		}
		if len(page) < 500 {
			break
		}
	}
	c.expectAll("user", c.replica.documents("user", ""), read)
	return ids, nil
}

func (c *comparison) connections(ctx context.Context, user string) error {
	read := map[string]any{}
	err := eachConnection(ctx, c.api, user, func(_ int64, one object) { read[connectionKey(one)] = one })
	c.expectAll("connection", c.replica.documents("connection", user+" "), read)
	return err
}

// eachConnection reads the connections of a user, in the form of their events.
func eachConnection(ctx context.Context, api *client, user string, take func(seq int64, one object)) error {
	a, err := api.ask(ctx, http.MethodGet, "/v2/user/providers/"+user, "", nil)
	for _, one := range listField(a.body, "providers") {
		one["user_id"] = user
		one["provider"] = object{"name": one["name"], "slug": one["slug"], "logo": one["logo"]}
		delete(one, "name")
		delete(one, "slug")
		delete(one, "logo")
		take(a.seq, one)
	}
	return err
}

// eachDevice reads the devices of a user.
func eachDevice(ctx context.Context, api *client, user string, take func(seq int64, one object)) error {
	a, err := api.ask(ctx, http.MethodGet, "/v2/user/"+user+"/device", "", nil)
	if err != nil || a.status != http.StatusOK {
		return err
	}
	var list []object
	if err := decode(a.text, &list); err != nil {
		return err
	}
	for _, one := range list {
		take(a.seq, one)
	}
	return nil
}

func (c *comparison) devices(ctx context.Context, user string) error {
	read, copied := map[string]any{}, map[string]any{}
	if err := eachDevice(ctx, c.api, user, func(_ int64, one object) { read[textField(one, "id")] = one }); err != nil {
		return err
	}
	for key, doc := range c.replica.documents("device", "") {
		if textField(doc.(object), "user_id") == user {
			copied[key] = doc
		}
	}
	c.expectAll("device", copied, read)
	return nil
}

// eventNames has the names in events that differ from those of paths.
var eventNames = map[string]string{"body_weight": "weight", "body_fat": "fat"}

func eventName(resource string) string {
	if name := eventNames[resource]; name != "" {
		return name
	}
	return resource
}

func (c *comparison) samples(ctx context.Context, user string) error {
	for _, k := range kinds {
		name := eventName(k.name)
		read := map[string]any{}
		err := eachSample(ctx, c.api, pull{user, k.name, firstDay, lastDay}, func(_ int64, source, sample object) {
			key, words := sampleKey(user, name, source, sample)
			if words != "" {
				key += " " + words
			}
			read[key] = sample
		})
		if err != nil {
			return err
		}
		c.expectAll("sample", c.replica.visible(user, name), read)
	}
	return nil
}

// eachSample reads the samples of a range.
func eachSample(ctx context.Context, api *client, p pull, take func(seq int64, source, sample object)) error {
	for cursor := ""; ; {
		path := "/v2/timeseries/" + p.user + "/" + p.resource + "/grouped?start_date=" + p.start + "&end_date=" + p.end
		if cursor != "" {
			path += "&next_cursor=" + url.QueryEscape(cursor)
		}
		a, err := api.ask(ctx, http.MethodGet, path, "", nil)
		if err != nil || a.status == http.StatusNotFound {
			return err
		}
		if a.status != http.StatusOK {
			return fmt.Errorf("GET %s: %d %.300s", path, a.status, a.text)
		}
		groups, _ := a.body["groups"].(object)
		for provider := range groups {
			for _, group := range listField(groups, provider) {
				source, _ := group["source"].(object)
				for _, sample := range listField(group, "data") {
					take(a.seq, source, sample)
				}
			}
		}
		if cursor = textField(a.body, "next_cursor"); cursor == "" {
			return nil
		}
	}
}

var summaries = []string{"activity", "sleep", "sleep_cycle", "workouts", "body", "meal", "menstrual_cycle", "profile", "electrocardiogram"}

func (c *comparison) summaries(ctx context.Context, user string) error {
	for _, resource := range summaries {
		read := map[string]any{}
		var ids []string
		err := eachSummary(ctx, c.api, user, resource, func(_ int64, doc object) {
			ids = append(ids, textField(doc, "id"))
			read[resource+" "+user+" "+textField(doc, "id")] = doc
		})
		if err != nil {
			return err
		}
		copied := c.replica.documents("summary", resource+" "+user+" ")
		if resource == "profile" { // reads have one, whatever the number of sources
			maps.DeleteFunc(copied, func(key string, _ any) bool { return read[key] == nil })
		}
		c.expectAll("summary", copied, read)
		if resource == "workouts" {
			if err := c.announced(ctx, streamOf, ids); err != nil {
				return err
			}
		}
	}
	return nil
}

// reviews compares the results that fit no order. Reads have more fields than events.
func (c *comparison) reviews(ctx context.Context) error {
	copied, read := c.replica.documents("review", ""), map[string]any{}
	for _, status := range []string{"pending_customer_review", "pending_ops_review", "resolved"} {
		err := eachReview(ctx, c.api, status, func(_ int64, one object) {
			event, _ := copied[textField(one, "id")].(object)
			maps.DeleteFunc(one, func(name string, _ any) bool { _, known := event[name]; return event != nil && !known })
			read[textField(one, "id")] = one
		})
		if err != nil {
			return err
		}
	}
	c.expectAll("review", copied, read)
	return nil
}

// eachReview reads the results of a status that fit no order.
func eachReview(ctx context.Context, api *client, status string, take func(seq int64, one object)) error {
	for cursor := ""; ; {
		a, err := api.get(ctx, "/v3/unmatched_result?limit=200&status="+status+cursor)
		if err != nil {
			return err
		}
		for _, one := range listField(a.body, "data") {
			take(a.seq, one)
		}
		next := textField(a.body, "next_cursor")
		if next == "" {
			return nil
		}
		cursor = "&next_cursor=" + url.QueryEscape(next)
	}
}

// eachSummary reads the summaries of a resource.
func eachSummary(ctx context.Context, api *client, user, resource string, take func(seq int64, doc object)) error {
	a, err := api.ask(ctx, http.MethodGet, "/v2/summary/"+resource+"/"+user+"?start_date=2020-01-01&end_date=2100-01-01", "", nil)
	if err != nil || a.status != http.StatusOK {
		return err
	}
	if resource == "profile" {
		if a.body["id"] != nil {
			take(a.seq, a.body)
		}
		return nil
	}
	for name := range a.body {
		for _, doc := range listField(a.body, name) {
			take(a.seq, doc)
		}
	}
	return nil
}

// withoutLinks returns an order without fields that a copy does not have. These are
// links that each answer creates again, and the lab and markers of the lab test.
func withoutLinks(order object) object {
	o := maps.Clone(order)
	o["requisition_form_url"] = o["requisition_form_url"] != nil
	if test, ok := o["lab_test"].(object); ok {
		o["lab_test"] = object{"id": test["id"], "method": test["method"], "name": test["name"]}
	}
	return o
}

func (c *comparison) orders(ctx context.Context) error {
	read, transactions, visits := map[string]any{}, map[string]any{}, map[string]any{}
	for page := 1; ; page++ {
		a, err := c.api.get(ctx, fmt.Sprintf("/v3/orders?size=100&page=%d", page))
		if err != nil {
			return err
		}
		all := listField(a.body, "orders")
		for _, o := range all {
			transactions[textField(o, "order_transaction", "id")] = o["order_transaction"]
			delete(o, "order_transaction")
			read[textField(o, "id")] = withoutLinks(o)
			if err := eachVisit(ctx, c.api, o, func(_ int64, visit object) { visits[textField(visit, "id")] = visit }); err != nil {
				return err
			}
		}
		if len(all) < 100 {
			break
		}
	}
	copied := c.replica.documents("order", "")
	for key, doc := range copied {
		copied[key] = withoutLinks(doc.(object))
	}
	c.expectAll("order", copied, read)
	if err := c.announced(ctx, resultOf, slices.Collect(maps.Keys(read))); err != nil {
		return err
	}
	c.expectAll("transaction", c.replica.documents("transaction", ""), transactions)
	kept := c.replica.documents("appointment", "")
	for key, doc := range kept {
		if _, newest := visits[key]; !newest && textField(doc.(object), "event_status") == "cancelled" {
			delete(kept, key) // the order has a newer appointment
		}
	}
	c.expectAll("appointment", kept, visits)
	return nil
}

// eachVisit reads the appointment of an order, if it has one.
func eachVisit(ctx context.Context, api *client, order object, take func(seq int64, visit object)) error {
	method := textField(order, "details", "type")
	if method != "at_home_phlebotomy" && method != "walk_in_test" {
		return nil
	}
	a, err := api.ask(ctx, http.MethodGet, appointmentPath(placedOrder{id: textField(order, "id"), method: method}), "", nil)
	if err == nil && a.status == http.StatusOK {
		take(a.seq, a.body)
	}
	return err
}

// pull reads the histories that are complete, and the ranges of deletions.
func (t *trial) pull(ctx context.Context, r *replica) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r == t.late { // the others have the events from before the deletion
		for _, user := range r.restored {
			if err := t.backfillUser(ctx, user); err != nil {
				return err
			}
		}
	}
	read := map[pull]bool{}
	for _, p := range r.pulls {
		if read[p] {
			continue
		}
		read[p] = true
		if err := t.read(ctx, r, p); err != nil {
			return err
		}
	}
	return nil
}

// read reads a range into a copy.
func (t *trial) read(ctx context.Context, r *replica, p pull) error {
	if slices.Contains(summaries, p.resource) {
		return eachSummary(ctx, t.api, p.user, p.resource, func(seq int64, doc object) {
			r.set("summary", p.resource+" "+p.user+" "+textField(doc, "id"), seq, doc)
		})
	}
	for _, k := range kinds {
		if eventName(k.name) != p.resource {
			continue
		}
		return eachSample(ctx, t.api, pull{p.user, k.name, p.start, p.end}, func(seq int64, source, sample object) {
			r.setSample(seq, p.user, p.resource, source, sample)
		})
	}
	return nil
}
