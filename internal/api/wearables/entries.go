package wearables

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"hale/internal/api"
	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/deletion"
	"hale/internal/wearables/ledger"
	"hale/internal/wearables/push"
)

func (h *Handlers) manualRoutes() []api.Route {
	return []api.Route{
		api.Takes[pushedEntries](api.Post("/v2/user/{user_id}/entries", h.pushEntries, "Store values that a person or the team entered").Push().OwnData().Announces(pushEvents...).Tag("entries")),
	}
}

// mostEntries limits the entries of one body. People type these entries.
const mostEntries = 10_000

// pushedEntries is a list of typed values of any kinds.
type pushedEntries struct {
	TimeZone string `json:"time_zone,omitempty" doc:"IANA zone of the person, for entries without an offset."`
	// Data may be absent if records are deleted.
	Data    []pushedEntry   `json:"data,omitempty" maxItems:"10000"`
	Deleted []deletedRecord `json:"deleted,omitempty" maxItems:"10000" doc:"Ids of entries to delete, as sent with them. Entries are deleted after data is stored."`
}

// pushedEntry has the name of its resource beside the fields of a sample, or
// of a summary.
type pushedEntry struct {
	Resource  entryResource `json:"resource" doc:"Kind of time series or summary. A summary has the fields that reads of it return."`
	Timestamp *api.Time     `json:"timestamp,omitempty" doc:"Time of a sample, with an offset. Samples need it, and summaries have their own times."`
	End       *api.Time     `json:"end,omitempty" doc:"End of an interval."`
	Type      *string       `json:"type,omitempty"`
	Unit      *string       `json:"unit,omitempty" doc:"Unit of the value. The default is the unit of the resource. Common other units are converted."`
	Value     *float64      `json:"value,omitempty" doc:"Value of a sample. All samples except those of blood_pressure need it. The value of a note is a text."`
	Systolic  *float64      `json:"systolic,omitempty" doc:"Systolic pressure in mmHg. Samples of blood_pressure need it."`
	Diastolic *float64      `json:"diastolic,omitempty" doc:"Diastolic pressure in mmHg. Samples of blood_pressure need it."`

	ID             *string  `json:"id,omitempty" doc:"Your own id of the entry, which deleted can name."`
	TimezoneOffset *int     `json:"timezone_offset,omitempty" doc:"Offset of the time in seconds east of UTC."`
	SourceType     *string  `json:"source_type,omitempty" doc:"Kind of device, such as phone, watch or app."`
	SourceAppID    *string  `json:"source_app_id,omitempty" doc:"Id of the app."`
	Tags           []string `json:"tags,omitempty" doc:"Topics of a note: food, exercise, insulin_injection, unspecified."`
}

// TransformSchema adds the fields whose values are words. The type of a value depends on
// the resource.
func (pushedEntry) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Properties["value"] = &huma.Schema{
		Description: s.Properties["value"].Description,
		AnyOf:       []*huma.Schema{{Type: huma.TypeNumber, Format: "double"}, {Type: huma.TypeString}},
	}
	return withWords(api.State(s, map[string]api.Keywords{"source_type": api.StateEnum(wearables.SourceTypes())}))
}

// TransformSchema states the rules of the body.
func (pushedEntries) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return api.State(s, map[string]api.Keywords{"": stateDataOrDeleted("data"), "time_zone": api.StatePatterns(civil.ZonePattern)})
}

// entryResource is the name of a resource that a person can type in.
type entryResource string

// Schema lists the resources.
func (entryResource) Schema(huma.Registry) *huma.Schema { return api.Enum(entryResources()) }

// entryResources returns the names of the resources that a person can type in.
func entryResources() []string {
	var names []string
	for _, r := range wearables.Resources() {
		if r.Push {
			names = append(names, r.Name)
		}
	}
	for _, d := range wearables.Documents() {
		names = append(names, d.Name)
	}
	return names
}

type entriesIn struct {
	api.UserPath
	RawBody []byte
}

