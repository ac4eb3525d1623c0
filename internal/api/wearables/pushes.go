package wearables

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/api"
	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
	"hale/internal/wearables/deletion"
	"hale/internal/wearables/ingest"
	"hale/internal/wearables/ledger"
	"hale/internal/wearables/providers"
	"hale/internal/wearables/push"
)

// dataEvents lists the types of events that changes of stored data cause.
var dataEvents = []string{"daily.data.*", "continuous_query.result_table.changed"}

// pushEvents lists the types of events that new data causes.
var pushEvents = append([]string{"provider.connection.created", "provider.connection.updated", "provider.device.*", "historical.data.*"}, dataEvents...)

// stageWord is the pipeline of a push.
type stageWord string

func (stageWord) Schema(huma.Registry) *huma.Schema { return api.Enum(wearables.Stages) }

// PushHead holds the fields that every push has. It is exported because OpenAPI
// generation skips unexported embedded types.
type PushHead struct {
	Stage        stageWord `json:"stage" doc:"historical fills the past of a new connection and sends one event at the end. daily sends events about the values."`
	Provider     string    `json:"provider" doc:"A provider of the catalogue whose auth_type is sdk, or manual."`
	StartDate    string    `json:"start_date,omitempty" doc:"Start of the range that is covered: a date or an instant."`
	EndDate      string    `json:"end_date,omitempty" doc:"End of the range, inclusive, not before start_date."`
	TimeZone     string    `json:"time_zone,omitempty" doc:"IANA zone of the device, for values without an offset."`
	IsFinalChunk bool      `json:"is_final_chunk,omitempty" doc:"Whether the history of this resource is complete."`

	Deleted []deletedRecord `json:"deleted,omitempty" maxItems:"10000" doc:"Ids of records that the phone reports as deleted, as pushed with them. Records are deleted after data is stored."`
}

// stateSpan states the form of a date or an instant.
func stateSpan() api.Keywords {
	return api.StateAny(&huma.Schema{Format: "date"}, &huma.Schema{Format: "date-time"})
}

// TransformSchema states the rules of every push. The types that embed PushHead have it,
// too.
func (PushHead) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return api.State(s, map[string]api.Keywords{
		"provider": stateProviders(), "start_date": stateSpan(), "end_date": stateSpan(),
		"time_zone": api.StatePatterns(civil.ZonePattern),
	})
}

// stateDataOrDeleted states that a push has values, deleted records, or both.
func stateDataOrDeleted(data string) api.Keywords {
	return api.StateAny(api.Has(data, huma.TypeArray), api.HasList("deleted"))
}

// deletedRecord is a record that a phone reports as deleted. It may also be the id alone.
type deletedRecord struct {
	ID string `json:"id" doc:"The provider's own id, such as the UUID of HealthKit or metadata.id of Health Connect."`
}

// pushedSamples is the body of a phone's push of samples.
type pushedSamples struct {
	PushHead
	Data []pushedSample `json:"data,omitempty" maxItems:"100000" doc:"Samples. They may be absent if records are deleted."`
}

// TransformSchema states the rules of the push.
func (p pushedSamples) TransformSchema(r huma.Registry, s *huma.Schema) *huma.Schema {
	return api.State(p.PushHead.TransformSchema(r, s), map[string]api.Keywords{"": stateDataOrDeleted("data")})
}

// pushedSample may also be written as SDKs do: startDate, endDate,
// sourceBundle, productType.
type pushedSample struct {
	Timestamp      api.Time  `json:"timestamp" doc:"Time with an offset. start and startDate are other names. A sample without a time is rejected."`
	End            *api.Time `json:"end,omitempty" doc:"End of an interval. endDate is another name."`
	TimezoneOffset *int      `json:"timezone_offset,omitempty" doc:"Offset of the time in seconds east of UTC."`
	Type           *string   `json:"type,omitempty"`
	Unit           *string   `json:"unit,omitempty" doc:"Unit of the value. The default is the unit of the resource. Common other units are converted."`
	Value          *float64  `json:"value,omitempty" doc:"Value. Samples of all resources except blood_pressure need it."`
	Systolic       *float64  `json:"systolic,omitempty" doc:"Systolic pressure in mmHg. Samples of blood_pressure need it."`
	Diastolic      *float64  `json:"diastolic,omitempty" doc:"Diastolic pressure in mmHg. Samples of blood_pressure need it."`
	ID             *string   `json:"id,omitempty" doc:"The provider's own id of the record. external_id, uuid and metadata.id are other names."`
	SourceType     *string   `json:"source_type,omitempty" doc:"Kind of device, such as phone, watch or app. By default it is derived from productType."`
	SourceAppID    *string   `json:"source_app_id,omitempty" doc:"Id of the app. sourceBundle is another name."`
	SourceDeviceID *string   `json:"source_device_id,omitempty" format:"uuid"`
}

