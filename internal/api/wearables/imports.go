package wearables

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	"hale/internal/api"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/wearables/imports"
)

func (h *Handlers) importRoutes() []api.Route {
	return []api.Route{
		api.Stream(http.MethodPost, "/v2/user/{user_id}/imports", h.createImport, "Import an export of health data", describeUpload).Creates().Announces(pushEvents...),
		api.Get("/v2/user/{user_id}/imports", h.listImports, "List a user's imports").Tag("imports"),
		api.Get("/v2/user/{user_id}/imports/{import_id}", h.getImport, "Get an import").Tag("imports"),
		api.Delete("/v2/user/{user_id}/imports/{import_id}", h.cancelImport, "Cancel an import; stored data remains").Tag("imports").Refuses("conflict"),
	}
}

// importBody is an import on the wire.
type importBody struct {
	ID          imports.ID                 `json:"id" format:"uuid" doc:"Id of the import and of its job."`
	UserID      users.ID                   `json:"user_id" format:"uuid"`
	Kind        string                     `json:"kind" doc:"Kind of the file, such as apple_health or fit."`
	Status      string                     `json:"status" doc:"queued, running, succeeded, failed or canceled. The list may grow."`
	Size        int64                      `json:"size" doc:"Size of the upload in bytes."`
	SHA256      string                     `json:"sha256" doc:"SHA-256 of the upload, in hexadecimal."`
	HistoryOnly bool                       `json:"history_only"`
	Progress    importProgress             `json:"progress"`
	Created     int                        `json:"created" doc:"Number of new samples and summaries."`
	Updated     int                        `json:"updated" doc:"Number of samples and summaries that changed."`
	Unchanged   int                        `json:"unchanged" doc:"Number of samples and summaries that were stored already."`
	Rejected    int                        `json:"rejected" doc:"Number of samples and summaries that break a rule."`
	Skipped     int64                      `json:"skipped" doc:"Number of records of the file that were not imported."`
	Report      api.OrNull[imports.Report] `json:"report" doc:"Report of the import. It is null until the import has ended."`
	Error       *string                    `json:"error" doc:"Reason of the failure, or of the next attempt."`
	Attempts    int                        `json:"attempts"`
	CreatedAt   api.Time                   `json:"created_at"`
	StartedAt   *api.Time                  `json:"started_at" nullable:"true" doc:"Start of the last attempt."`
	FinishedAt  *api.Time                  `json:"finished_at" nullable:"true"`
}

type importProgress struct {
	Step       string `json:"step" doc:"Step of the import: reading or summarising. It is empty before the first attempt."`
	BytesDone  int64  `json:"bytes_done" doc:"Number of bytes of the uncompressed document that were read."`
	BytesTotal int64  `json:"bytes_total"`
	Records    int64  `json:"records"`
	Skipped    int64  `json:"skipped"`
}

type importsBody struct {
	Imports []importBody `json:"imports"`
}

func importOf(i imports.Import) importBody {
	p := i.Progress
	body := importBody{
		ID: i.ID, UserID: i.User, Kind: i.Kind, Status: string(i.Status), Size: i.Size, SHA256: hex.EncodeToString(i.SHA256),
		HistoryOnly: i.HistoryOnly, Progress: importProgress{p.Step, p.Done, p.Total, p.Records, p.Skipped}, Skipped: p.Skipped,
		Report: api.Nullable(i.Report), Attempts: i.Attempts,
		CreatedAt: api.Time(i.CreatedAt), StartedAt: api.TimeOrNull(i.StartedAt), FinishedAt: api.TimeOrNull(i.FinishedAt),
	}
	if i.Error != "" {
		body.Error = &i.Error
	}
	if r := i.Report; r != nil {
		body.Created, body.Updated, body.Unchanged, body.Rejected = r.Created, r.Updated, r.Unchanged, r.Rejected
	}
	return body
}

