package cli

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"hale/internal/cli/client"
	"hale/internal/labs/orders"
	"hale/internal/platform/fault"
)

func (s *shell) ordersCommand() *cobra.Command {
	return s.calls(noun(&cobra.Command{
		Use: "orders", Short: "create, list, find and cancel lab orders",
		Long:    `Create, list, find, show and cancel lab orders. See hale docs ordering.`,
		Example: examples("hale orders create --user anna --test annual-check", "hale orders list --status partial_results", "hale orders get ORDER", "hale orders cancel ORDER"),

		Annotations: map[string]string{absentHint: listsOrders},
	}, s.ordersCreate(), s.ordersList(), s.ordersFind(), s.ordersGet(), s.ordersCancel(), s.ordersRevokeLinks(), s.ordersRecreate(), s.ordersRecord(), s.ordersResend()))
}

const listsOrders = "hale orders list shows all orders"

func orderArg(text string) (orders.ID, error) {
	return idArg[orders.Order]("ORDER", "an order", text, listsOrders)
}

var orderColumns = []column{
	{"order", "id"},
	{"status", "event"},
	{"since", "since"},
	{"lab test", "lab_test.name"},
}

// prepareOrder adds the low-level status of an order and the day of its last event.
func prepareOrder(o map[string]any) {
	o["event"] = lastPart(cell(field(o, "last_event.status")))
	since, _, _ := strings.Cut(cell(field(o, "last_event.created_at")), "T")
	o["since"] = since
}

var (
	orderView = view{id: "id", prepare: prepareOrder, columns: append(orderColumns[:len(orderColumns):len(orderColumns)],
		column{"created", "created_at"}, column{"sample", "sample_id"}, column{"detail", "last_event.status_detail"}, column{"transaction", "order_transaction.status"})}
	ordersView = view{list: "orders", id: "id", columns: orderColumns, none: "no orders", prepare: prepareOrder}
)

func (s *shell) ordersList() *cobra.Command {
	var statuses, methods []string
	var search, user, order string
	var page, size int
	c := &cobra.Command{
		Use: "list", Short: "list orders, newest first",
		Example: examples("hale orders list", "hale orders list --search byron", "hale orders list --status completed --method testkit -o jsonl"),
		Args:    wantArgs(),

		Annotations: map[string]string{"order_type": "--method", "order_key": "--sort", "search_input": "--search"},
		RunE: func(c *cobra.Command, _ []string) error {
			query := url.Values{"page": {strconv.Itoa(page)}, "size": {strconv.Itoa(size)}, "status": statuses, "order_type": methods}
			setIf(query, "search_input", search)
			setIf(query, "order_key", order)
			if user != "" {
				_, id, err := s.findUser(c.Context(), user)
				if err != nil {
					return err
				}
				query.Set("user_id", id)
			}
			body, err := s.call(c.Context(), http.MethodGet, "/v3/orders", query, nil)
			if err != nil {
				return err
			}
			var answer struct{ Total int }
			if err := json.Unmarshal(body, &answer); err == nil && page*size < answer.Total {
				s.sayDone("%d orders in total; --page %d shows the next ones", answer.Total, page+1)
			}
			return s.show(ordersView, body)
		},
	}
	flags := c.Flags()
	flags.StringSliceVar(&statuses, "status", nil, "only orders with these statuses, such as partial_results")
	flags.StringSliceVar(&methods, "method", nil, "only orders with these collection methods")
	flags.StringVar(&search, "search", "", "search for an order or user id, a control, sample, requisition or accession number, a patient's name or birth date, or a recipient")
	flags.StringVar(&user, "user", "", "only orders of this user: user_id or client_user_id")
	flags.StringVar(&order, "sort", "", "sort by created_at, patient_name or last_status")
	flags.IntVar(&page, "page", 1, "number of the page")
	flags.IntVar(&size, "size", 50, "orders per page, at most 100")
	return c
}

func (s *shell) ordersFind() *cobra.Command {
	return &cobra.Command{
		Use: "find NUMBER", Short: "find an order by a number of the laboratory",
		Long: `Find orders by the number on a requisition, label or report: the control number,
sample id, requisition or accession number. A part of an order's id, a patient's
name and a birth date work, too.`,
		Example: examples("hale orders find S0012345678", "hale orders find 1984-12-10"),
		Args:    wantArgs("NUMBER"),
		RunE: func(c *cobra.Command, args []string) error {
			body, err := s.call(c.Context(), http.MethodGet, "/v3/orders", url.Values{"search_input": {args[0]}, "size": {"100"}}, nil)
			if err != nil {
				return err
			}
			return s.show(ordersView, body)
		},
	}
}

