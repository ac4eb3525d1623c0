package labs

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"hale/internal/api"
	"hale/internal/labs/critical"
	"hale/internal/labs/orders"
	"hale/internal/platform/audit"
	"hale/internal/platform/paging"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

func (h *Handlers) criticalRoutes() []api.Route {
	return []api.Route{
		api.Get("/v3/critical_result", h.listCriticalResults, "List critical results that a person must be notified of, newest first"),
		api.Get("/v3/critical_result/{critical_result_id}", h.getCriticalResult, "Get a critical result"),
		api.Post("/v3/critical_result/{critical_result_id}/acknowledge", h.acknowledgeCriticalResult, "Record who was notified of a critical result").Creates().Sensitive().Announces("labtest.critical_result.acknowledged"),
	}
}

// CriticalPath is the part of an input with the id of a critical result.
type CriticalPath struct {
	ID critical.ID `path:"critical_result_id" format:"uuid"`
}

// Types for the words of a notice and its e-mails.
type (
	noticeStateWord string
	mailKindWord    string
	mailStateWord   string
)

func (noticeStateWord) Schema(huma.Registry) *huma.Schema { return api.Enum(critical.States) }
func (mailKindWord) Schema(huma.Registry) *huma.Schema    { return api.Enum(critical.MailKinds) }
func (mailStateWord) Schema(huma.Registry) *huma.Schema   { return api.Enum(critical.MailStates) }

// criticalBody is a notice about a critical result.
type criticalBody struct {
	ID              critical.ID                     `json:"id" format:"uuid"`
	OrderID         orders.NullID                   `json:"order_id" doc:"Order of the result. It is null while the result waits for review, and for a parsed report."`
	ResultID        orders.NullID                   `json:"unmatched_result_id" doc:"The result that waits for review."`
	JobID           orders.NullID                   `json:"parsing_job_id" doc:"The parsing job of a report that was uploaded."`
	UserID          orders.NullID                   `json:"user_id"`
	Revision        *int                            `json:"revision" doc:"Revision of the order's results that raised it."`
	State           noticeStateWord                 `json:"state" doc:"closed: the review of the result was decided."`
	RaisedAt        api.Time                        `json:"raised_at"`
	DueAt           api.Time                        `json:"due_at" doc:"Time at which the notice escalates if it is not acknowledged."`
	EscalatedAt     *api.Time                       `json:"escalated_at" nullable:"true"`
	EndedAt         *api.Time                       `json:"ended_at" nullable:"true" doc:"Time of the acknowledgement, or of the decision about the review."`
	Acknowledgement api.OrNull[acknowledgementBody] `json:"acknowledgement"`
	Mails           []criticalMailBody              `json:"emails"`
}

type acknowledgementBody struct {
	Notified   string   `json:"notified_person" doc:"The person who was notified."`
	NotifiedAt api.Time `json:"notified_at"`
	ReadBack   bool     `json:"read_back" doc:"The person repeated the result."`
	By         string   `json:"acknowledged_by"`
	Note       *string  `json:"note"`
}

type criticalMailBody struct {
	Kind      mailKindWord  `json:"kind"`
	Recipient string        `json:"recipient"`
	State     mailStateWord `json:"state" doc:"outbox: the e-mails of sandbox teams are not sent."`
	Problem   *string       `json:"problem"`
	Attempts  int           `json:"attempts"`
	CreatedAt api.Time      `json:"created_at"`
	EndedAt   *api.Time     `json:"ended_at" nullable:"true"`
}

func criticalBodyOf(n *critical.Notice) criticalBody {
	b := criticalBody{
		ID: n.ID, OrderID: orders.NullIDOf(n.Order), ResultID: orders.NullID{Value: n.Result}, JobID: orders.NullID{Value: n.Report}, State: noticeStateWord(n.State),
		RaisedAt: api.Time(n.RaisedAt), DueAt: api.Time(n.DueAt), EscalatedAt: api.TimeOrNull(n.EscalatedAt), EndedAt: api.TimeOrNull(n.EndedAt),
		Mails: []criticalMailBody{},
	}
	if n.User != nil {
		id := n.User.UUID()
		b.UserID.Value = &id
	}
	if n.Revision > 0 {
		b.Revision = &n.Revision
	}
	if a := n.Acknowledgement; a != nil {
		b.Acknowledgement = api.Nullable(&acknowledgementBody{a.Notified, api.Time(a.NotifiedAt), a.ReadBack, a.By, api.TextOrNull(a.Note)})
	}
	for _, m := range n.Mails {
		b.Mails = append(b.Mails, criticalMailBody{
			mailKindWord(m.Kind), m.Recipient, mailStateWord(m.State), api.TextOrNull(m.Problem), m.Attempts, api.Time(m.CreatedAt), api.TimeOrNull(m.EndedAt),
		})
	}
	return b
}