// createImport stores a file from the raw body. It answers when the file is on disk and its
// kind is known. A job does the import.
func (h *Handlers) createImport(ctx context.Context, c api.Caller, w http.ResponseWriter, r *http.Request) error {
	id, err := ids.Parse[users.User](chi.URLParam(r, "user_id"))
	if err != nil {
		return fault.New(fault.Invalid, "Input should be a valid UUID").At("path", "user_id").WithType("uuid_parsing")
	}
	query := r.URL.Query()
	historyOnly := false
	if text := query.Get("history_only"); text != "" {
		if historyOnly, err = strconv.ParseBool(text); err != nil {
			return fault.New(fault.Invalid, "Input should be a valid boolean").At("query", "history_only").WithType("bool_parsing")
		}
	}
	if err := h.DB.Read(ctx, func(tx *store.Tx) error { return users.Exists(ctx, tx, c.Team, id) }); err != nil {
		return err
	}
	var at *api.Attempt // nil without an Idempotency-Key; refusals are not replayed
	if api.HasIdempotencyKey(r) {
		if at, err = h.NewAttempt(r, http.StatusAccepted); err != nil {
			return err
		}
		defer h.EndAttempt(at)
	}
	up, err := h.Imports.Receive(ctx, query.Get("kind"), r.Body)
	if err != nil {
		return err
	}
	if at != nil {
		at.Identify(r, up.SHA256, id.UUID())
		if h.ReplayAnswer(w, r, at) {
			up.Discard()
			return nil
		}
	}
	made, err := h.beginImport(ctx, c, id, up, historyOnly, at)
	switch {
	case err != nil && at != nil && at.Overtaken() && h.ReplayAnswer(w, r, at):
		return nil
	case err != nil:
		return err
	case at != nil: // what is sent is what was stored
		at.WriteAnswer(w)
		return nil
	}
	body, err := json.Marshal(importOf(made))
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusAccepted)
	_, _ = w.Write(body) // a caller that has gone finds the import in the list
	return nil
}

// beginImport creates an import of a complete file, and stores the answer of an
// idempotent request in the same transaction. A caller who disconnects now has sent the
// whole file, and finds the import in the list.
func (h *Handlers) beginImport(ctx context.Context, c api.Caller, id users.ID, up *imports.Upload, historyOnly bool, at *api.Attempt) (made imports.Import, err error) {
	ctx = context.WithoutCancel(ctx)
	if err = h.Imports.Share(ctx, c.Team, id, up); err == nil {
		if at != nil {
			ctx = at.Context(ctx)
		}
		err = h.DB.Write(ctx, func(tx *store.Tx) error {
			user, err := users.Get(ctx, tx, c.Team, id)
			if err != nil {
				return err
			}
			if made, err = h.Imports.Create(ctx, tx, user, up, historyOnly); err != nil {
				return err
			}
			return api.RecordAnswer(ctx, tx, importOf(made))
		})
	}
	if err != nil {
		up.Discard()
	}
	return made, err
}

func (h *Handlers) listImports(ctx context.Context, c api.Caller, in *api.UserPath) (*api.Out[importsBody], error) {
	var all []imports.Import
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		if err := users.Exists(ctx, tx, c.Team, in.UserID); err != nil {
			return err
		}
		all, err = imports.List(ctx, tx, c.Team, in.UserID)
		return err
	})
	if err != nil {
		return nil, err
	}
	body := importsBody{make([]importBody, len(all))}
	for i, one := range all {
		body.Imports[i] = importOf(one)
	}
	return api.Answer(body), nil
}

type importPath struct {
	api.UserPath
	ImportID imports.ID `path:"import_id" format:"uuid"`
}

