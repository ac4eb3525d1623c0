package wearables

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"hale/internal/api"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/merged"
	"hale/internal/wearables/push"
	"hale/internal/wearables/storage"
)

func (h *Handlers) summaryRoutes() []api.Route {
	return slices.Concat(
		summaryPair[activityDoc](h), summaryPair[bodyDoc](h), summaryPair[sleepDoc](h), summaryPair[sleepCycleDoc](h),
		summaryPair[workoutsDoc](h), summaryPair[mealDoc](h), summaryPair[menstrualCycleDoc](h), summaryPair[electrocardiogramDoc](h),
		[]api.Route{
			api.Writes[summaryOf[profileDoc]](api.Get("/v2/summary/profile/{user_id}", h.readProfile, "Read a user's profile")).OwnData(),
			pushRoute[profileDoc](h),
		},
	)
}

// summaryPair returns the routes that read and push one kind of summary.
func summaryPair[D documentName](h *Handlers) []api.Route {
	d := documentOf[D]()
	read := func(ctx context.Context, c api.Caller, in *SummariesIn) (*api.Encoded, error) {
		body, err := h.listSummaries(ctx, c, in, d)
		return api.WriteJSON(body), err
	}
	path, title := "/v2/summary/"+d.Name+"/{user_id}", "Read a user's "+singular(d.Name)+" summaries"
	list := api.Get(path, read, title).OwnData()
	if merged.MergesSessions(d.Name) {
		list = api.Get(path, func(ctx context.Context, c api.Caller, in *sessionsIn) (*api.Encoded, error) {
			body, err := h.listSessions(ctx, c, in, d)
			return api.WriteJSON(body), err
		}, title).OwnData()
	}
	list = list.Describe(func(op *huma.Operation) { op.OperationID = "list" + camelCase(d.Name) })
	return []api.Route{api.Writes[summariesOf[D]](list), pushRoute[D](h)}
}

func pushRoute[D documentName](h *Handlers) api.Route {
	d := documentOf[D]()
	send := func(ctx context.Context, c api.Caller, in *pushSummariesIn) (*api.Out[pushBody], error) {
		return h.pushSummaries(ctx, c, in, d)
	}
	rt := api.Post("/v2/summary/"+d.Name+"/{user_id}", send, "Push "+singular(d.Name)+" summaries from a phone").Push().OwnData().Announces(pushEvents...)
	return api.Takes[pushedSummaries[D]](rt.Describe(func(op *huma.Operation) { op.OperationID = "push" + camelCase(d.Name) }))
}

// singular returns the words of a resource before "summaries": workout for workouts.
func singular(name string) string {
	return strings.TrimSuffix(strings.ReplaceAll(name, "_", " "), "s")
}