type pushIn struct {
	UserID   users.ID   `path:"user_id" format:"uuid"`
	Resource seriesName `path:"resource"`
	RawBody  []byte
}

// rejectBody counts the values that are not stored for one reason.
type rejectBody struct {
	Reason string `json:"reason" doc:"The rule that was broken, such as implausible_value or outside_ingestion_bounds."`
	Count  int    `json:"count"`
	First  int    `json:"first" doc:"Index in data of the first such value."`
}

// PushCounts counts the values of a push by outcome. It is exported for the same
// reason.
type PushCounts struct {
	Success   bool `json:"success" doc:"Whether any value was accepted."`
	Created   int  `json:"created" doc:"Number of new values."`
	Updated   int  `json:"updated" doc:"Number of values that replaced others."`
	Unchanged int  `json:"unchanged" doc:"Number of values that were stored already. They cause no event."`
	Deleted   int  `json:"deleted,omitempty" doc:"Number of values deleted so far, if the body reports deleted records."`
}

func countsOf(r wearables.Result, anyRejected bool) PushCounts {
	return PushCounts{
		Success: !anyRejected || r.Created+r.Updated+r.Unchanged > 0,
		Created: r.Created, Updated: r.Updated, Unchanged: r.Unchanged,
	}
}

type pushBody struct {
	PushCounts
	Rejected []rejectBody `json:"rejected"`
}

// pushSamples stores a phone's samples. Sending them again changes no data.
func (h *Handlers) pushSamples(ctx context.Context, c api.Caller, in *pushIn) (*api.Out[pushBody], error) {
	r, _ := wearables.ResourceNamed(string(in.Resource))
	if r == nil || !r.Push {
		return nil, fault.New(fault.Invalid, "Value error, this resource cannot be pushed").At("path", "resource")
	}
	body, err := push.Parse(in.RawBody, r)
	if err != nil {
		return nil, err
	}
	if err := checkPushable(&body.Head); err != nil {
		return nil, err
	}
	// Pack outside the writer, and before Batch converts units.
	packed := ledger.PackRows(ledger.Samples, body.Provider, r.Name, in.RawBody, body.Rows).WithTime(body.First())
	batch, rejects := body.Batch(r)
	batch.Pushed = true
	batch.Also = h.keepSamples(c, in.UserID, packed)
	if batch.Push, err = h.announcesHistory(ctx, c, batch.Stage); err != nil {
		return nil, err
	}
	if err := h.Deletions.RemoveMoved(ctx, c.Team, in.UserID, &batch); err != nil {
		return nil, err
	}
	user, result, err := h.Ingester.Push(ctx, c.Team, in.UserID, batch)
	if err != nil {
		return nil, err
	}
	if err := h.finishPush(ctx, user, &body.Head, r.Name, body.Count, result); err != nil {
		return nil, err
	}
	answer := pushAnswer(result, body.Rejects(rejects, result))
	answer.Deleted, err = h.deleteReported(ctx, user, &body.Head, r.Name)
	return api.Answer(answer), err
}

// deleteReported deletes the records that a phone reports as deleted, of one resource or
// of all series. It returns how many values it deleted.
func (h *Handlers) deleteReported(ctx context.Context, user users.User, head *push.Head, resource string) (n int, err error) {
	return h.deleteFiltered(ctx, user, deletion.Filter{
		Resource: resource, Provider: head.Provider, ExternalIDs: head.Deleted, Reported: true, Samples: resource == "",
	})
}

// deleteFiltered deletes the records that a filter names, if it names some.
func (h *Handlers) deleteFiltered(ctx context.Context, user users.User, f deletion.Filter) (n int, err error) {
	if len(f.ExternalIDs) == 0 {
		return 0, nil
	}
	err = h.DB.Write(ctx, func(tx *store.Tx) error {
		d, err := h.Deletions.Delete(ctx, tx, user, f)
		n = int(d.Report.Total())
		return err
	})
	return n, err
}