// pushEntries stores entries of the provider manual in one transaction. It converts them
// to a body for each resource and handles these like the pushes of phones. So the checks,
// the identity and the ledger are the same.
//
// Reference 6.9: manual data.
func (h *Handlers) pushEntries(ctx context.Context, c api.Caller, in *entriesIn) (*api.Out[pushBody], error) {
	user, err := h.pushingUser(ctx, c, in.UserID)
	if err != nil {
		return nil, err
	}
	parts, deleted, err := entriesOf(in.RawBody)
	if err != nil {
		return nil, err
	}
	batch := wearables.Batch{Provider: users.Manual, Stage: wearables.Daily, Pushed: true}
	var keep []wearables.WithBatch
	var malformed error
	for _, p := range parts {
		one, err := p.parse(&batch)
		if err != nil {
			return nil, err
		}
		malformed = cmp.Or(malformed, one)
		if p.document != nil {
			keep = append(keep, h.keepSummaries(c, in.UserID, users.Manual, p.document.Name, p.body(), p.summaries, p.first))
		} else {
			keep = append(keep, h.keepSamples(c, in.UserID, ledger.Pack(ledger.Samples, users.Manual, p.series.Name, p.body())))
		}
	}
	if malformed != nil && len(batch.Samples)+len(batch.Summaries) == 0 {
		return nil, malformed
	}
	batch.Also = allOf(keep)
	if err := h.Deletions.RemoveMoved(ctx, c.Team, in.UserID, &batch); err != nil {
		return nil, err
	}
	result, err := h.Ingester.Ingest(ctx, user, batch)
	if err != nil {
		return nil, err
	}
	var rejects []push.Reject
	for _, p := range parts {
		rejects = append(rejects, p.rejects(result)...)
	}
	slices.SortFunc(rejects, func(x, y push.Reject) int { return x.First - y.First })
	answer := pushAnswer(result, rejects)
	answer.Deleted, err = h.deleteFiltered(ctx, user, deletion.Filter{Provider: users.Manual, ExternalIDs: deleted, Reported: true})
	return api.Answer(answer), err
}

// allOf returns a function that runs the steps that are not nil, in order. It returns nil
// if there are none.
func allOf(steps []wearables.WithBatch) wearables.WithBatch {
	steps = slices.DeleteFunc(steps, func(step wearables.WithBatch) bool { return step == nil })
	if len(steps) == 0 {
		return nil
	}
	return func(ctx context.Context, tx *store.Tx, b *store.Batch, stored []uuid.UUID) error {
		for _, step := range steps {
			if err := step(ctx, tx, b, stored); err != nil {
				return err
			}
		}
		return nil
	}
}

// entries contains the entries of one resource, with their places in the list of the
// body.
type entries struct {
	series   *wearables.Resource // either
	document *wearables.Document // or
	zone     json.RawMessage
	items    []json.RawMessage
	places   []int

	samples   *push.Body
	summaries *push.Documents
	unfit     []push.Reject // found before storing
	first     int           // place of its first part in the batch
}

// entriesOf splits a body by resource, in the order of the first entry of each. It does
// not look at values yet. It also returns the ids of the entries to delete.
func entriesOf(body []byte) (all []*entries, deleted []string, err error) {
	var sent struct {
		Zone    json.RawMessage   `json:"time_zone"`
		Data    []json.RawMessage `json:"data"`
		Deleted json.RawMessage   `json:"deleted"`
	}
	if err := json.Unmarshal(body, &sent); err != nil {
		if kind := (*json.UnmarshalTypeError)(nil); errors.As(err, &kind) && kind.Field != "" {
			return nil, nil, fault.New(fault.Invalid, "Input should be a valid list").At("body", kind.Field).WithType("list_type")
		}
		return nil, nil, fault.New(fault.Invalid, "JSON decode error").At("body").WithType("json_invalid")
	}
	if sent.Deleted != nil {
		if deleted, err = push.ParseDeleted(sent.Deleted); err != nil {
			return nil, nil, err
		}
	}
	if sent.Data == nil && len(deleted) == 0 {
		return nil, nil, fault.New(fault.Invalid, "Field required").At("body", "data").WithType("missing")
	}
	if len(sent.Data) > mostEntries {
		return nil, nil, fault.Newf(fault.TooLarge, "a body has at most %d entries", mostEntries).At("body", "data")
	}
	byName := map[string]*entries{}
	for place, item := range sent.Data {
		p, err := resourceOf(item)
		if err != nil {
			return nil, nil, err.At("body", "data", strconv.Itoa(place), "resource")
		}
		name := p.name()
		if byName[name] == nil {
			p.zone, byName[name], all = sent.Zone, p, append(all, p)
		}
		p = byName[name]
		p.items, p.places = append(p.items, item), append(p.places, place)
	}
	return all, deleted, nil
}

