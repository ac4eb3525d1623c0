package labs

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"hale/internal/api"
	"hale/internal/labs/catalogue"
	"hale/internal/labs/matching"
	"hale/internal/labs/matching/rehearsal"
	"hale/internal/labs/orders"
	"hale/internal/labs/results"
	"hale/internal/people/users"
	"hale/internal/platform/audit"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/paging"
	"hale/internal/platform/store"
)

func (h *Handlers) unmatchedRoutes() []api.Route {
	return []api.Route{
		api.Get("/v3/unmatched_result", h.listUnmatchedResults, "List results without a certain order, newest first"),
		api.Get("/v3/unmatched_result/{raw_result_id}", h.getUnmatchedResult, "Get an unmatched result"),
		api.Post("/v3/unmatched_result/{raw_result_id}/accept", h.acceptUnmatchedResult, "Assign an unmatched result to an order").Creates().Sensitive().Announces("labtest.match_review.updated", "labtest.order.*", "labtest.result.critical", "labtest.critical_result.closed"),
		api.Post("/v3/unmatched_result/{raw_result_id}/resolve", h.resolveUnmatchedResult, "Reject an unmatched result, or leave the decision to the operators").Creates().Sensitive().Announces("labtest.match_review.updated", "labtest.critical_result.closed"),
		api.Get("/v3/unmatched_result_test/case", h.listUnmatchedCases, "List the cases of unmatched results that can be rehearsed"),
		api.Post("/v3/unmatched_result_test", h.createUnmatchedTest, "Rehearse an unmatched result, in the sandbox").Status(202).Announces(laboratoryEvents...).Refuses("conflict"),
		api.Get("/v3/unmatched_result_test/{run_id}", h.getUnmatchedTest, "Get a rehearsal"),
	}
}

// UnmatchedPath is the part of an input with the id of an unmatched result.
type UnmatchedPath struct {
	ID matching.ID `path:"raw_result_id" format:"uuid"`
}

// Types for the words of unmatched results and their tests.
type (
	decisionWord        string
	unmatchedStatusWord string
	resultStatusWord    string
	rehearsedWord       string
	rehearsalStatusWord string
	orderSourceWord     string
)

func (decisionWord) Schema(huma.Registry) *huma.Schema { return api.Enum(matching.Decisions) }

func (unmatchedStatusWord) Schema(huma.Registry) *huma.Schema {
	return api.Enum(matching.ListedStatuses)
}
func (resultStatusWord) Schema(huma.Registry) *huma.Schema    { return api.Enum(results.Statuses) }
func (rehearsalStatusWord) Schema(huma.Registry) *huma.Schema { return api.Enum(rehearsal.Statuses) }
func (orderSourceWord) Schema(huma.Registry) *huma.Schema     { return api.Enum(rehearsal.Sources) }

// Schema lists the decisions that can be rehearsed.
func (rehearsedWord) Schema(huma.Registry) *huma.Schema {
	var decisions []matching.Decision
	for _, c := range rehearsal.Cases {
		decisions = append(decisions, c.Decision)
	}
	return api.Enum(decisions)
}

type listUnmatchedIn struct {
	Limit    int                   `query:"limit" minimum:"1" maximum:"500" default:"50"`
	Cursor   string                `query:"next_cursor" doc:"next_cursor of the previous page."`
	Decision []decisionWord        `query:"decision_code,explode" maxItems:"50"`
	LabSlug  []string              `query:"lab_slug,explode" maxItems:"50"`
	Worst    []interpretationWord  `query:"interpretation,explode" maxItems:"50"`
	Status   []unmatchedStatusWord `query:"status,explode" maxItems:"50" doc:"Statuses to search. The default is all that are not resolved."`
	From     string                `query:"created_at_start" doc:"First day (YYYY-MM-DD, UTC) or instant (ISO 8601), inclusive."`
	To       string                `query:"created_at_end" doc:"Last day or instant of the range, inclusive."`
	Search   string                `query:"search_input" maxLength:"200" doc:"Part of the patient's name, or the birth date."`
}