func (h *Handlers) pushingUser(ctx context.Context, c api.Caller, id users.ID) (user users.User, err error) {
	err = h.DB.Read(ctx, func(tx *store.Tx) error {
		user, err = users.Get(ctx, tx, c.Team, id)
		return err
	})
	return user, err
}

// checkPushable refuses a provider that does not push from phones, unless it is manual. It
// also refuses a range that ends before it starts.
func checkPushable(head *push.Head) error {
	if err := pushedBy(head.Provider, "body"); err != nil {
		return err
	}
	if !head.Start.IsZero() && !head.End.IsZero() && head.End.Before(head.Start) {
		return fault.New(fault.Invalid, "Value error, must not be before start_date").At("body", "end_date")
	}
	return nil
}

// pushedBy refuses a provider whose data phones do not send. in is the part of the
// request that has the provider.
func pushedBy(slug, in string) error {
	slugs := append(providers.SlugsOfPhones(), users.Manual)
	if !slices.Contains(slugs, slug) {
		return fault.NotInEnum(slugs).At(in, "provider").WithInput(slug)
	}
	return nil
}

// announcesHistory reports whether the team also gets events about the values of a history,
// not only about its end.
//
// Reference 8.5, push_historical_data.
func (h *Handlers) announcesHistory(ctx context.Context, c api.Caller, stage wearables.Stage) (announces bool, err error) {
	if stage != wearables.Historical {
		return false, nil
	}
	err = h.DB.Peek(ctx, func(tx *store.Tx) error {
		team, err := teams.Get(ctx, tx, c.Team)
		announces = team.Settings.PushHistoricalData
		return err
	})
	return announces, err
}

// finishPush announces the end of a resource's history if the push is its last chunk. sent
// is the number of values in it.
func (h *Handlers) finishPush(ctx context.Context, user users.User, head *push.Head, resource string, sent int, result wearables.Result) error {
	if refusedAll(result, resource, sent) {
		return nil
	}
	return h.finishHistory(ctx, user, head, []string{wearables.EventName(resource)}, result)
}

// refusedAll reports whether all values of a resource were rejected. Then its history does
// not end: the phone can correct them and send them again.
func refusedAll(result wearables.Result, resource string, sent int) bool {
	c := result.Resources[resource]
	return sent > 0 && c.Created+c.Updated+c.Unchanged == 0
}

func (h *Handlers) finishHistory(ctx context.Context, user users.User, head *push.Head, resources []string, result wearables.Result) error {
	if head.Stage != wearables.Historical || !head.Final || result.Paused {
		return nil
	}
	done := make(map[string]wearables.Range, len(resources))
	for _, resource := range resources {
		done[resource] = head.Range()
	}
	return h.Ingester.HistoricalDone(ctx, user, head.Provider, done)
}

func pushAnswer(r wearables.Result, rejects []push.Reject) pushBody {
	body := pushBody{countsOf(r, len(rejects) > 0), []rejectBody{}}
	for _, reject := range rejects {
		body.Rejected = append(body.Rejected, rejectBody(reject))
	}
	return body
}

// pushedSeries is the body of a phone that pushes several resources in one request.
type pushedSeries struct {
	PushHead
	Source *pushedSource             `json:"source,omitempty" doc:"Source of the samples that have none of their own."`
	Series map[string][]pushedSample `json:"series,omitempty" doc:"Samples by the name of their resource, at most 100,000 in all. They may be absent if records are deleted."`
}

// TransformSchema states the rules of the push.
func (p pushedSeries) TransformSchema(r huma.Registry, s *huma.Schema) *huma.Schema {
	s = api.State(p.PushHead.TransformSchema(r, s), map[string]api.Keywords{"": stateDataOrDeleted("series")})
	s.Properties["series"] = seriesByResource(s.Properties["series"])
	return s
}

// seriesByResource states the names of the lists of samples.
func seriesByResource(s *huma.Schema) *huma.Schema {
	copied := *s
	copied.Extensions = api.Keywords{"propertyNames": namesOf("", takesSamples)}
	return &copied
}

type pushedSource struct {
	Type     *string `json:"type,omitempty" doc:"Kind of device, such as phone, watch or app."`
	AppID    *string `json:"app_id,omitempty"`
	DeviceID *string `json:"device_id,omitempty" format:"uuid"`
}

// TransformSchema lists the kinds of devices.
func (pushedSource) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return api.State(s, map[string]api.Keywords{"type": api.StateEnum(wearables.SourceTypes())})
}

