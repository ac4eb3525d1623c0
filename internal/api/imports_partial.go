package api

import (
	"context"
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

// Uploads in parts are an addition of ours: a file of gigabytes over a line
// that breaks. The offset works as in the tus protocol.
func (a *API) partialRoutes() []route {
	return []route{
		post("/v2/user/{user_id}/uploads", a.beginUpload, "Begin an upload in parts, or find the one that broke off").creates().status(http.StatusCreated).tag("imports"),
		get("/v2/user/{user_id}/uploads/{upload_id}", a.getUpload, "Ask how much of an upload has arrived").tag("imports"),
		stream(http.MethodPatch, "/v2/user/{user_id}/uploads/{upload_id}", a.appendUpload, "Send a part of a file", describePart),
		del("/v2/user/{user_id}/uploads/{upload_id}", a.abandonUpload, "Give an upload up").tag("imports"),
	}
}

type beginUploadIn struct {
	UserPath
	Body struct {
		Size        int64  `json:"size" minimum:"1" doc:"Bytes of the whole file."`
		Kind        string `json:"kind,omitempty" doc:"Recognised by the content when absent."`
		SHA256      string `json:"sha256,omitempty" doc:"Of the whole file, in hexadecimal. With it an upload of the same file that broke off is found again, and the file is checked."`
		HistoryOnly bool   `json:"history_only,omitempty" doc:"Announce what was imported as history alone."`
	}
}

// uploadBody is an upload in parts on the wire.
type uploadBody struct {
	ID        imports.PartialID  `json:"id" format:"uuid"`
	UserID    users.ID           `json:"user_id" format:"uuid"`
	Size      int64              `json:"size"`
	Offset    int64              `json:"offset" doc:"Bytes that have arrived: the next part begins here."`
	Import    orNull[importBody] `json:"import" doc:"Null until all of it has arrived."`
	CreatedAt Time               `json:"created_at"`
}

func uploadOf(p *imports.Partial, i *imports.Import) uploadBody {
	body := uploadBody{ID: p.ID, UserID: p.User, Size: p.Size, Offset: p.Offset, CreatedAt: Time(p.CreatedAt)}
	if i != nil {
		made := importOf(*i)
		body.Import = nullable(&made)
	}
	return body
}

func (a *API) beginUpload(ctx context.Context, c Caller, in *beginUploadIn) (*out[uploadBody], error) {
	var p imports.Partial
	var made *imports.Import
	err := a.db.Write(ctx, func(tx *store.Tx) (err error) {
		if err = users.Exists(ctx, tx, c.Team, in.UserID); err != nil {
			return err
		}
		if p, made, err = begunUpload(ctx, tx, c, in.UserID); fault.Is(err, fault.NotFound) {
			p, err = a.Imports.Begin(ctx, tx, c.Team, in.UserID, imports.NewPartial{
				Size: in.Body.Size, Kind: in.Body.Kind, SHA256: in.Body.SHA256, HistoryOnly: in.Body.HistoryOnly,
			})
		}
		if err != nil {
			return err
		}
		return renews(ctx, tx, in.UserID, p.ID.String())
	})
	if err != nil {
		return nil, err
	}
	return answer(uploadOf(&p, made)), nil
}

// begunUpload is what the same request began before, as it is now; NotFound where
// there is no such request, or its upload is gone.
func begunUpload(ctx context.Context, tx *store.Tx, c Caller, user users.ID) (imports.Partial, *imports.Import, error) {
	what, _ := begun(ctx)
	id, err := ids.Parse[imports.Partial](what)
	if err != nil {
		return imports.Partial{}, nil, fault.New(fault.NotFound, "Upload not found")
	}
	return partial(ctx, tx, c, user, id)
}

type uploadPath struct {
	UserPath
	UploadID imports.PartialID `path:"upload_id" format:"uuid"`
}

// partial finds an upload, and its import where it has become one.
func partial(ctx context.Context, tx *store.Tx, c Caller, user users.ID, id imports.PartialID) (imports.Partial, *imports.Import, error) {
	p, err := imports.GetPartial(ctx, tx, c.Team, user, id)
	if err != nil || p.Import == nil {
		return p, nil, err
	}
	made, err := imports.Get(ctx, tx, c.Team, user, *p.Import)
	return p, &made, err
}

// findUpload is partial of a user who is there.
func (a *API) findUpload(ctx context.Context, c Caller, user users.ID, id imports.PartialID) (p imports.Partial, made *imports.Import, err error) {
	err = a.db.Read(ctx, func(tx *store.Tx) (err error) {
		if err = users.Exists(ctx, tx, c.Team, user); err == nil {
			p, made, err = partial(ctx, tx, c, user, id)
		}
		return err
	})
	return p, made, err
}

func (a *API) getUpload(ctx context.Context, c Caller, in *uploadPath) (*out[uploadBody], error) {
	p, made, err := a.findUpload(ctx, c, in.UserID, in.UploadID)
	if err != nil {
		return nil, err
	}
	return answer(uploadOf(&p, made)), nil
}

func (a *API) abandonUpload(ctx context.Context, c Caller, in *uploadPath) (*out[successBody], error) {
	p, _, err := a.findUpload(ctx, c, in.UserID, in.UploadID)
	if err == nil {
		err = a.Imports.Abandon(ctx, &p)
	}
	if err != nil {
		return nil, err
	}
	return answer(successBody{true}), nil
}

// appendUpload takes a part. With the last one the file becomes an import, and
// the answer is 202.
func (a *API) appendUpload(ctx context.Context, c Caller, w http.ResponseWriter, r *http.Request) error {
	user, badUser := ids.Parse[users.User](chi.URLParam(r, "user_id"))
	id, badID := ids.Parse[imports.Partial](chi.URLParam(r, "upload_id"))
	offset, badOffset := strconv.ParseInt(r.Header.Get(offsetHeader), 10, 64)
	switch {
	case badUser != nil:
		return fault.New(fault.Invalid, "Input should be a valid UUID").At("path", "user_id").WithType("uuid_parsing")
	case badID != nil:
		return fault.New(fault.Invalid, "Input should be a valid UUID").At("path", "upload_id").WithType("uuid_parsing")
	}
	p, made, err := a.findUpload(ctx, c, user, id)
	if err != nil {
		return err
	}
	if badOffset != nil || offset < 0 {
		return fault.New(fault.Invalid, "Input should be a valid integer").At("header", offsetHeader).WithType("int_parsing")
	}
	if made == nil {
		if err := a.Imports.ReceivePart(ctx, &p, offset, r.ContentLength, r.Body); err != nil {
			return err
		}
		if p.Offset == p.Size { // a file of gigabytes takes its time: who asks again finds it done
			one, err := a.Imports.Complete(context.WithoutCancel(ctx), &p)
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

// offsetHeader says where a part begins, and in the answer where the next one
// does.
const offsetHeader = "Upload-Offset"

// describePart says in OpenAPI what appendUpload reads by hand.
func describePart(op *huma.Operation) {
	op.Tags = []string{"imports"}
	op.Description = "The body is the file from the offset on, to its end or not. What arrives stays, also when the line breaks: " +
		"ask for the offset and go on there. A part that does not begin at the offset is refused with 409. " +
		"With the last byte the file becomes an import."
	text := func(format string) *huma.Schema { return &huma.Schema{Type: huma.TypeString, Format: format} }
	op.Parameters = []*huma.Param{
		{Name: "user_id", In: "path", Required: true, Schema: text("uuid")},
		{Name: "upload_id", In: "path", Required: true, Schema: text("uuid")},
		{Name: offsetHeader, In: "header", Required: true, Schema: &huma.Schema{Type: huma.TypeInteger, Format: "int64"}, Description: "Where the part begins."},
	}
	op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/offset+octet-stream": {Schema: text("binary")}}}
	schema := huma.DefaultSchemaNamer(reflect.TypeFor[uploadBody](), "")
	op.Responses["200"] = jsonResponse("The part is on disk; more is to come.", schema)
	op.Responses["202"] = jsonResponse("The file is whole and its import is queued.", schema)
}