func (s *shell) ordersGet() *cobra.Command {
	return &cobra.Command{
		Use: "get ORDER", Short: "show one order with its events, documents and next step",
		Example: examples("hale orders get ORDER", "hale orders get ORDER -o json"),
		Args:    wantArgs("ORDER"),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := orderArg(args[0])
			if err != nil {
				return err
			}
			body, err := s.call(c.Context(), http.MethodGet, client.Path("v3", "order", id.String()), nil, nil)
			if err != nil {
				return err
			}
			if s.format != formatTable {
				return s.show(orderView, body)
			}
			return s.showOrder(c.Context(), body)
		},
	}
}

func (s *shell) ordersCancel() *cobra.Command {
	return &cobra.Command{
		Use: "cancel ORDER", Short: "cancel an order",
		Example: examples("hale orders cancel ORDER"),
		Args:    wantArgs("ORDER"),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := orderArg(args[0])
			if err != nil {
				return err
			}
			body, err := s.call(c.Context(), http.MethodPost, client.Path("v3", "order", id.String(), "cancel"), nil, nil)
			if fault.Is(err, fault.Refused) { // the order's status does not allow it
				return &conflict{err}
			}
			if err != nil {
				return err
			}
			return s.showChanged(body)
		},
	}
}

func (s *shell) ordersRevokeLinks() *cobra.Command {
	return &cobra.Command{
		Use: "revoke-links ORDER", Short: "end all links to an order's requisition",
		Long: `End all links to an order's requisition that were made so far, for example because an
e-mail with one went to the wrong person. hale orders get shows a new link. See hale
docs ordering.`,
		Example: examples("hale orders revoke-links ORDER"),
		Args:    wantArgs("ORDER"),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := orderArg(args[0])
			if err != nil {
				return err
			}
			body, err := s.call(c.Context(), http.MethodDelete, client.Path("v3", "order", id.String(), "requisition_link"), nil, nil)
			if err != nil {
				return err
			}
			return s.showChanged(body)
		},
	}
}

// ordersRecord records the steps that staff arrange: kits and visits.
func (s *shell) ordersRecord() *cobra.Command {
	var kit, at, courier, tracking, link, visit, provider, start, end, notes string
	var status, site string
	var inbound bool
	c := &cobra.Command{
		Use: "record ORDER", Short: "record a step of a test kit or a visit",
		Long: `Record a step that no laboratory reports: a kit was labelled, sent or delivered, a
visit was scheduled, or took place. Use it in production without a fulfilment
partner; see hale docs fulfilment. The sandbox plays these steps itself.`,
		Example: examples("hale orders record ORDER --status transit_customer --courier USPS --tracking 9400111",
			"hale orders record ORDER --status transit_lab --courier UPS --tracking 1Z999 --inbound",
			"hale orders record ORDER --sample BX-0001",
			"hale orders record ORDER --visit scheduled --provider nurses --start 2026-03-04T15:00:00Z",
			"hale orders record ORDER --visit completed"),
		Args: wantArgs("ORDER"),

		Annotations: map[string]string{
			"sample_id": "--sample", "courier": "--courier", "tracking_number": "--tracking", "tracking_url": "--tracking-url", "provider": "--provider",
			"start_at": "--start", "end_at": "--end", "visit": "--visit", "site": "--site", absentHint: listsOrders,
		},
		RunE: func(c *cobra.Command, args []string) error {
			id, err := orderArg(args[0])
			if err != nil {
				return err
			}
			step := map[string]any{}
			set := func(to map[string]any, name, value string) {
				if value != "" {
					to[name] = value
				}
			}
			set(step, "status", status)
			set(step, "sample_id", kit)
			set(step, "at", at)
			if courier != "" || tracking != "" || link != "" {
				direction := "outbound"
				if inbound {
					direction = "inbound"
				}
				shipment := map[string]any{"direction": direction, "courier": courier, "tracking_number": tracking}
				set(shipment, "tracking_url", link)
				step["shipment"] = shipment
			}
			if visit != "" {
				v := map[string]any{"status": visit}
				set(v, "provider", provider)
				set(v, "start_at", start)
				set(v, "end_at", end)
				set(v, "site", site)
				set(v, "notes", notes)
				step["visit"] = v
			}
			body, err := s.call(c.Context(), http.MethodPost, client.Path("v3", "order", id.String(), "fulfilment"), nil, step)
			if fault.Is(err, fault.Refused) { // the order's status does not allow it
				return &conflict{err}
			}
			if err != nil {
				return err
			}
			var answer struct {
				Order   json.RawMessage `json:"order"`
				Message string          `json:"message"`
			}
			if err := json.Unmarshal(body, &answer); err != nil {
				return err
			}
			s.sayDone("%s", answer.Message)
			return s.show(orderView, answer.Order)
		},
	}
	flags := c.Flags()
	flags.StringVar(&status, "status", "", "status of the kit, such as transit_customer, with_customer, transit_lab, delivered_to_lab, lost")
	flags.StringVar(&kit, "sample", "", "number on the kit, before its registration")
	flags.StringVar(&at, "at", "", "time of the step, such as 2026-03-04T15:00:00Z; now if it is not given")
	flags.StringVar(&courier, "courier", "", "carrier of the kit")
	flags.StringVar(&tracking, "tracking", "", "tracking number of the kit")
	flags.StringVar(&link, "tracking-url", "", "page of the carrier about the kit")
	flags.BoolVar(&inbound, "inbound", false, "the kit is on its way to the lab, not to the patient")
	flags.StringVar(&visit, "visit", "", "status of the visit: scheduled, in_progress, completed or cancelled")
	flags.StringVar(&provider, "provider", "", "who visits, such as nurses; needed for a new visit")
	flags.StringVar(&start, "start", "", "start of the visit; needed with --visit scheduled")
	flags.StringVar(&end, "end", "", "end of the visit; an hour after the start if it is not given")
	flags.StringVar(&site, "site", "", "code of the service center of a new visit of a walk_in_test order")
	flags.StringVar(&notes, "notes", "", "notes for the visit")
	return c
}

