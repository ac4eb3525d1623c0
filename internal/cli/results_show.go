package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"hale/internal/cli/client"
	"hale/internal/platform/fault"
)

func (s *shell) resultsShow() *cobra.Command {
	var user string
	c := s.calls(&cobra.Command{
		Use: "show [ORDER]", Short: "show the results of an order, or of a user's newest order with results",
		Example: examples("hale results show ORDER", "hale results show --user anna", "hale results show --user anna -o json"),
		Args:    wantArgs("[ORDER]"),

		Annotations: map[string]string{absentHint: listsOrders},
		RunE: func(c *cobra.Command, args []string) error {
			if (user == "") == (len(args) == 0) {
				return badUsagef("needs ORDER or --user")
			}
			if user != "" {
				id, err := s.newestResult(c.Context(), user)
				if err != nil {
					return err
				}
				args = []string{id}
			}
			id, err := orderArg(args[0])
			if err != nil {
				return err
			}
			body, err := s.call(c.Context(), http.MethodGet, client.Path("v3", "order", id.String(), "result"), nil, nil)
			if fault.Is(err, fault.NotFound) && s.get(c.Context(), client.Path("v3", "order", id.String()), nil, &struct{}{}) == nil {
				return withHint(err, "in a sandbox, hale sandbox advance 10d lets the laboratory work; otherwise wait: hale orders get %s shows the next step", id)
			}
			if err != nil {
				return err
			}
			if s.format != formatTable {
				return s.show(view{list: "results", id: "slug"}, body)
			}
			return s.showResult(id.String(), body)
		},
	})
	c.Flags().StringVar(&user, "user", "", "the newest results of this user: user_id or client_user_id")
	return c
}

// newestResult returns the newest order of a user that has results.
func (s *shell) newestResult(ctx context.Context, user string) (string, error) {
	_, id, err := s.findUser(ctx, user)
	if err != nil {
		return "", err
	}
	var page struct {
		Orders []struct {
			ID             uuid.UUID `json:"id"`
			Interpretation *string   `json:"interpretation"`
		} `json:"orders"`
	}
	if err := s.get(ctx, "/v3/orders", url.Values{"user_id": {id}, "size": {"100"}}, &page); err != nil {
		return "", err
	}
	for _, o := range page.Orders {
		if o.Interpretation != nil {
			return o.ID.String(), nil
		}
	}
	if len(page.Orders) == 0 {
		return "", withHint(fault.New(fault.NotFound, "the user has no orders"), "hale orders create --user %s --test TEST", shellWord(user))
	}
	return "", withHint(fault.New(fault.NotFound, "no order of the user has results yet"), "in a sandbox, hale sandbox advance 10d lets the laboratory work")
}

// showResult prints the results of an order as a table.
func (s *shell) showResult(order string, body []byte) error {
	type value struct {
		Result string `json:"result"`
	}
	var r struct {
		Metadata struct {
			Patient    string `json:"patient"`
			Birth      string `json:"dob"`
			Laboratory string `json:"laboratory"`
			Reported   string `json:"date_reported"`
			Status     string `json:"status"`
			Worst      string `json:"interpretation"`
		} `json:"metadata"`
		Results []struct {
			Name           string `json:"name"`
			Result         string `json:"result"`
			Unit           string `json:"unit"`
			Range          string `json:"reference_range"`
			Interpretation string `json:"interpretation"`
			Above          bool   `json:"is_above_max_range"`
			Below          bool   `json:"is_below_min_range"`
			Status         string `json:"status"`
			FlagConflict   string `json:"flag_conflict"`
			Previous       *value `json:"previous"`
		} `json:"results"`
		Missing []struct {
			Name     string `json:"name"`
			Failure  string `json:"inferred_failure_type"`
			Previous *value `json:"previous"`
		} `json:"missing_results"`
		Warnings []struct {
			Message string `json:"message"`
		} `json:"warnings"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return err
	}
	m := r.Metadata
	fmt.Fprintf(s.out, "order     %s\npatient   %s\nlab       %s\nreported  %s, %s, %s\n\n", order,
		cell(m.Patient), cell(m.Laboratory), shortenTime(m.Reported), m.Status, m.Worst)
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "TEST\tRESULT\tUNIT\tRANGE\tFLAG")
	for _, one := range r.Results {
		var flags []string
		flag := one.Interpretation
		switch {
		case one.Above:
			flag += " high"
		case one.Below:
			flag += " low"
		}
		if flag != "normal" {
			flags = append(flags, flag)
		}
		if one.Status != "" && one.Status != "final" {
			flags = append(flags, one.Status)
		}
		if one.Previous != nil {
			flags = append(flags, "before "+one.Previous.Result)
		}
		if one.FlagConflict != "" {
			flags = append(flags, "the laboratory's flag contradicts the value")
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", cell(one.Name), cell(one.Result), cell(one.Unit), cell(one.Range), cell(strings.Join(flags, ", ")))
	}
	for _, one := range r.Missing {
		why := "missing, " + one.Failure
		if one.Previous != nil {
			why = "withdrawn, before " + one.Previous.Result
		}
		fmt.Fprintf(w, "%s\t-\t-\t-\t%s\n", cell(one.Name), cell(why))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, one := range r.Warnings {
		fmt.Fprintf(s.out, "\nwarning: %s\n", cell(one.Message))
	}
	return nil
}