// Subject returns the user whose key seals a stored answer, or the id of the
// result in review while it belongs to no user.
func (b criticalBody) Subject() uuid.UUID {
	if user := b.UserID.Value; user != nil {
		return *user
	}
	if result := b.ResultID.Value; result != nil {
		return *result
	}
	return b.ID.UUID()
}

type listCriticalIn struct {
	State  []noticeStateWord `query:"state,explode" maxItems:"50" doc:"The default is all."`
	Limit  int               `query:"limit" minimum:"1" maximum:"500" default:"50"`
	Cursor string            `query:"next_cursor" doc:"next_cursor of the previous page."`
}

// criticalPosition is the place of a notice in the list.
type criticalPosition struct {
	ID critical.ID `json:"i"`
}

type listCriticalBody struct {
	Data       []criticalBody `json:"data"`
	NextCursor *string        `json:"next_cursor" doc:"Cursor of the next page. It is null on the last page."`
}

func (h *Handlers) listCriticalResults(ctx context.Context, c api.Caller, in *listCriticalIn) (*api.Out[listCriticalBody], error) {
	f := critical.Filter{States: api.Words[critical.State](in.State), Limit: in.Limit + 1}
	if in.Cursor != "" {
		var after criticalPosition
		if err := paging.Decode(in.Cursor, &after); err != nil {
			return nil, err
		}
		f.Before = after.ID
	}
	body := listCriticalBody{Data: []criticalBody{}}
	err := h.DB.Read(ctx, func(tx *store.Tx) error {
		all, err := critical.List(ctx, tx, c.Team, f)
		if err != nil {
			return err
		}
		body = listCriticalBody{Data: []criticalBody{}}
		if len(all) > in.Limit {
			all = all[:in.Limit]
			next := paging.Encode(criticalPosition{all[in.Limit-1].ID})
			body.NextCursor = &next
		}
		for i := range all {
			if user := all[i].User; user != nil {
				audit.NotePeople(ctx, *user)
			}
			body.Data = append(body.Data, criticalBodyOf(&all[i]))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(body), nil
}

func (h *Handlers) getCriticalResult(ctx context.Context, c api.Caller, in *CriticalPath) (*api.Out[criticalBody], error) {
	var body criticalBody
	err := h.DB.Read(ctx, func(tx *store.Tx) error {
		n, err := critical.Get(ctx, tx, c.Team, in.ID)
		body = criticalBodyOf(&n)
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(body), nil
}

type acknowledgeIn struct {
	CriticalPath
	Body struct {
		Notified   string    `json:"notified_person" minLength:"1" maxLength:"200" doc:"The person who was notified, such as the ordering physician."`
		NotifiedAt *api.Time `json:"notified_at" required:"false" nullable:"true" doc:"Default: now."`
		ReadBack   bool      `json:"read_back" doc:"Whether the person repeated the result."`
		By         *string   `json:"acknowledged_by" required:"false" maxLength:"200" doc:"The person who notified. Default: the label of the API key."`
		Note       *string   `json:"note" required:"false" maxLength:"1000"`
	}
}

func (h *Handlers) acknowledgeCriticalResult(ctx context.Context, c api.Caller, in *acknowledgeIn) (*api.Out[criticalBody], error) {
	a := critical.Acknowledgement{Notified: in.Body.Notified, ReadBack: in.Body.ReadBack}
	if in.Body.NotifiedAt != nil {
		a.NotifiedAt = time.Time(*in.Body.NotifiedAt)
	}
	if in.Body.Note != nil {
		a.Note = *in.Body.Note
	}
	return api.Commit(ctx, h.API, func(tx *store.Tx) (criticalBody, error) {
		by, err := nameOfCaller(ctx, tx, c, in.Body.By)
		if err != nil {
			return criticalBody{}, err
		}
		a.By = by
		n, err := critical.Acknowledge(ctx, tx, c.Team, in.ID, a)
		if err != nil {
			return criticalBody{}, err
		}
		return criticalBodyOf(&n), nil
	})
}

// nameOfCaller returns the person that a request names, else the label of its
// key.
func nameOfCaller(ctx context.Context, tx *store.Tx, c api.Caller, person *string) (string, error) {
	if person != nil && *person != "" {
		return *person, nil
	}
	key, err := teams.GetKey(ctx, tx, c.Team, c.Key)
	if err != nil {
		return "", err
	}
	return "API key " + key.Label, nil
}