type seriesIn struct {
	api.UserPath
	RawBody []byte
}

// seriesRejectBody counts the values of one series that are not stored for one reason.
type seriesRejectBody struct {
	Resource string `json:"resource" doc:"Resource of the series."`
	Reason   string `json:"reason" doc:"The rule that was broken, such as implausible_value or outside_ingestion_bounds."`
	Count    int    `json:"count"`
	First    int    `json:"first" doc:"Index in its series of the first such value."`
}

type pushedSeriesBody struct {
	PushCounts
	Rejected []seriesRejectBody `json:"rejected"`
}

// pushSeries stores a phone's samples of several resources. It stores all of them in one
// transaction, or none.
func (h *Handlers) pushSeries(ctx context.Context, c api.Caller, in *seriesIn) (*api.Out[pushedSeriesBody], error) {
	body, err := push.ParseSeries(in.RawBody)
	if err != nil {
		return nil, err
	}
	if err := checkPushable(&body.Head); err != nil {
		return nil, err
	}
	packed := ledger.Pack(ledger.Series, body.Provider, "", in.RawBody).WithTime(body.First())
	batch := body.Batch()
	batch.Pushed = true
	batch.Also = h.keepSamples(c, in.UserID, packed)
	if batch.Push, err = h.announcesHistory(ctx, c, batch.Stage); err != nil {
		return nil, err
	}
	if err := h.Deletions.RemoveMoved(ctx, c.Team, in.UserID, &batch); err != nil {
		return nil, err
	}
	user, result, err := h.Ingester.Push(ctx, c.Team, in.UserID, batch)
	if err != nil {
		return nil, err
	}
	var events []string
	for i := range body.Parts {
		if p := &body.Parts[i]; !refusedAll(result, p.Resource.Name, p.Count) {
			events = append(events, p.Resource.Event)
		}
	}
	if err := h.finishHistory(ctx, user, &body.Head, events, result); err != nil {
		return nil, err
	}
	answer := seriesAnswer(body, result)
	answer.Deleted, err = h.deleteReported(ctx, user, &body.Head, "")
	return api.Answer(answer), err
}

// seriesAnswer builds the answer to a push of several series.
func seriesAnswer(body *push.Series, result wearables.Result) pushedSeriesBody {
	rejected := []seriesRejectBody{}
	for i := range body.Parts {
		part := &body.Parts[i]
		for _, r := range part.Rejects(result) {
			rejected = append(rejected, seriesRejectBody{part.Resource.Name, r.Reason, r.Count, r.First})
		}
	}
	return pushedSeriesBody{countsOf(result, len(rejected) > 0), rejected}
}

// pushedPeople is the body of a gateway that pushes for several users.
type pushedPeople struct {
	Stage    string         `json:"stage" enum:"daily" doc:"History is pushed for one user at a time."`
	Provider string         `json:"provider" doc:"A provider of the catalogue whose auth_type is sdk, or manual."`
	TimeZone string         `json:"time_zone,omitempty" doc:"IANA zone of the devices, for values without an offset."`
	Source   *pushedSource  `json:"source,omitempty" doc:"Source of the samples that have none of their own."`
	Users    []pushedPerson `json:"users" maxItems:"1000" doc:"Users and their samples. Each user may occur once. At most 100,000 samples are accepted in all."`
}

// TransformSchema states the rules of the push.
func (pushedPeople) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return api.State(s, map[string]api.Keywords{"provider": stateProviders(), "time_zone": api.StatePatterns(civil.ZonePattern)})
}

// stateProviders lists the providers that push from phones, and manual.
func stateProviders() api.Keywords {
	return api.StateEnum(append(providers.SlugsOfPhones(), users.Manual))
}

type pushedPerson struct {
	UserID   users.ID                  `json:"user_id" format:"uuid"`
	TimeZone string                    `json:"time_zone,omitempty" doc:"IANA zone of this user's devices. It replaces time_zone of the body."`
	Source   *pushedSource             `json:"source,omitempty" doc:"Source of this user's samples. It replaces source of the body."`
	Series   map[string][]pushedSample `json:"series" doc:"Samples by the name of their resource."`
}

// TransformSchema states the rules of one user's part.
func (pushedPerson) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Properties["series"] = seriesByResource(s.Properties["series"])
	return api.State(s, map[string]api.Keywords{"time_zone": api.StatePatterns(civil.ZonePattern)})
}

type peopleIn struct{ RawBody []byte }

