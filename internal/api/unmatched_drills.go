package api

import (
	"context"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/matching"
	"hale/internal/labs/matching/rehearsal"
	"hale/internal/labs/orders"
	"hale/internal/people/users"
	"hale/internal/platform/store"
)

// drillCase is a case that can be rehearsed.
type drillCase struct {
	Case       matching.Decision        `json:"case"`
	OrderRoles []string                 `json:"order_roles" doc:"Keys of orders in a request with order_source provided."`
	Required   map[string]orders.Status `json:"required_statuses" doc:"Where the order of each role must stand."`
	Labs       []string                 `json:"lab_constraints" doc:"same_lab, different_lab."`
}

type drillCasesBody struct {
	Data []drillCase `json:"data"`
}

func (a *API) listUnmatchedCases(ctx context.Context, c Caller, _ *empty) (*out[drillCasesBody], error) {
	err := a.db.Read(ctx, func(tx *store.Tx) error { return rehearsal.Check(ctx, tx, c.Team) })
	if err != nil {
		return nil, err
	}
	body := drillCasesBody{Data: []drillCase{}}
	for _, k := range rehearsal.Cases {
		body.Data = append(body.Data, drillCase{k.Decision, k.Roles, k.Required, k.Labs})
	}
	return answer(body), nil
}

type createDrillIn struct {
	Key  string `header:"X-Idempotency-Key" required:"true" minLength:"1" maxLength:"255" doc:"The same key and body get the same run; another body is refused."`
	Body struct {
		_              struct{}            `additionalProperties:"false"`
		Case           string              `json:"case" enum:"match_completed,match_cancelled,wrong_collection,wrong_lab,multiple_demo_match,match_sample_id_mismatch_demo,match_demo,no_match"`
		OrderSource    string              `json:"order_source" enum:"managed,provided" doc:"managed: the run makes the orders. wrong_collection needs provided."`
		Orders         orNull[drillOrders] `json:"orders" required:"false" doc:"By role, with order_source provided."`
		ResultStatus   string              `json:"result_status" required:"false" enum:"final,partial" default:"final"`
		Interpretation string              `json:"interpretation" required:"false" enum:"normal,abnormal,critical,unknown" default:"normal"`
		LabTestID      orders.NullID       `json:"lab_test_id" required:"false" doc:"What managed orders are of; one is chosen when absent."`
		WrongLabTestID orders.NullID       `json:"wrong_lab_test_id" required:"false" doc:"What the other lab reports in case wrong_lab."`
	}
}

// drillOrders name orders by role.
type drillOrders map[string]orders.NullID

func (in *createDrillIn) request() rehearsal.Request {
	b := &in.Body
	r := rehearsal.Request{
		Case: matching.Decision(b.Case), Source: rehearsal.Source(b.OrderSource), Partial: b.ResultStatus == "partial",
		Interpretation: orders.Interpretation(b.Interpretation), LabTest: testID(b.LabTestID), WrongLabTest: testID(b.WrongLabTestID),
	}
	if b.Orders.Value == nil {
		return r
	}
	r.Orders = map[string]orders.ID{}
	for role, id := range *b.Orders.Value {
		if id.Value != nil {
			r.Orders[role] = orders.ID(*id.Value)
		}
	}
	return r
}

func testID(id orders.NullID) *catalogue.TestID {
	if id.Value == nil {
		return nil
	}
	test := catalogue.TestID(*id.Value)
	return &test
}

type createdDrillBody struct {
	RunID  rehearsal.ID     `json:"run_id" format:"uuid"`
	Status rehearsal.Status `json:"status" enum:"queued,running,succeeded,failed"`
}

func (a *API) createUnmatchedTest(ctx context.Context, c Caller, in *createDrillIn) (*out[createdDrillBody], error) {
	var r rehearsal.Run
	err := a.db.Write(ctx, func(tx *store.Tx) (err error) {
		r, err = rehearsal.Create(ctx, tx, c.Team, in.Key, in.request())
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer(createdDrillBody{r.ID, r.Status}), nil
}

// DrillPath is the part of an input that names a rehearsal.
type DrillPath struct {
	ID rehearsal.ID `path:"run_id" format:"uuid"`
}

// drillBody is a rehearsal.
//
// Reference 1.17, GetUnmatchedResultTestResponse.
type drillBody struct {
	RunID        rehearsal.ID              `json:"run_id" format:"uuid"`
	Status       rehearsal.Status          `json:"status" enum:"queued,running,succeeded,failed"`
	Stage        rehearsal.Stage           `json:"stage" doc:"queued, validating, selecting_configuration, creating_orders, transitioning_orders, writing_result, matching_result, verifying_review, succeeded, failed."`
	Case         matching.Decision     `json:"case"`
	OrderSource  rehearsal.Source          `json:"order_source"`
	ResultStatus string                `json:"result_status" enum:"final,partial"`
	Orders       map[string]drillOrder `json:"orders" doc:"By role."`
	RawResultID  orders.NullID         `json:"raw_result_id" doc:"Of the unmatched result, as soon as it is written."`
	Error        orNull[drillFailure]  `json:"error"`
	CreatedAt    Time                  `json:"created_at"`
	UpdatedAt    Time                  `json:"updated_at"`
	StartedAt    *Time                 `json:"started_at" nullable:"true"`
	CompletedAt  *Time                 `json:"completed_at" nullable:"true"`
}

type drillOrder struct {
	OrderID       orders.ID            `json:"order_id" format:"uuid"`
	UserID        users.ID             `json:"user_id" format:"uuid"`
	TransactionID orders.TransactionID `json:"order_transaction_id" format:"uuid"`
}

type drillFailure struct {
	Code    string `json:"code" doc:"For programs."`
	Message string `json:"message"`
}

func (a *API) getUnmatchedTest(ctx context.Context, c Caller, in *DrillPath) (*out[drillBody], error) {
	var r rehearsal.Run
	err := a.db.Read(ctx, func(tx *store.Tx) (err error) {
		r, err = rehearsal.Get(ctx, tx, c.Team, in.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	body := drillBody{
		RunID: r.ID, Status: r.Status, Stage: r.Stage, Case: r.Case, OrderSource: r.Source, ResultStatus: "final", Orders: map[string]drillOrder{},
		CreatedAt: Time(r.CreatedAt), UpdatedAt: Time(r.UpdatedAt), StartedAt: wireTime(r.StartedAt), CompletedAt: wireTime(r.CompletedAt),
	}
	if r.Partial {
		body.ResultStatus = "partial"
	}
	for role, o := range r.Artifacts {
		body.Orders[role] = drillOrder{o.Order, o.User, o.Transaction}
	}
	if r.Result != nil {
		id := r.Result.UUID()
		body.RawResultID.Value = &id
	}
	if f := r.Failure; f != nil {
		body.Error = nullable(&drillFailure{f.Code, f.Message})
	}
	return answer(body), nil
}
