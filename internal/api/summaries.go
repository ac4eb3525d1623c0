package api

import (
	"context"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/push"
)

func (a *API) summaryRoutes() []route {
	return slices.Concat(
		summaryPair[activityDoc](a), summaryPair[bodyDoc](a), summaryPair[sleepDoc](a), summaryPair[sleepCycleDoc](a),
		summaryPair[workoutsDoc](a), summaryPair[mealDoc](a), summaryPair[menstrualCycleDoc](a), summaryPair[electrocardiogramDoc](a),
		[]route{
			writes[summaryOf[profileDoc]](get("/v2/summary/profile/{user_id}", a.readProfile, "Read a user's profile")).own(),
			pushRoute[profileDoc](a),
		},
	)
}

// summaryPair is the read and the push of one document.
func summaryPair[D documentName](a *API) []route {
	d := documentOf[D]()
	read := func(ctx context.Context, c Caller, in *summariesIn) (*written, error) {
		body, err := a.listSummaries(ctx, c, in, d)
		return write(body), err
	}
	list := get("/v2/summary/"+d.Name+"/{user_id}", read, "Read a user's "+words(d.Name)+" summaries").own()
	list = list.describe(func(op *huma.Operation) { op.OperationID = "list" + camel(d.Name) })
	return []route{writes[summariesOf[D]](list), pushRoute[D](a)}
}

func pushRoute[D documentName](a *API) route {
	d := documentOf[D]()
	send := func(ctx context.Context, c Caller, in *pushSummariesIn) (*out[pushBody], error) {
		return a.pushSummaries(ctx, c, in, d)
	}
	rt := post("/v2/summary/"+d.Name+"/{user_id}", send, "Push "+words(d.Name)+" summaries from a phone").push()
	return takes[pushedSummaries[D]](rt.describe(func(op *huma.Operation) { op.OperationID = "push" + camel(d.Name) }))
}

func words(name string) string { return strings.ReplaceAll(name, "_", " ") }

// camel is SleepCycle for sleep_cycle.
func camel(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(name, "_") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

type summariesIn struct {
	UserID    users.ID `path:"user_id" format:"uuid"`
	StartDate string   `query:"start_date" required:"true" doc:"First calendar date, inclusive."`
	EndDate   string   `query:"end_date" doc:"Last calendar date, inclusive."`
	Provider  string   `query:"provider" doc:"Only this provider's summaries."`
}

// mostSummaries bounds an answer without pages: bytes, of some four thousand
// rides with their routes.
var mostSummaries = 256 << 20

// summariesAtOnce are in memory as they are stored, while they are written.
const summariesAtOnce = 200

// listSummaries reads all summaries of the days asked for; there is no paging.
//
// Reference 7.2.
func (a *API) listSummaries(ctx context.Context, c Caller, in *summariesIn, d *wearables.Document) (body []byte, err error) {
	first, last, err := daysBetween(in.StartDate, in.EndDate)
	if err != nil {
		return nil, err
	}
	err = a.db.Read(ctx, func(tx *store.Tx) error {
		if err := users.Exists(ctx, tx, c.Team, in.UserID); err != nil {
			return err
		}
		q := wearables.SummaryQuery{Resource: d.Name, Provider: in.Provider, From: first, To: last, Limit: summariesAtOnce}
		body, err = a.appendSummaries(ctx, tx, append([]byte(`{"`+d.Key), `":[`...), c, in.UserID, q)
		return err
	})
	return append(body, `]}`...), err
}

// appendSummaries appends the summaries of a query with commas between them.
func (a *API) appendSummaries(ctx context.Context, tx *store.Tx, dst []byte, c Caller, user users.ID, q wearables.SummaryQuery) ([]byte, error) {
	for {
		page, err := wearables.ListSummaries(ctx, tx, c.Team.UUID(), user.UUID(), q)
		if err != nil {
			return nil, err
		}
		for i := range page {
			if i > 0 || q.After != nil {
				dst = append(dst, ',')
			}
			if dst, err = wearables.AppendSummary(dst, &page[i], a.Wearables.Describe); err != nil {
				return nil, err
			}
			if len(dst) > mostSummaries {
				return nil, fault.New(fault.Invalid, "Value error, too much for an answer without pages: narrow the range").At("query", "start_date")
			}
		}
		if len(page) < q.Limit {
			return dst, nil
		}
		q.After = &page[len(page)-1]
	}
}

type profileIn struct {
	UserID   users.ID `path:"user_id" format:"uuid"`
	Provider string   `query:"provider" doc:"Only this provider's profile."`
}

// readProfile is the profile that was changed last.
func (a *API) readProfile(ctx context.Context, c Caller, in *profileIn) (*written, error) {
	var all []wearables.StoredSummary
	err := a.db.Read(ctx, func(tx *store.Tx) error {
		err := users.Exists(ctx, tx, c.Team, in.UserID)
		if err == nil {
			all, err = wearables.ListSummaries(ctx, tx, c.Team.UUID(), in.UserID.UUID(), wearables.SummaryQuery{Resource: "profile", Provider: in.Provider})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fault.New(fault.NotFound, "No profile found")
	}
	newest := slices.MaxFunc(all, func(x, y wearables.StoredSummary) int { return x.UpdatedAt.Compare(y.UpdatedAt) })
	body, err := wearables.AppendSummary(nil, &newest, a.Wearables.Describe)
	return write(body), err
}

type pushSummariesIn struct {
	UserID  users.ID `path:"user_id" format:"uuid"`
	RawBody []byte
}

// pushSummaries stores the summaries that a phone sends. Sending them again
// changes nothing.
func (a *API) pushSummaries(ctx context.Context, c Caller, in *pushSummariesIn, d *wearables.Document) (*out[pushBody], error) {
	user, err := a.pushingUser(ctx, c, in.UserID)
	if err != nil {
		return nil, err
	}
	body, err := push.ParseSummaries(in.RawBody, d)
	if err != nil {
		return nil, err
	}
	if err := pushable(&body.Head); err != nil {
		return nil, err
	}
	each, err := a.tellsHistory(ctx, c, body.Stage)
	if err != nil {
		return nil, err
	}
	batch := wearables.Batch{
		Provider: body.Provider, Stage: body.Stage, Push: each, Summaries: body.Summaries,
		Also: a.keepSummaries(c, in.UserID, body.Provider, d.Name, in.RawBody, body.Summaries),
	}
	result, err := a.Wearables.Ingest(ctx, user, batch)
	if err != nil {
		return nil, err
	}
	if err := a.finishPush(ctx, user, &body.Head, d.Name, result); err != nil {
		return nil, err
	}
	var rejects []push.Reject
	for _, r := range result.Rejections {
		rejects = append(rejects, push.Reject{Reason: r.Reason, Count: r.Count, First: r.Part})
	}
	return answer(pushed(result, rejects)), nil
}