func (in *listUnmatchedIn) filter() (matching.Filter, error) {
	f := matching.Filter{
		Statuses: api.Words[matching.Status](in.Status), Decisions: api.Words[matching.Decision](in.Decision), LabSlugs: in.LabSlug,
		Interpretations: api.Words[orders.Interpretation](in.Worst),
		Search:          strings.TrimSpace(in.Search), Limit: in.Limit + 1,
	}
	var badStart, badEnd *fault.Error
	if in.From != "" {
		var start api.Span
		start, badStart = api.ParseSpan("created_at_start", in.From)
		f.From = new(store.FromMicros(start.From))
	}
	if in.To != "" {
		var end api.Span
		end, badEnd = api.ParseSpan("created_at_end", in.To)
		f.To = new(store.FromMicros(end.To - 1))
	}
	if err := fault.Join(badStart, badEnd); err != nil {
		return f, err
	}
	if in.Cursor == "" {
		return f, nil
	}
	f.After = &matching.Position{}
	return f, paging.Decode(in.Cursor, f.After)
}

type listUnmatchedBody struct {
	Data       []unmatchedBody `json:"data"`
	NextCursor *string         `json:"next_cursor" doc:"Cursor of the next page. It is null on the last page."`
	Total      int             `json:"total" doc:"Number of results on all pages."`
}