func resourceOf(item json.RawMessage) (*entries, *fault.Error) {
	var entry struct{ Resource string }
	if json.Unmarshal(item, &entry) != nil || entry.Resource == "" {
		return nil, fault.New(fault.Invalid, "Field required").WithType("missing")
	}
	if r, ok := wearables.ResourceNamed(entry.Resource); ok && r.Push {
		return &entries{series: r}, nil
	}
	if d, ok := wearables.DocumentNamed(entry.Resource); ok {
		return &entries{document: d}, nil
	}
	return nil, fault.NotInEnum(entryResources())
}

func (p *entries) name() string {
	if p.document != nil {
		return p.document.Name
	}
	return p.series.Name
}

// body converts the entries to the body that a phone would send.
func (p *entries) body() []byte {
	text := append([]byte(`{"stage":"daily","provider":`), strconv.Quote(users.Manual)...)
	if p.zone != nil {
		text = append(append(text, `,"time_zone":`...), p.zone...)
	}
	text = append(text, `,"data":[`...)
	for i, item := range p.items {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, item...)
	}
	return append(text, `]}`...)
}

// parse adds the entries to the batch. A fault, also about the first malformed entry,
// names the place in the list that was sent.
func (p *entries) parse(batch *wearables.Batch) (malformed, err error) {
	if p.document != nil {
		body, malformed, err := push.ParseSummaryPart(p.body(), p.document)
		if err != nil {
			return nil, p.relocate(err)
		}
		p.first, p.summaries = len(batch.Summaries), body
		batch.Summaries = append(batch.Summaries, body.Summaries...)
		return p.relocate(malformed), nil
	}
	body, malformed, err := push.ParsePart(p.body(), p.series)
	if err != nil {
		return nil, p.relocate(err)
	}
	some, unfit := body.Batch(p.series)
	p.samples, p.unfit, p.first = body, unfit, len(batch.Samples)
	batch.Samples = append(batch.Samples, some.Samples...)
	return p.relocate(malformed), nil
}

// relocate changes the place in a fault from the resource's own list to the list that was
// sent.
func (p *entries) relocate(err error) error {
	var one *fault.Error
	if !errors.As(err, &one) || len(one.Loc()) < 3 || one.Loc()[1] != "data" {
		return err
	}
	loc := slices.Clone(one.Loc())
	if i, err := strconv.Atoi(loc[2]); err == nil && i < len(p.places) {
		loc[2] = strconv.Itoa(p.places[i])
	}
	return one.At(loc...)
}

// rejects returns the entries of the resource that are not stored, with their places in
// the list that was sent.
func (p *entries) rejects(stored wearables.Result) []push.Reject {
	var own wearables.Result
	for _, r := range stored.Rejections {
		if r.Resource == p.name() {
			r.Part -= p.first
			own.Rejections = append(own.Rejections, r)
		}
	}
	var all []push.Reject
	if p.samples != nil {
		all = p.samples.Rejects(p.unfit, own)
	} else {
		all = p.summaries.Rejects(own)
	}
	for i := range all {
		all[i].First = p.places[all[i].First]
	}
	return all
}