func (s *shell) ordersRecreate() *cobra.Command {
	var reason, test, account string
	c := &cobra.Command{
		Use: "recreate ORDER", Short: "replace an order that went to the wrong lab",
		Long: `Cancel an order that its lab does not have yet, and order again for the same person.
The lab account is chosen again. --lab-test names the lab test at the right lab.`,
		Example: examples("hale orders recreate ORDER --lab-test annual-check"),
		Args:    wantArgs("ORDER"),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := orderArg(args[0])
			if err != nil {
				return err
			}
			if test != "" {
				if test, err = s.findLabTest(c.Context(), test); err != nil {
					return err
				}
			}
			body := map[string]any{"update_reason": reason}
			for field, value := range map[string]string{"lab_test_id": test, "lab_account_id": account} {
				if value != "" {
					body[field] = value
				}
			}
			answer, err := s.call(c.Context(), http.MethodPost, client.Path("v3", "order", id.String(), "recreate"), nil, body)
			if fault.Is(err, fault.Refused) {
				return &conflict{err}
			}
			if err != nil {
				return err
			}
			return s.showChanged(answer)
		},
	}
	c.Flags().StringVar(&reason, "reason", string(orders.IncorrectLab), "INCORRECT_LAB")
	c.Flags().StringVar(&test, "lab-test", "", "lab test at the right lab, id or slug; without it, the same one")
	c.Flags().StringVar(&account, "account", "", "lab account; chosen automatically without it")
	return c
}

// showChanged shows the message and the order of an answer.
func (s *shell) showChanged(body []byte) error {
	var answer struct {
		Order   json.RawMessage `json:"order"`
		Message string          `json:"message"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return err
	}
	s.sayDone("%s", answer.Message)
	return s.show(orderView, answer.Order)
}

func (s *shell) ordersResend() *cobra.Command {
	return &cobra.Command{
		Use: "resend ORDER…", Short: "send the latest event of orders again",
		Example: examples("hale orders resend ORDER"),
		Args:    wantArgs("ORDER…"),
		RunE: func(c *cobra.Command, args []string) error {
			for _, text := range args {
				if _, err := orderArg(text); err != nil {
					return err
				}
			}
			body, err := s.call(c.Context(), http.MethodPost, "/v3/order/resend_events", nil, map[string]any{"order_ids": args})
			if err != nil {
				return err
			}
			var answer struct {
				OrderIDs []string `json:"order_ids"`
			}
			if err := json.Unmarshal(body, &answer); err != nil {
				return err
			}
			s.sayDone("%d sent", len(answer.OrderIDs))
			return nil
		},
	}
}
