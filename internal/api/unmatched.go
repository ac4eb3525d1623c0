package api

import (
	"context"
	"strings"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/matching"
	"hale/internal/labs/orders"
	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/paging"
	"hale/internal/platform/store"
)

func (a *API) unmatchedRoutes() []route {
	return []route{
		get("/v3/unmatched_result", a.listUnmatchedResults, "List results whose order is not certain, newest first"),
		get("/v3/unmatched_result/{raw_result_id}", a.getUnmatchedResult, "Get an unmatched result"),
		post("/v3/unmatched_result/{raw_result_id}/accept", a.acceptUnmatchedResult, "Make an unmatched result that of an order").creates().sensitive(),
		post("/v3/unmatched_result/{raw_result_id}/resolve", a.resolveUnmatchedResult, "Reject an unmatched result, or pass it on").creates().sensitive(),
		get("/v3/unmatched_result_test/case", a.listUnmatchedCases, "List the cases of unmatched results that can be rehearsed"),
		post("/v3/unmatched_result_test", a.createUnmatchedTest, "Rehearse an unmatched result, in the sandbox").status(202),
		get("/v3/unmatched_result_test/{run_id}", a.getUnmatchedTest, "Get a rehearsal"),
	}
}

// UnmatchedPath is the part of an input that names an unmatched result.
type UnmatchedPath struct {
	ID matching.ID `path:"raw_result_id" format:"uuid"`
}

type listUnmatchedIn struct {
	Limit    int    `query:"limit" minimum:"1" maximum:"500" default:"50"`
	Cursor   string `query:"next_cursor" doc:"next_cursor of the page before."`
	Decision string `query:"decision_code" enum:"match_sample_id,match_completed,match_cancelled,wrong_collection,wrong_lab,multiple_demo_match,match_sample_id_mismatch_demo,match_demo,no_match"`
	LabSlug  string `query:"lab_slug"`
	Status   string `query:"status" enum:"pending_customer_review,pending_ops_review,resolved" doc:"All that are not resolved when absent."`
	From     string `query:"created_at_start" format:"date" doc:"A day in UTC, included."`
	To       string `query:"created_at_end" format:"date" doc:"A day in UTC, included."`
	Search   string `query:"search_input" maxLength:"200" doc:"Part of the patient's name, or the birth date."`
}

func (in *listUnmatchedIn) filter() (matching.Filter, error) {
	f := matching.Filter{
		Status: matching.Status(in.Status), Decision: matching.Decision(in.Decision), LabSlug: in.LabSlug,
		Search: strings.TrimSpace(in.Search), Limit: in.Limit + 1,
	}
	for _, day := range []struct {
		text, field string
		to          **civil.Date
	}{{in.From, "created_at_start", &f.From}, {in.To, "created_at_end", &f.To}} {
		if day.text == "" {
			continue
		}
		d, err := civil.ParseDate(day.text)
		if err != nil {
			return f, fault.New(fault.Invalid, "Input should be a valid date").At("query", day.field).WithType("date_from_datetime_parsing")
		}
		*day.to = &d
	}
	if in.Cursor == "" {
		return f, nil
	}
	f.After = &matching.Position{}
	return f, paging.Decode(in.Cursor, f.After)
}

type listUnmatchedBody struct {
	Data       []unmatchedBody `json:"data"`
	NextCursor *string         `json:"next_cursor" doc:"Null at the end."`
	Total      int             `json:"total" doc:"How many there are on all pages."`
}

func (a *API) listUnmatchedResults(ctx context.Context, c Caller, in *listUnmatchedIn) (*out[listUnmatchedBody], error) {
	f, err := in.filter()
	if err != nil {
		return nil, err
	}
	var body listUnmatchedBody
	err = a.db.Read(ctx, func(tx *store.Tx) error {
		body = listUnmatchedBody{Data: []unmatchedBody{}}
		if err := matching.RequireQueue(ctx, tx, c.Team); err != nil {
			return err
		}
		all, total, err := matching.List(ctx, tx, c.Team, f)
		if err != nil {
			return err
		}
		if len(all) > in.Limit {
			all = all[:in.Limit]
			next := paging.Encode(matching.PositionOf(&all[in.Limit-1]))
			body.NextCursor = &next
		}
		body.Total = total
		offered, err := catalogue.For(ctx, tx, c.Team)
		for i := range all {
			body.Data = append(body.Data, unmatchedOf(&all[i], offered))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer(body), nil
}

func (a *API) getUnmatchedResult(ctx context.Context, c Caller, in *UnmatchedPath) (*out[unmatchedBody], error) {
	var body unmatchedBody
	err := a.db.Read(ctx, func(tx *store.Tx) error {
		if err := matching.RequireQueue(ctx, tx, c.Team); err != nil {
			return err
		}
		i, err := matching.Get(ctx, tx, c.Team, in.ID)
		if err != nil {
			return err
		}
		offered, err := catalogue.For(ctx, tx, c.Team)
		body = unmatchedOf(&i, offered)
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer(body), nil
}

type acceptUnmatchedIn struct {
	UnmatchedPath
	Body struct {
		OrderID orders.NullID `json:"order_id" required:"false" doc:"The order whose result it is. One that cannot have results is made again."`
		UserID  orders.NullID `json:"user_id" required:"false" doc:"Whose result it is. With order_id, the order must be theirs."`
		Note    *string       `json:"note" required:"false" maxLength:"1000"`
	} `doc:"May be empty when there is only one order that it can be."`
}

func (a *API) acceptUnmatchedResult(ctx context.Context, c Caller, in *acceptUnmatchedIn) (*out[orderBody], error) {
	choice := matching.Choice{Note: in.Body.Note}
	if id := in.Body.OrderID.Value; id != nil {
		order := orders.ID(*id)
		choice.Order = &order
	}
	if id := in.Body.UserID.Value; id != nil {
		user := users.ID(*id)
		choice.User = &user
	}
	return answering(ctx, a, func(tx *store.Tx) (orderBody, error) {
		o, err := matching.AcceptResult(ctx, tx, c.Team, in.ID, choice)
		if err != nil {
			return orderBody{}, err
		}
		bodies, err := orderBodies(ctx, tx, c.Team, []orders.Order{o})
		if err != nil {
			return orderBody{}, err
		}
		return bodies[0], nil
	})
}

type resolveUnmatchedIn struct {
	UnmatchedPath
	Body struct {
		Action string  `json:"action" enum:"reject,unsure" doc:"reject: it is nobody's. unsure: those who run the service decide."`
		Note   *string `json:"note" required:"false" maxLength:"1000"`
	}
}

func (a *API) resolveUnmatchedResult(ctx context.Context, c Caller, in *resolveUnmatchedIn) (*out[unmatchedBody], error) {
	return answering(ctx, a, func(tx *store.Tx) (unmatchedBody, error) {
		i, err := matching.Resolve(ctx, tx, c.Team, in.ID, matching.Action(in.Body.Action), in.Body.Note)
		if err != nil {
			return unmatchedBody{}, err
		}
		offered, err := catalogue.For(ctx, tx, c.Team)
		if err != nil {
			return unmatchedBody{}, err
		}
		return unmatchedOf(&i, offered), nil
	})
}

// dayTime is a date as an instant, for fields that the reference calls so.
func dayTime(d civil.Date) *Time {
	if d.IsZero() {
		return nil
	}
	t := Time(d.In(time.UTC))
	return &t
}