// personBody is the outcome of one user's samples. If success is false, none of them is
// stored.
type personBody struct {
	UserID users.ID `json:"user_id" format:"uuid"`
	PushCounts
	Rejected []seriesRejectBody `json:"rejected"`
	Status   int                `json:"status,omitempty" doc:"Status for a refused user. A push for this user alone would have the same status."`
	Code     string             `json:"code,omitempty" doc:"Code for a refused user. A push for this user alone would have the same code."`
	Detail   any                `json:"detail,omitempty" doc:"Detail for a refused user. A push for this user alone would have the same detail."`
}

type pushedPeopleBody struct {
	Users []personBody `json:"users" doc:"Results by user, in the order of the request."`
}

// pushPeople stores the samples of several users. The samples of each user are stored
// whole or not at all, and a refusal does not affect the other users. Any other error,
// such as an unreachable database, fails the whole request. The caller then sends it
// again, and stored samples are counted as unchanged.
func (h *Handlers) pushPeople(ctx context.Context, c api.Caller, in *peopleIn) (*api.Out[pushedPeopleBody], error) {
	body, err := push.ParseUsers(in.RawBody)
	if err != nil {
		return nil, err
	}
	if err := checkPushable(&body.Head); err != nil {
		return nil, err
	}
	all := make([]ingest.Push, len(body.Each))
	for i := range body.Each {
		p := &body.Each[i]
		all[i].User = users.ID(p.User)
		packed := ledger.Pack(ledger.Series, p.Provider, "", p.Text).WithTime(p.First())
		all[i].Batch = p.Batch()
		all[i].Batch.Pushed = true
		all[i].Batch.Also = h.keepSamples(c, all[i].User, packed)
	}
	for i := range all {
		if err := h.Deletions.RemoveMoved(ctx, c.Team, all[i].User, &all[i].Batch); err != nil && fault.KindOf(err) != fault.NotFound {
			return nil, err
		}
	}
	h.Ingester.PushAll(ctx, c.Team, all)
	answer := pushedPeopleBody{make([]personBody, len(all))}
	for i := range all {
		if answer.Users[i], err = h.outcomeOf(ctx, &body.Each[i], &all[i]); err != nil {
			return nil, err
		}
	}
	return api.Answer(answer), nil
}

// outcomeOf builds the answer for one user. An error fails the whole request.
func (h *Handlers) outcomeOf(ctx context.Context, p *push.UserPart, one *ingest.Push) (personBody, error) {
	if one.Err == nil {
		stored := seriesAnswer(p.Series, one.Result)
		return personBody{UserID: one.User, PushCounts: stored.PushCounts, Rejected: stored.Rejected}, nil
	}
	body := personBody{UserID: one.User, Rejected: []seriesRejectBody{}}
	if kind := fault.KindOf(one.Err); kind == fault.Internal || kind == fault.Unavailable {
		return body, one.Err
	}
	body.Status, body.Code, body.Detail = h.RefusalOf(ctx, one.Err)
	return body, nil
}

// keepSamples stores a pushed body of samples in the ledger, in the transaction that
// stores the samples.
func (h *Handlers) keepSamples(c api.Caller, user users.ID, packed *ledger.PackedBody) wearables.WithBatch {
	if h.Ledger == nil {
		return nil
	}
	return func(ctx context.Context, tx *store.Tx, b *store.Batch, _ []uuid.UUID) error {
		_, err := h.Ledger.Keep(ctx, tx, b, c.Team, user, packed)
		return err
	}
}

// keepSummaries stores a pushed body of summaries in the ledger, in the transaction that
// stores the summaries. It also stores the place of each summary in the body. first is
// the index of the body's first summary in the batch.
func (h *Handlers) keepSummaries(c api.Caller, user users.ID, provider, resource string, text []byte, body *push.Documents, first int) wearables.WithBatch {
	if h.Ledger == nil {
		return nil
	}
	packed := ledger.Pack(ledger.Summaries, provider, resource, text)
	return func(ctx context.Context, tx *store.Tx, b *store.Batch, stored []uuid.UUID) error {
		id, err := h.Ledger.Keep(ctx, tx, b, c.Team, user, packed)
		if err != nil {
			return err
		}
		items := make([]ledger.Item, len(body.Summaries))
		for i := range items {
			items[i] = ledger.Item{Summary: stored[first+i], Place: body.Index[i]}
		}
		return ledger.Link(ctx, tx, c.Team, user, id, items)
	}
}
