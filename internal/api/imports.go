package api

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/wearables/imports"
)

func (a *API) importRoutes() []route {
	return []route{
		stream(http.MethodPost, "/v2/user/{user_id}/imports", a.createImport, "Import an export of health data", describeUpload).creates(),
		get("/v2/user/{user_id}/imports", a.listImports, "List a user's imports").tag("imports"),
		get("/v2/user/{user_id}/imports/{import_id}", a.getImport, "Get an import").tag("imports"),
		del("/v2/user/{user_id}/imports/{import_id}", a.cancelImport, "Cancel an import; what it has stored stays").tag("imports"),
	}
}

// importBody is an import on the wire.
type importBody struct {
	ID          imports.ID             `json:"id" format:"uuid" doc:"The id of its job as well."`
	UserID      users.ID               `json:"user_id" format:"uuid"`
	Kind        string                 `json:"kind" doc:"What the file was recognised as, such as apple_health or fit."`
	Status      string                 `json:"status" doc:"queued, running, succeeded, failed or canceled. The list may grow."`
	Size        int64                  `json:"size" doc:"Bytes of the upload."`
	SHA256      string                 `json:"sha256" doc:"Of the upload, in hexadecimal."`
	HistoryOnly bool                   `json:"history_only"`
	Progress    importProgress         `json:"progress"`
	Created     int                    `json:"created" doc:"Samples and summaries that were new."`
	Updated     int                    `json:"updated" doc:"Samples and summaries that changed."`
	Unchanged   int                    `json:"unchanged" doc:"Samples and summaries that were there already."`
	Rejected    int                    `json:"rejected" doc:"Samples and summaries that break a rule."`
	Skipped     int64                  `json:"skipped" doc:"Records of the file that were not kept."`
	Report      orNull[imports.Report] `json:"report" doc:"Null until the import is over."`
	Error       *string                `json:"error" doc:"Why it failed, or why it is tried again."`
	Attempts    int                    `json:"attempts"`
	CreatedAt   Time                   `json:"created_at"`
	StartedAt   *Time                  `json:"started_at" nullable:"true" doc:"When the last attempt began."`
	FinishedAt  *Time                  `json:"finished_at" nullable:"true"`
}

type importProgress struct {
	Step       string `json:"step" doc:"reading or summarising; empty before the first attempt."`
	BytesDone  int64  `json:"bytes_done" doc:"Of the document, uncompressed."`
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
		Report: nullable(i.Report), Attempts: i.Attempts,
		CreatedAt: Time(i.CreatedAt), StartedAt: wireTime(i.StartedAt), FinishedAt: wireTime(i.FinishedAt),
	}
	if i.Error != "" {
		body.Error = &i.Error
	}
	if r := i.Report; r != nil {
		body.Created, body.Updated, body.Unchanged, body.Rejected = r.Created, r.Updated, r.Unchanged, r.Rejected
	}
	return body
}

