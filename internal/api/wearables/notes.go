package wearables

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/api"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/wearables/storage"
)

// Notes are the one time series whose values are texts. They have the paths of
// every other, with shapes of their own.
//
// Reference 7.7, note.
func (h *Handlers) noteRoutes() []api.Route {
	d := documentOf[noteDoc]()
	send := func(ctx context.Context, c api.Caller, in *pushSummariesIn) (*api.Out[pushBody], error) {
		return h.pushSummaries(ctx, c, in, d)
	}
	named := func(id string) func(op *huma.Operation) { return func(op *huma.Operation) { op.OperationID = id } }
	return []api.Route{
		api.Writes[noteGroupsBody](api.Get("/v2/timeseries/{user_id}/note/grouped", h.readNotes, "Read a user's notes, grouped by source")).OwnData(),
		api.Writes[[]noteBody](api.Get("/v2/timeseries/{user_id}/note", h.readPlainNotes, "Read a user's notes from all sources").Deprecated()),
		api.Takes[pushedSummaries[noteDoc]](api.Post("/v2/timeseries/{user_id}/note", send, "Push notes from a phone").Push().OwnData().Announces(pushEvents...).Describe(named("pushNotes"))),
	}
}

type noteDoc struct{}

func (noteDoc) name() string { return "note" }

// noteBody is a note as a sample.
//
// Reference contract: ClientFacingNoteSample.
type noteBody struct {
	Timestamp      api.Time             `json:"timestamp" doc:"The same as start."`
	Start          api.Time             `json:"start" doc:"Start, inclusive."`
	End            api.Time             `json:"end" doc:"End, exclusive. It is the same as start for a note without a length."`
	TimezoneOffset *int                 `json:"timezone_offset" doc:"Offset of the person's time in seconds east of UTC. It is null if unknown."`
	Type           api.OrNull[string]   `json:"type" doc:"Always null."`
	Unit           string               `json:"unit" enum:"text"`
	Value          string               `json:"value" doc:"The note itself."`
	Tags           api.OrNull[[]string] `json:"tags" doc:"Topics of the note: food, exercise, insulin_injection, unspecified."`
}

// noteGroupBody is the contract's GroupedNote.
type noteGroupBody struct {
	Source sourceBody `json:"source"`
	Data   []noteBody `json:"data"`
}

type noteGroupsBody struct {
	Groups     map[string][]noteGroupBody `json:"groups" doc:"Groups by provider slug, one for each source."`
	NextCursor *string                    `json:"next_cursor" doc:"Always null: notes have no pages."`
	Next       *string                    `json:"next" deprecated:"true" doc:"The same as next_cursor."`
}

type notesIn struct {
	PlainRange
	NextCursor string `query:"next_cursor" doc:"Omit it: notes have no pages."`
	Cursor     string `query:"cursor" deprecated:"true" doc:"The same as next_cursor."`
}

func (h *Handlers) readNotes(ctx context.Context, c api.Caller, in *notesIn) (*api.Encoded, error) {
	if in.NextCursor+in.Cursor != "" {
		return nil, fault.New(fault.Invalid, "Value error, this cursor belongs to another list").At("query", "next_cursor")
	}
	all, err := h.notes(ctx, c, &in.PlainRange)
	if err != nil {
		return nil, err
	}
	body := storage.AppendNoteGroups([]byte(`{"groups":`), all, h.logos())
	return api.WriteJSON(append(body, `,"next_cursor":null,"next":null}`...)), nil
}

func (h *Handlers) readPlainNotes(ctx context.Context, c api.Caller, in *PlainRange) (*api.Encoded, error) {
	all, err := h.notes(ctx, c, in)
	if err != nil {
		return nil, err
	}
	return api.WriteJSON(storage.AppendPlainNotes(nil, all)), nil
}

func (h *Handlers) notes(ctx context.Context, c api.Caller, in *PlainRange) (all []storage.Note, err error) {
	start, end, err := api.ParseRange(in.StartDate, in.EndDate)
	if err != nil {
		return nil, err
	}
	err = h.DB.Read(ctx, func(tx *store.Tx) error {
		if err := users.Exists(ctx, tx, c.Team, in.UserID); err != nil {
			return err
		}
		all, err = storage.ListNotes(ctx, tx, c.Team.UUID(), in.UserID.UUID(), storage.SamplesQuery{Provider: in.Provider, From: start.From, To: end.To})
		return err
	})
	return all, err
}