func (h *Handlers) listUnmatchedResults(ctx context.Context, c api.Caller, in *listUnmatchedIn) (*api.Out[listUnmatchedBody], error) {
	f, err := in.filter()
	if err != nil {
		return nil, err
	}
	var body listUnmatchedBody
	err = h.DB.Read(ctx, func(tx *store.Tx) error {
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
		offered, err := catalogue.Load(ctx, tx, c.Team)
		for i := range all {
			aboutUnmatched(ctx, &all[i])
			body.Data = append(body.Data, unmatchedOf(&all[i], offered))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(body), nil
}

func (h *Handlers) getUnmatchedResult(ctx context.Context, c api.Caller, in *UnmatchedPath) (*api.Out[unmatchedBody], error) {
	var body unmatchedBody
	err := h.DB.Read(ctx, func(tx *store.Tx) error {
		if err := matching.RequireQueue(ctx, tx, c.Team); err != nil {
			return err
		}
		i, err := matching.Get(ctx, tx, c.Team, in.ID)
		if err != nil {
			return err
		}
		aboutUnmatched(ctx, &i)
		offered, err := catalogue.Load(ctx, tx, c.Team)
		body = unmatchedOf(&i, offered)
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(body), nil
}

type acceptUnmatchedIn struct {
	UnmatchedPath
	Body struct {
		OrderID orders.NullID `json:"order_id" required:"false" doc:"The order of the result. If this order can have no results, a new order is created."`
		UserID  orders.NullID `json:"user_id" required:"false" doc:"The user of the result. With order_id, the order must belong to this user."`
		Confirm bool          `json:"confirm_identity" required:"false" doc:"Confirms the identity. It is required if the person on the report may not be the patient of the order. The error names the differences."`
		Note    *string       `json:"note" required:"false" maxLength:"1000"`
		By      *string       `json:"reviewed_by" required:"false" maxLength:"200" doc:"The person who decides. Default: the label of the API key."`
	} `doc:"The body may be empty if there is only one possible order."`
}

func (h *Handlers) acceptUnmatchedResult(ctx context.Context, c api.Caller, in *acceptUnmatchedIn) (*api.Out[orderBody], error) {
	choice := matching.Choice{Note: in.Body.Note, ConfirmIdentity: in.Body.Confirm}
	if id := in.Body.OrderID.Value; id != nil {
		order := orders.ID(*id)
		choice.Order = &order
	}
	if id := in.Body.UserID.Value; id != nil {
		user := users.ID(*id)
		choice.User = &user
	}
	return api.Commit(ctx, h.API, func(tx *store.Tx) (orderBody, error) {
		by, err := nameOfCaller(ctx, tx, c, in.Body.By)
		if err != nil {
			return orderBody{}, err
		}
		choice.By = by
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
		Action string  `json:"action" enum:"reject,unsure" doc:"reject means that the result belongs to no user. unsure leaves the decision to the operators of the service."`
		Note   *string `json:"note" required:"false" maxLength:"1000"`
		By     *string `json:"reviewed_by" required:"false" maxLength:"200" doc:"The person who decides. Default: the label of the API key."`
	}
}

func (h *Handlers) resolveUnmatchedResult(ctx context.Context, c api.Caller, in *resolveUnmatchedIn) (*api.Out[unmatchedBody], error) {
	return api.Commit(ctx, h.API, func(tx *store.Tx) (unmatchedBody, error) {
		by, err := nameOfCaller(ctx, tx, c, in.Body.By)
		if err != nil {
			return unmatchedBody{}, err
		}
		i, err := matching.Resolve(ctx, tx, c.Team, in.ID, matching.Action(in.Body.Action), in.Body.Note, by)
		if err != nil {
			return unmatchedBody{}, err
		}
		aboutUnmatched(ctx, &i)
		offered, err := catalogue.Load(ctx, tx, c.Team)
		if err != nil {
			return unmatchedBody{}, err
		}
		return unmatchedOf(&i, offered), nil
	})
}

// aboutUnmatched notes in the audit log the person of a result and the people of its
// candidates, whose orders the answer shows.
func aboutUnmatched(ctx context.Context, i *matching.Item) {
	if i.User != nil {
		audit.NotePeople(ctx, *i.User)
	}
	for _, c := range i.Candidates {
		audit.NotePeople(ctx, c.User)
	}
}

// dayTime returns a date as an instant, for fields that are instants in the reference.
func dayTime(d civil.Date) *api.Time {
	if d.IsZero() {
		return nil
	}
	t := api.Time(d.In(time.UTC))
	return &t
}

// unmatchedBody is a result in the queue.
//
// Reference 1.17, UnmatchedResult.
type unmatchedBody struct {
	ID             matching.ID               `json:"id" format:"uuid" doc:"Id of the raw result."`
	Status         matching.Status           `json:"status" doc:"matched, pending_customer_review, pending_ops_review, resolved."`
	Decision       matching.Decision         `json:"decision_code" doc:"The decision of the matching: match_sample_id, match_completed, match_cancelled, wrong_collection, wrong_lab, multiple_demo_match, match_sample_id_mismatch_demo, match_demo, no_match."`
	SubReasons     []string                  `json:"sub_reason_codes" doc:"lab_account_mismatch."`
	Reason         string                    `json:"reason" doc:"The reason of the decision, for people."`
	Patient        api.OrNull[reviewPatient] `json:"patient" doc:"Patient on the report. It is null after the erasure."`
	Lab            reviewLab                 `json:"lab"`
	Markers        []reviewMarker            `json:"markers"`
	Interpretation orders.Interpretation     `json:"interpretation" doc:"Interpretation by the lab's flags, its ranges and the critical limits: normal, abnormal, critical, unknown."`
	ResultStatus   resultStatusWord          `json:"result_status"`
	Note           *string                   `json:"note"`
	Action         *matching.Action          `json:"resolution_action" doc:"accept, reject, unsure; null before a decision."`
	ResolvedUserID orders.NullID             `json:"resolved_user_id"`
	ResolvedOrder  orders.NullID             `json:"resolved_order_id"`
	AllowedActions []matching.Action         `json:"allowed_actions" doc:"Allowed actions. Empty after the decision."`
	Groups         []reviewGroup             `json:"candidate_groups" doc:"Possible orders, grouped by user, the likeliest first."`
	CreatedAt      api.Time                  `json:"created_at"`
	UpdatedAt      api.Time                  `json:"updated_at"`
	ReviewedAt     *api.Time                 `json:"reviewed_at" nullable:"true"`
	ReviewedBy     *string                   `json:"reviewed_by"`
}

type reviewPatient struct {
	FirstName *string   `json:"first_name"`
	LastName  *string   `json:"last_name"`
	DOB       *api.Time `json:"dob" nullable:"true"`
	Gender    *string   `json:"gender" doc:"Gender as written by the lab."`
}

type reviewLab struct {
	ID   catalogue.LabID `json:"id" doc:"Id of the lab. It is 0 for a lab that is not in the catalogue."`
	Name string          `json:"name"`
	Slug string          `json:"slug"`
}

type reviewMarker struct {
	ProviderID *string `json:"provider_id" doc:"The lab's own code."`
	Name       *string `json:"name"`
}

type reviewGroup struct {
	UserID     users.ID          `json:"user_id" format:"uuid"`
	Candidates []reviewCandidate `json:"candidates"`
}

type reviewCandidate struct {
	Type          matching.Kind        `json:"candidate_type" doc:"provenance_order means that the report names this order. order_option is another possible order."`
	OrderID       orders.ID            `json:"order_id" format:"uuid"`
	TransactionID orders.TransactionID `json:"order_transaction_id" format:"uuid"`
	LastStatus    orders.Status        `json:"last_status"`
	Confidence    matching.Confidence  `json:"confidence_level" doc:"high, medium, low."`
	Score         float64              `json:"confidence_score" doc:"Score of the candidate, a number from 0 to 1."`
	Reasons       []matching.Reason    `json:"reasons"`
	Overlap       reviewOverlap        `json:"marker_overlap"`
	StatusContext reviewStatus         `json:"status_context"`
}

type reviewOverlap struct {
	Ordered  int `json:"ordered" doc:"Markers of the order."`
	Reported int `json:"reported" doc:"Tests on the report."`
	Shared   int `json:"shared"`
}

type reviewStatus struct {
	Status   string `json:"status" doc:"The event string."`
	Terminal bool   `json:"terminal" doc:"Whether no further results are expected for the order."`
}

func unmatchedOf(i *matching.Item, offered *catalogue.Catalogue) unmatchedBody {
	body := unmatchedBody{
		ID: i.ID, Status: i.Status, Decision: i.Decision, SubReasons: i.SubReasons(), Reason: i.Decision.Sentence(), Lab: reviewLab{ID: i.Lab},
		Markers: []reviewMarker{}, Interpretation: i.Interpretation, ResultStatus: resultStatusWord(results.Final), AllowedActions: i.Actions(), Groups: groupsOf(i.Candidates),
		CreatedAt: api.Time(i.CreatedAt), UpdatedAt: api.Time(i.UpdatedAt), ReviewedAt: api.TimeOrNull(i.ReviewedAt), ReviewedBy: api.TextOrNull(i.ReviewedBy), ResolvedOrder: orders.NullIDOf(i.Order),
	}
	if i.Partial {
		body.ResultStatus = resultStatusWord(results.Partial)
	}
	if i.Action != "" {
		body.Action = &i.Action
	}
	if i.User != nil {
		id := i.User.UUID()
		body.ResolvedUserID.Value = &id
	}
	lab, known := offered.Lab(i.Lab)
	body.Lab.Name, body.Lab.Slug = lab.Name, lab.Slug
	if s := i.Summary; s != nil {
		p := s.Patient
		body.Patient = api.Nullable(&reviewPatient{api.TextOrNull(p.FirstName), api.TextOrNull(p.LastName), dayTime(p.DOB), api.TextOrNull(p.Gender)})
		body.Note = api.TextOrNull(s.Note)
		for _, m := range s.Markers {
			body.Markers = append(body.Markers, reviewMarker{api.TextOrNull(m.ProviderID), api.TextOrNull(m.Name)})
		}
		if !known {
			body.Lab.Name, body.Lab.Slug = s.LabSlug, s.LabSlug
		}
	}
	return body
}

// groupsOf groups candidates by user. The groups are sorted by their likeliest
// candidate.
func groupsOf(all []matching.Candidate) []reviewGroup {
	groups := []reviewGroup{}
	for _, c := range all {
		at := slices.IndexFunc(groups, func(g reviewGroup) bool { return g.UserID == c.User })
		if at < 0 {
			at = len(groups)
			groups = append(groups, reviewGroup{UserID: c.User})
		}
		groups[at].Candidates = append(groups[at].Candidates, reviewCandidate{
			Type: c.Kind, OrderID: c.Order, TransactionID: c.Transaction, LastStatus: c.Status,
			Confidence: c.Confidence(), Score: c.Score, Reasons: c.Reasons, Overlap: reviewOverlap(c.Overlap),
			StatusContext: reviewStatus{c.Status.Full(c.Method), c.Status.Terminal()},
		})
	}
	return groups
}

// Subject returns the user whose key seals a stored answer, or the result's own id
// while it belongs to no user.
func (b unmatchedBody) Subject() uuid.UUID {
	if user := b.ResolvedUserID.Value; user != nil {
		return *user
	}
	return b.ID.UUID()
}

// rehearsalCase is a case that can be rehearsed.
type rehearsalCase struct {
	Case       matching.Decision        `json:"case"`
	OrderRoles []string                 `json:"order_roles" doc:"Keys of orders in a request with order_source provided."`
	Required   map[string]orders.Status `json:"required_statuses" doc:"Required status of the order of each role."`
	Labs       []string                 `json:"lab_constraints" doc:"same_lab, different_lab."`
}

type rehearsalCasesBody struct {
	Data []rehearsalCase `json:"data"`
}

func (h *Handlers) listUnmatchedCases(ctx context.Context, c api.Caller, _ *api.Empty) (*api.Out[rehearsalCasesBody], error) {
	err := h.DB.Read(ctx, func(tx *store.Tx) error { return rehearsal.Check(ctx, tx, c.Team) })
	if err != nil {
		return nil, err
	}
	body := rehearsalCasesBody{Data: []rehearsalCase{}}
	for _, k := range rehearsal.Cases {
		body.Data = append(body.Data, rehearsalCase{k.Decision, k.Roles, k.Required, k.Labs})
	}
	return api.Answer(body), nil
}

type createRehearsalIn struct {
	Key  string `header:"X-Idempotency-Key" required:"true" minLength:"1" maxLength:"255" doc:"The same key and body get the same run; another body is refused."`
	Body struct {
		_              struct{}                    `additionalProperties:"false"`
		Case           rehearsedWord               `json:"case"`
		OrderSource    orderSourceWord             `json:"order_source" doc:"managed means that the run creates the orders. wrong_collection requires provided."`
		Orders         api.OrNull[rehearsalOrders] `json:"orders" required:"false" doc:"Orders by role, with order_source provided: one order for each role of the case. The role is order; the case of several people has first and second; GET /v3/unmatched_result_test/case lists them. With order_source managed it is absent: the run makes the orders."`
		ResultStatus   resultStatusWord            `json:"result_status" required:"false" default:"final"`
		Interpretation interpretationWord          `json:"interpretation" required:"false" default:"normal"`
		LabTestID      orders.NullID               `json:"lab_test_id" required:"false" doc:"Lab test of managed orders; selected automatically when absent."`
		WrongLabTestID orders.NullID               `json:"wrong_lab_test_id" required:"false" doc:"Lab test that the other lab reports in case wrong_lab. Other cases refuse it."`
	}
}

// rehearsalOrders contains orders by role.
type rehearsalOrders map[string]orders.NullID

func (in *createRehearsalIn) request() rehearsal.Request {
	b := &in.Body
	r := rehearsal.Request{
		Case: matching.Decision(b.Case), Source: rehearsal.Source(b.OrderSource), Partial: results.Status(b.ResultStatus) == results.Partial,
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

type createdRehearsalBody struct {
	RunID  rehearsal.ID        `json:"run_id" format:"uuid"`
	Status rehearsalStatusWord `json:"status"`
}

func (h *Handlers) createUnmatchedTest(ctx context.Context, c api.Caller, in *createRehearsalIn) (*api.Out[createdRehearsalBody], error) {
	var r rehearsal.Run
	err := h.DB.Write(ctx, func(tx *store.Tx) (err error) {
		r, err = rehearsal.Create(ctx, tx, c.Team, in.Key, in.request())
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(createdRehearsalBody{r.ID, rehearsalStatusWord(r.Status)}), nil
}

// RehearsalPath is the part of an input with the id of a rehearsal.
type RehearsalPath struct {
	ID rehearsal.ID `path:"run_id" format:"uuid"`
}

// rehearsalBody is a rehearsal.
//
// Reference 1.17, GetUnmatchedResultTestResponse.
type rehearsalBody struct {
	RunID        rehearsal.ID                 `json:"run_id" format:"uuid"`
	Status       rehearsalStatusWord          `json:"status"`
	Stage        rehearsal.Stage              `json:"stage" doc:"queued, validating, selecting_configuration, creating_orders, transitioning_orders, writing_result, matching_result, verifying_review, succeeded, failed."`
	Case         matching.Decision            `json:"case"`
	OrderSource  rehearsal.Source             `json:"order_source"`
	ResultStatus resultStatusWord             `json:"result_status"`
	Orders       map[string]rehearsalOrder    `json:"orders" doc:"Orders by role."`
	RawResultID  orders.NullID                `json:"raw_result_id" doc:"Id of the unmatched result, once it is stored."`
	Error        api.OrNull[rehearsalFailure] `json:"error"`
	CreatedAt    api.Time                     `json:"created_at"`
	UpdatedAt    api.Time                     `json:"updated_at"`
	StartedAt    *api.Time                    `json:"started_at" nullable:"true"`
	CompletedAt  *api.Time                    `json:"completed_at" nullable:"true"`
}

type rehearsalOrder struct {
	OrderID       orders.ID            `json:"order_id" format:"uuid"`
	UserID        users.ID             `json:"user_id" format:"uuid"`
	TransactionID orders.TransactionID `json:"order_transaction_id" format:"uuid"`
}

type rehearsalFailure struct {
	Code    string `json:"code" doc:"Code of the problem, for programs."`
	Message string `json:"message"`
}

func (h *Handlers) getUnmatchedTest(ctx context.Context, c api.Caller, in *RehearsalPath) (*api.Out[rehearsalBody], error) {
	var r rehearsal.Run
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		r, err = rehearsal.Get(ctx, tx, c.Team, in.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	body := rehearsalBody{
		RunID: r.ID, Status: rehearsalStatusWord(r.Status), Stage: r.Stage, Case: r.Case, OrderSource: r.Source, ResultStatus: resultStatusWord(results.Final), Orders: map[string]rehearsalOrder{},
		CreatedAt: api.Time(r.CreatedAt), UpdatedAt: api.Time(r.UpdatedAt), StartedAt: api.TimeOrNull(r.StartedAt), CompletedAt: api.TimeOrNull(r.CompletedAt),
	}
	if r.Partial {
		body.ResultStatus = resultStatusWord(results.Partial)
	}
	for role, o := range r.Artifacts {
		body.Orders[role] = rehearsalOrder{o.Order, o.User, o.Transaction}
	}
	if r.Result != nil {
		id := r.Result.UUID()
		body.RawResultID.Value = &id
	}
	if f := r.Failure; f != nil {
		body.Error = api.Nullable(&rehearsalFailure{f.Code, f.Message})
	}
	return api.Answer(body), nil
}