// createImport takes a file as the raw body. The answer comes when the file is
// on disk and recognised; the work is a job.
func (a *API) createImport(ctx context.Context, c Caller, w http.ResponseWriter, r *http.Request) error {
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
	if err := a.db.Read(ctx, func(tx *store.Tx) error { return users.Exists(ctx, tx, c.Team, id) }); err != nil {
		return err
	}
	var at *attempt // nil without an Idempotency-Key; a refusal is decided anew
	if idempotencyKey(r) != "" {
		if at, err = a.attempt(r, http.StatusAccepted); err != nil {
			return err
		}
		defer a.running.release(at.claim)
	}
	up, err := a.Imports.Receive(ctx, query.Get("kind"), r.Body)
	if err != nil {
		return err
	}
	if at != nil {
		at.request, at.subject = fingerprint(r, up.SHA256), id.UUID()
		if a.replayed(r, w, at) {
			up.Discard()
			return nil
		}
	}
	made, err := a.beginImport(ctx, c, id, up, historyOnly, at)
	switch {
	case err != nil && at != nil && at.beaten && a.replayed(r, w, at):
		return nil
	case err != nil:
		return err
	case at != nil: // what is sent is what was stored
		at.answer.writeTo(w)
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

// beginImport makes an import of a file that is here whole, and keeps the answer
// of an attempt in the transaction of that. A caller who hangs up now has sent
// all of it, and finds the import in the list.
func (a *API) beginImport(ctx context.Context, c Caller, id users.ID, up *imports.Upload, historyOnly bool, at *attempt) (made imports.Import, err error) {
	ctx = context.WithoutCancel(ctx)
	if err = a.Imports.Share(ctx, c.Team, id, up); err == nil {
		if at != nil {
			ctx = at.in(ctx)
		}
		err = a.db.Write(ctx, func(tx *store.Tx) error {
			user, err := users.Get(ctx, tx, c.Team, id)
			if err != nil {
				return err
			}
			if made, err = a.Imports.Create(ctx, tx, user, up, historyOnly); err != nil {
				return err
			}
			return answers(ctx, tx, importOf(made))
		})
	}
	if err != nil {
		up.Discard()
	}
	return made, err
}

func (a *API) listImports(ctx context.Context, c Caller, in *UserPath) (*out[importsBody], error) {
	var all []imports.Import
	err := a.db.Read(ctx, func(tx *store.Tx) (err error) {
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
	return answer(body), nil
}

type importPath struct {
	UserPath
	ImportID imports.ID `path:"import_id" format:"uuid"`
}

func (a *API) getImport(ctx context.Context, c Caller, in *importPath) (*out[importBody], error) {
	var i imports.Import
	err := a.db.Read(ctx, func(tx *store.Tx) (err error) {
		if err := users.Exists(ctx, tx, c.Team, in.UserID); err != nil {
			return err
		}
		i, err = imports.Get(ctx, tx, c.Team, in.UserID, in.ImportID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer(importOf(i)), nil
}

func (a *API) cancelImport(ctx context.Context, c Caller, in *importPath) (*out[importBody], error) {
	var i imports.Import
	err := a.db.Write(ctx, func(tx *store.Tx) (err error) {
		if err := users.Exists(ctx, tx, c.Team, in.UserID); err != nil {
			return err
		}
		i, err = a.Imports.Cancel(ctx, tx, c.Team, in.UserID, in.ImportID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer(importOf(i)), nil
}

// describeUpload says in OpenAPI what createImport reads by hand.
func describeUpload(op *huma.Operation) {
	op.Tags = []string{"imports"}
	op.Description = "The body is the file itself, of any kind that can be imported, with or without Content-Encoding: gzip. " +
		"The answer comes when the file is safely on disk; the work goes on in the background. " +
		"The same file may be sent again: what is there already is left as it is."
	text := func(format string) *huma.Schema { return &huma.Schema{Type: huma.TypeString, Format: format} }
	kind := text("")
	for _, name := range imports.Kinds() {
		kind.Enum = append(kind.Enum, name)
	}
	op.Parameters = append(op.Parameters, []*huma.Param{
		{Name: "user_id", In: "path", Required: true, Schema: text("uuid")},
		{Name: "kind", In: "query", Schema: kind, Description: "Recognised by the content when absent."},
		{Name: "history_only", In: "query", Schema: &huma.Schema{Type: huma.TypeBoolean, Default: false}, Description: "Announce what was imported as history alone, without an event for each piece of data."},
		{Name: "filename", In: "query", Schema: text(""), Description: "For the caller's own logs. It is neither needed nor kept: people put names into it."},
	}...)
	file := &huma.MediaType{Schema: text("binary")}
	op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
		"application/octet-stream": file, "application/zip": file, "application/xml": file,
	}}
	op.Responses["202"] = jsonResponse("The file is safe and its import is queued.", huma.DefaultSchemaNamer(reflect.TypeFor[importBody](), ""))
}