func (h *Handlers) getImport(ctx context.Context, c api.Caller, in *importPath) (*api.Out[importBody], error) {
	var i imports.Import
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		if err := users.Exists(ctx, tx, c.Team, in.UserID); err != nil {
			return err
		}
		i, err = imports.Get(ctx, tx, c.Team, in.UserID, in.ImportID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(importOf(i)), nil
}

func (h *Handlers) cancelImport(ctx context.Context, c api.Caller, in *importPath) (*api.Out[importBody], error) {
	var i imports.Import
	err := h.DB.Write(ctx, func(tx *store.Tx) (err error) {
		if err := users.Exists(ctx, tx, c.Team, in.UserID); err != nil {
			return err
		}
		i, err = h.Imports.Cancel(ctx, tx, c.Team, in.UserID, in.ImportID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(importOf(i)), nil
}

// describeUpload documents the request, because createImport parses it itself.
func describeUpload(op *huma.Operation) {
	op.Tags = []string{"imports"}
	op.Description = "The body is the file itself, of any kind that can be imported, with or without Content-Encoding: gzip. " +
		"The answer comes after the file is stored on disk. The import runs in the background. " +
		"The same file may be sent again. Data that is stored already is not changed."
	text := func(format string) *huma.Schema { return &huma.Schema{Type: huma.TypeString, Format: format} }
	kind := text("")
	for _, name := range imports.Kinds() {
		kind.Enum = append(kind.Enum, name)
	}
	op.Parameters = append(op.Parameters, []*huma.Param{
		{Name: "user_id", In: "path", Required: true, Schema: text("uuid")},
		{Name: "kind", In: "query", Schema: kind, Description: "Kind of the file. By default Hale recognises it by the content."},
		{Name: "history_only", In: "query", Schema: &huma.Schema{Type: huma.TypeBoolean, Default: false}, Description: "Announce the imported data only with events about the history, without events about the values."},
		{Name: "filename", In: "query", Schema: text(""), Description: "Name for the caller's own logs. Hale does not store it, because people put names into it."},
	}...)
	file := &huma.MediaType{Schema: text("binary")}
	op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
		"application/octet-stream": file, "application/zip": file, "application/xml": file,
	}}
	op.Responses["202"] = api.JSONResponse("The file is stored and its import is queued.", huma.DefaultSchemaNamer(reflect.TypeFor[importBody](), ""))
}

// partialRoutes returns the routes for uploads in parts. They are an addition to the
// reference, for large files over unreliable connections. The offset works as in the tus
// protocol.
func (h *Handlers) partialRoutes() []api.Route {
	return []api.Route{
		api.Post("/v2/user/{user_id}/uploads", h.beginUpload, "Begin an upload in parts, or resume an interrupted one").Creates().Status(http.StatusCreated).Tag("imports"),
		api.Get("/v2/user/{user_id}/uploads/{upload_id}", h.getUpload, "Get the state of an upload").Tag("imports"),
		api.Stream(http.MethodPatch, "/v2/user/{user_id}/uploads/{upload_id}", h.appendUpload, "Send a part of a file", describePart).Announces(pushEvents...).Refuses("conflict"),
		api.Delete("/v2/user/{user_id}/uploads/{upload_id}", h.abandonUpload, "Abandon an upload").Tag("imports").Refuses("conflict"),
	}
}

type beginUploadIn struct {
	api.UserPath
	Body beginUploadInBody
}

type beginUploadInBody struct {
	Size        int64  `json:"size" minimum:"1" doc:"Size of the whole file in bytes."`
	Kind        string `json:"kind,omitempty" doc:"Kind of the file. By default Hale recognises it by the content."`
	SHA256      string `json:"sha256,omitempty" pattern:"^([0-9A-Fa-f]{64})?$" doc:"SHA-256 of the whole file, in hexadecimal. Hale checks the file against it, and resumes an interrupted upload of the same file."`
	HistoryOnly bool   `json:"history_only,omitempty" doc:"Announce the imported data only with events about the history."`
}

// TransformSchema states the rules of the domain.
func (beginUploadInBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return api.State(s, map[string]api.Keywords{
		"kind": api.StateEnum(append(imports.Kinds(), "")),
	})
}

// uploadBody is an upload in parts on the wire.
type uploadBody struct {
	ID        imports.PartialID      `json:"id" format:"uuid"`
	UserID    users.ID               `json:"user_id" format:"uuid"`
	Size      int64                  `json:"size"`
	Offset    int64                  `json:"offset" doc:"Number of bytes that have arrived. The next part begins at this offset."`
	Import    api.OrNull[importBody] `json:"import" doc:"Import of the file. It is null until the whole file has arrived."`
	CreatedAt api.Time               `json:"created_at"`
}

func uploadOf(p *imports.PartialUpload, i *imports.Import) uploadBody {
	body := uploadBody{ID: p.ID, UserID: p.User, Size: p.Size, Offset: p.Offset, CreatedAt: api.Time(p.CreatedAt)}
	if i != nil {
		made := importOf(*i)
		body.Import = api.Nullable(&made)
	}
	return body
}

func (h *Handlers) beginUpload(ctx context.Context, c api.Caller, in *beginUploadIn) (*api.Out[uploadBody], error) {
	var p imports.PartialUpload
	var made *imports.Import
	err := h.DB.Write(ctx, func(tx *store.Tx) (err error) {
		if err = users.Exists(ctx, tx, c.Team, in.UserID); err != nil {
			return err
		}
		if p, made, err = begunUpload(ctx, tx, c, in.UserID); fault.Is(err, fault.NotFound) {
			p, err = h.Imports.Begin(ctx, tx, c.Team, in.UserID, imports.NewPartial{
				Size: in.Body.Size, Kind: in.Body.Kind, SHA256: in.Body.SHA256, HistoryOnly: in.Body.HistoryOnly,
			})
		}
		if err != nil {
			return err
		}
		return api.RecordRenewal(ctx, tx, in.UserID, p.ID.String())
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(uploadOf(&p, made)), nil
}

// begunUpload returns the upload that an earlier attempt of the same request began, in
// its current state. It returns NotFound if there is none or it was removed.
func begunUpload(ctx context.Context, tx *store.Tx, c api.Caller, user users.ID) (imports.PartialUpload, *imports.Import, error) {
	what, _ := api.Progress(ctx)
	id, err := ids.Parse[imports.PartialUpload](what)
	if err != nil {
		return imports.PartialUpload{}, nil, fault.New(fault.NotFound, "Upload not found")
	}
	return getPartial(ctx, tx, c, user, id)
}

type uploadPath struct {
	api.UserPath
	UploadID imports.PartialID `path:"upload_id" format:"uuid"`
}

// getPartial returns an upload, and its import if the upload is complete.
func getPartial(ctx context.Context, tx *store.Tx, c api.Caller, user users.ID, id imports.PartialID) (imports.PartialUpload, *imports.Import, error) {
	p, err := imports.GetPartial(ctx, tx, c.Team, user, id)
	if err != nil || p.Import == nil {
		return p, nil, err
	}
	made, err := imports.Get(ctx, tx, c.Team, user, *p.Import)
	return p, &made, err
}

// findUpload reads an upload and its import like partial, after a check that the user
// exists.
func (h *Handlers) findUpload(ctx context.Context, c api.Caller, user users.ID, id imports.PartialID) (p imports.PartialUpload, made *imports.Import, err error) {
	err = h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		if err = users.Exists(ctx, tx, c.Team, user); err == nil {
			p, made, err = getPartial(ctx, tx, c, user, id)
		}
		return err
	})
	return p, made, err
}

func (h *Handlers) getUpload(ctx context.Context, c api.Caller, in *uploadPath) (*api.Out[uploadBody], error) {
	p, made, err := h.findUpload(ctx, c, in.UserID, in.UploadID)
	if err != nil {
		return nil, err
	}
	return api.Answer(uploadOf(&p, made)), nil
}

func (h *Handlers) abandonUpload(ctx context.Context, c api.Caller, in *uploadPath) (*api.Out[api.SuccessBody], error) {
	p, _, err := h.findUpload(ctx, c, in.UserID, in.UploadID)
	if err == nil {
		err = h.Imports.Abandon(ctx, &p)
	}
	if err != nil {
		return nil, err
	}
	return api.Answer(api.SuccessBody{Success: true}), nil
}

// appendUpload appends a part. The last part turns the file into an import, and its
// answer is 202.
func (h *Handlers) appendUpload(ctx context.Context, c api.Caller, w http.ResponseWriter, r *http.Request) error {
	user, badUser := ids.Parse[users.User](chi.URLParam(r, "user_id"))
	id, badID := ids.Parse[imports.PartialUpload](chi.URLParam(r, "upload_id"))
	offset, badOffset := strconv.ParseInt(r.Header.Get(offsetHeader), 10, 64)
	switch {
	case badUser != nil:
		return fault.New(fault.Invalid, "Input should be a valid UUID").At("path", "user_id").WithType("uuid_parsing")
	case badID != nil:
		return fault.New(fault.Invalid, "Input should be a valid UUID").At("path", "upload_id").WithType("uuid_parsing")
	}
	p, made, err := h.findUpload(ctx, c, user, id)
	if err != nil {
		return err
	}
	if badOffset != nil || offset < 0 {
		return fault.New(fault.Invalid, "Input should be a valid integer").At("header", offsetHeader).WithType("int_parsing")
	}
	if made == nil {
		if err := h.Imports.ReceivePart(ctx, &p, offset, r.ContentLength, r.Body); err != nil {
			return err
		}
		if p.Offset == p.Size { // a file of gigabytes takes its time: who asks again finds it done
			one, err := h.Imports.Complete(context.WithoutCancel(ctx), &p)
			if err != nil {
				return err
			}
			made = &one
		}
	}
	body, err := json.Marshal(uploadOf(&p, made))
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set(offsetHeader, strconv.FormatInt(p.Offset, 10))
	if made != nil {
		w.WriteHeader(http.StatusAccepted)
	}
	_, _ = w.Write(body) // a caller that has gone asks again
	return nil
}

// offsetHeader holds the offset of a part in the file, and in the answer the offset of
// the next part.
const offsetHeader = "Upload-Offset"

// describePart documents the request, because appendUpload parses it itself.
func describePart(op *huma.Operation) {
	op.Tags = []string{"imports"}
	op.Description = "The body is the file from the offset on. It may end before the file does. The received bytes are stored, also if the connection breaks: " +
		"read the offset and continue there. A part that does not begin at the offset is refused with 409. " +
		"With the last byte the file becomes an import."
	text := func(format string) *huma.Schema { return &huma.Schema{Type: huma.TypeString, Format: format} }
	op.Parameters = []*huma.Param{
		{Name: "user_id", In: "path", Required: true, Schema: text("uuid")},
		{Name: "upload_id", In: "path", Required: true, Schema: text("uuid")},
		{Name: offsetHeader, In: "header", Required: true, Schema: &huma.Schema{Type: huma.TypeInteger, Format: "int64", Minimum: new(float64)}, Description: "Offset of the part in the file."},
	}
	op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/offset+octet-stream": {Schema: text("binary")}}}
	schema := huma.DefaultSchemaNamer(reflect.TypeFor[uploadBody](), "")
	op.Responses["200"] = api.JSONResponse("The part is stored. The file is not complete.", schema)
	op.Responses["202"] = api.JSONResponse("The file is complete and its import is queued.", schema)
}