// camelCase converts a name such as sleep_cycle to SleepCycle.
func camelCase(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(name, "_") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

// SummariesIn is exported because OpenAPI generation skips unexported embedded types.
type SummariesIn struct {
	UserID    users.ID `path:"user_id" format:"uuid"`
	StartDate string   `query:"start_date" required:"true" doc:"First calendar date, inclusive."`
	EndDate   string   `query:"end_date" doc:"Last calendar date, inclusive."`
	Provider  string   `query:"provider" doc:"Return only this provider's summaries."`
}

// sessionsIn holds the parameters of a read of sessions, which can be merged.
type sessionsIn struct {
	SummariesIn
	Merged  bool `query:"merged" doc:"Return one session of several sources that cover the same time, by the priorities of the team."`
	Explain bool `query:"explain" doc:"Return all sessions, with merged=true. duplicate_of has the id of the session that counts, and is null for that session."`
}

// maxSummaryBytes limits an answer without pages. It has room for about four thousand
// rides with their routes.
const maxSummaryBytes = 256 << 20

// summariesAtOnce is the number of summaries that are in memory while an answer is
// written.
const summariesAtOnce = 200

// listSummaries reads all summaries of the requested days. There are no pages.
//
// Reference 7.2.
func (h *Handlers) listSummaries(ctx context.Context, c api.Caller, in *SummariesIn, d *wearables.Document) (body []byte, err error) {
	first, last, err := api.ParseDays(in.StartDate, in.EndDate)
	if err != nil {
		return nil, err
	}
	err = h.DB.Read(ctx, func(tx *store.Tx) error {
		if err := users.Exists(ctx, tx, c.Team, in.UserID); err != nil {
			return err
		}
		q := storage.SummaryQuery{Resource: d.Name, Provider: in.Provider, From: first, To: last, Limit: summariesAtOnce}
		body, err = h.appendSummaries(ctx, tx, append([]byte(`{"`+d.Key), `":[`...), c, in.UserID, q, nil)
		return err
	})
	return append(body, `]}`...), err
}

// listSessions reads sessions like listSummaries. If the request asks for merged
// sessions, it leaves out duplicates. With explain it marks them instead.
func (h *Handlers) listSessions(ctx context.Context, c api.Caller, in *sessionsIn, d *wearables.Document) (body []byte, err error) {
	if !in.Merged {
		return h.listSummaries(ctx, c, &in.SummariesIn, d)
	}
	first, last, err := api.ParseDays(in.StartDate, in.EndDate)
	if err != nil {
		return nil, err
	}
	err = h.DB.Read(ctx, func(tx *store.Tx) error {
		if err := users.Exists(ctx, tx, c.Team, in.UserID); err != nil {
			return err
		}
		duplicates, err := merged.Duplicates(ctx, tx, c.Team.UUID(), in.UserID.UUID(), d.Name, in.Provider, first, last)
		if err != nil {
			return err
		}
		q := storage.SummaryQuery{Resource: d.Name, Provider: in.Provider, From: first, To: last, Limit: summariesAtOnce}
		body, err = h.appendSummaries(ctx, tx, append([]byte(`{"`+d.Key), `":[`...), c, in.UserID, q, &sessionMerge{duplicates, in.Explain})
		return err
	})
	return append(body, `]}`...), err
}

// sessionMerge names the sessions that duplicate a better one.
type sessionMerge struct {
	duplicates map[uuid.UUID]uuid.UUID
	explain    bool
}

// leavesOut reports whether a session is left out.
func (m *sessionMerge) leavesOut(id uuid.UUID) bool {
	return m != nil && !m.explain && m.duplicates[id] != uuid.Nil
}

// mark adds duplicate_of to the JSON of a session.
func (m *sessionMerge) mark(dst []byte, id uuid.UUID) []byte {
	if m == nil {
		return dst
	}
	dst = append(dst[:len(dst)-1], `,"duplicate_of":`...)
	if better := m.duplicates[id]; better != uuid.Nil {
		return append(wearables.AppendUUID(dst, better), '}')
	}
	return append(dst, `null}`...)
}

// appendSummaries appends the summaries of a query with commas between them.
func (h *Handlers) appendSummaries(ctx context.Context, tx *store.Tx, dst []byte, c api.Caller, user users.ID, q storage.SummaryQuery, merge *sessionMerge) ([]byte, error) {
	for begin := len(dst); ; {
		page, err := storage.ListSummaries(ctx, tx, c.Team.UUID(), user.UUID(), q)
		if err != nil {
			return nil, err
		}
		for i := range page {
			if merge.leavesOut(page[i].ID) {
				continue
			}
			if len(dst) > begin {
				dst = append(dst, ',')
			}
			if dst, err = storage.AppendSummary(dst, &page[i], h.logos()); err != nil {
				return nil, err
			}
			dst = merge.mark(dst, page[i].ID)
			if len(dst) > cmp.Or(h.maxSummaryBytes, maxSummaryBytes) {
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
	Provider string   `query:"provider" doc:"Return only this provider's profile."`
}

// readProfile answers with the profile that changed last, of one provider or of all. It
// returns NotFound if there is none.
func (h *Handlers) readProfile(ctx context.Context, c api.Caller, in *profileIn) (*api.Encoded, error) {
	var all []storage.StoredSummary
	err := h.DB.Read(ctx, func(tx *store.Tx) error {
		err := users.Exists(ctx, tx, c.Team, in.UserID)
		if err == nil {
			all, err = storage.ListSummaries(ctx, tx, c.Team.UUID(), in.UserID.UUID(), storage.SummaryQuery{Resource: "profile", Provider: in.Provider})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fault.New(fault.NotFound, "No profile found")
	}
	newest := slices.MaxFunc(all, func(x, y storage.StoredSummary) int { return x.UpdatedAt.Compare(y.UpdatedAt) })
	body, err := storage.AppendSummary(nil, &newest, h.logos())
	return api.WriteJSON(body), err
}

type pushSummariesIn struct {
	UserID  users.ID `path:"user_id" format:"uuid"`
	RawBody []byte
}

// pushSummaries stores the summaries that a phone sends. A repeated push changes nothing.
func (h *Handlers) pushSummaries(ctx context.Context, c api.Caller, in *pushSummariesIn, d *wearables.Document) (*api.Out[pushBody], error) {
	user, err := h.pushingUser(ctx, c, in.UserID)
	if err != nil {
		return nil, err
	}
	body, err := push.ParseSummaries(in.RawBody, d)
	if err != nil {
		return nil, err
	}
	if err := checkPushable(&body.Head); err != nil {
		return nil, err
	}
	each, err := h.announcesHistory(ctx, c, body.Stage)
	if err != nil {
		return nil, err
	}
	batch := wearables.Batch{
		Provider: body.Provider, Stage: body.Stage, Push: each, Pushed: true, Summaries: body.Summaries,
		Also: h.keepSummaries(c, in.UserID, body.Provider, d.Name, in.RawBody, body, 0),
	}
	result, err := h.Ingester.Ingest(ctx, user, batch)
	if err != nil {
		return nil, err
	}
	if err := h.finishPush(ctx, user, &body.Head, d.Name, len(body.Summaries), result); err != nil {
		return nil, err
	}
	answer := pushAnswer(result, body.Rejects(result))
	answer.Deleted, err = h.deleteReported(ctx, user, &body.Head, d.Name)
	return api.Answer(answer), err
}

// pushedSummaries is the body of a phone's push of summaries.
type pushedSummaries[D documentName] struct{}

// Schema declares the fields of PushHead and a list of summaries.
func (pushedSummaries[D]) Schema(r huma.Registry) *huma.Schema {
	head := r.SchemaFromRef(r.Schema(reflect.TypeFor[PushHead](), true, "").Ref)
	s := &huma.Schema{Type: huma.TypeObject, Required: slices.Clone(head.Required), Properties: maps.Clone(head.Properties), Extensions: stateDataOrDeleted("data")}
	most := push.MostSummaries
	s.Properties["data"] = &huma.Schema{
		Type: huma.TypeArray, Items: pushedSummary[D](), MaxItems: &most,
		Description: "Fields may be in snake_case or camelCase. Unknown fields are skipped, and null is the same as absent.",
	}
	s.PrecomputeMessages()
	return s
}

// pushedSummary returns the schema of a pushed summary, from the table of the fields that
// a push accepts.
func pushedSummary[D documentName]() *huma.Schema {
	d := documentOf[D]()
	s := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}}
	for _, f := range push.AcceptedFields(d) {
		one := shapeSchema(f.Shape)
		if one.Description = f.Doc; f.Required {
			s.Required = append(s.Required, f.Name)
		} else {
			maybeNull(one)
		}
		s.Properties[f.Name] = one
	}
	s.PrecomputeMessages()
	return s
}

// Names of the documents as types, so that each has its own schema.
type (
	activityDoc          struct{}
	bodyDoc              struct{}
	profileDoc           struct{}
	sleepDoc             struct{}
	sleepCycleDoc        struct{}
	workoutsDoc          struct{}
	mealDoc              struct{}
	menstrualCycleDoc    struct{}
	electrocardiogramDoc struct{}
)

type documentName interface{ name() string }

func (activityDoc) name() string          { return "activity" }
func (bodyDoc) name() string              { return "body" }
func (profileDoc) name() string           { return "profile" }
func (sleepDoc) name() string             { return "sleep" }
func (sleepCycleDoc) name() string        { return "sleep_cycle" }
func (workoutsDoc) name() string          { return "workouts" }
func (mealDoc) name() string              { return "meal" }
func (menstrualCycleDoc) name() string    { return "menstrual_cycle" }
func (electrocardiogramDoc) name() string { return "electrocardiogram" }

func documentOf[D documentName]() *wearables.Document {
	var d D
	document, _ := wearables.DocumentNamed(d.name())
	return document
}

// summaryOf is one summary on the wire.
type summaryOf[D documentName] struct{}

// Schema declares the fields of the document's table.
func (summaryOf[D]) Schema(r huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}}
	for _, f := range documentOf[D]().Fields {
		s.Properties[f.Name] = fieldSchema(r, f)
		s.Required = append(s.Required, f.Name)
	}
	s.PrecomputeMessages()
	return s
}

// alwaysPresent lists the fields that are never null.
var alwaysPresent = []string{
	"id", "user_id", "source", "created_at", "updated_at", "calendar_date", "date", "source_provider", "source_type",
	"bedtime_start", "bedtime_stop", "session_start", "session_end", "time_start", "time_end", "timestamp", "period_start", "sleep_id",
}

func fieldSchema(r huma.Registry, f wearables.Field) *huma.Schema {
	if f.Name == "source" {
		return r.Schema(reflect.TypeFor[sourceBody](), true, "")
	}
	s := shapeSchema(f.Shape())
	if f.Name == "sleep_stream" { // which nothing fills
		s = &huma.Schema{Type: "null"}
	}
	s.Description, s.Deprecated = f.Doc, strings.HasPrefix(f.Doc, "Deprecated")
	if f.Name == "wheelchair_use" {
		s.Enum = []any{true}
	}
	if f.Default == "" && !slices.Contains(alwaysPresent, f.Name) && s.Type != "null" {
		maybeNull(s)
	}
	return s
}

// formats lists the kinds of texts with a format. The format has the name of the kind.
var formats = []wearables.Kind{wearables.Moment, wearables.Day, wearables.UUID}

// shapeSchema returns the schema of a field's value.
func shapeSchema(shape *wearables.Shape) *huma.Schema {
	s := &huma.Schema{Type: string(shape.Kind)}
	if slices.Contains(formats, shape.Kind) {
		s.Type, s.Format = huma.TypeString, string(shape.Kind)
	}
	for _, word := range shape.Words {
		s.Enum = append(s.Enum, word)
	}
	for _, number := range shape.Numbers {
		s.Enum = append(s.Enum, number)
	}
	switch {
	case shape.Each != nil && shape.Kind == wearables.List:
		s.Items = shapeSchema(shape.Each)
	case shape.Each != nil:
		s.AdditionalProperties = shapeSchema(shape.Each)
	case len(shape.Members) > 0:
		s.Properties = map[string]*huma.Schema{}
	}
	for _, m := range shape.Members {
		s.Properties[m.Name] = shapeSchema(m.Shape)
		if m.Required {
			s.Required = append(s.Required, m.Name)
		}
		if m.Null {
			maybeNull(s.Properties[m.Name])
		}
	}
	s.PrecomputeMessages()
	return s
}

// maybeNull allows null as a value.
func maybeNull(s *huma.Schema) {
	s.Nullable = true
	if len(s.Enum) > 0 {
		s.Enum = append(s.Enum, nil)
	}
	s.PrecomputeMessages()
}

// summariesOf is the answer to a read of summaries: one list under the document's key.
type summariesOf[D documentName] struct{}

// Schema declares the list.
func (summariesOf[D]) Schema(r huma.Registry) *huma.Schema {
	key, items := documentOf[D]().Key, summaryOf[D]{}.Schema(r)
	if merged.MergesSessions(documentOf[D]().Name) {
		items.Properties["duplicate_of"] = &huma.Schema{
			Type: huma.TypeString, Format: "uuid", Nullable: true,
			Description: "Session of another source that counts instead. It is present with merged=true, and null for a session that counts.",
		}
		items.PrecomputeMessages()
	}
	s := &huma.Schema{
		Type: huma.TypeObject, Required: []string{key},
		Properties: map[string]*huma.Schema{key: {Type: huma.TypeArray, Items: items}},
	}
	s.PrecomputeMessages()
	return s
}
