package people

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"hale/internal/api"
	"hale/internal/people/users"
	"hale/internal/platform/audit"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/paging"
	"hale/internal/platform/patch"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/providers"
)

func (h *Handlers) userRoutes() []api.Route {
	return []api.Route{
		api.Post("/v2/user", h.createUser, "Create a user").Creates().Sensitive().Announces("user.created").Refuses("client_user_id_taken"),
		api.Get("/v2/user", h.listUsers, "List users, newest first"),
		api.Get("/v2/user/resolve/{client_user_id}", h.resolveUser, "Find a user by your own reference"),
		api.Post("/v2/user/undo_delete", h.undoDeleteUser, "Restore a user deleted within the last 7 days").Sensitive().Announces("user.restored").Refuses("conflict"),
		api.Get("/v2/user/{user_id}", h.getUser, "Get a user"),
		api.Patch("/v2/user/{user_id}", h.patchUser, "Change a user").Sensitive().Creates().Conditional(UserVersion).Announces("user.updated").Refuses("client_user_id_taken"),
		api.Delete("/v2/user/{user_id}", h.deleteUser, "Delete a user; its data is erased after 7 days").Creates().Conditional(UserVersion).Announces("user.deleted", "provider.connection.deleted"),
		api.Get("/v2/team/users/search", h.searchUsers, "Search users by id, client_user_id or name").Tag("user"),
	}
}

type createUserIn struct {
	Body createUserInBody
}

type createUserInBody struct {
	ClientUserID      string        `json:"client_user_id" minLength:"1" maxLength:"256" doc:"Your own unique reference. It must not be personal, such as an e-mail address or a telephone number."`
	FallbackTimeZone  *string       `json:"fallback_time_zone" required:"false" doc:"IANA name, such as Europe/Helsinki."`
	FallbackBirthDate *api.DateText `json:"fallback_birth_date" required:"false" nullable:"true" doc:"Date of birth for providers that give no age."`
	IngestionStart    *api.DateText `json:"ingestion_start" required:"false" nullable:"true" doc:"First day of data to store."`
	IngestionEnd      *api.DateText `json:"ingestion_end" required:"false" nullable:"true" doc:"Last day of data to store, not before ingestion_start."`
}

// TransformSchema states the rules of the domain.
func (createUserInBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return api.State(s, map[string]api.Keywords{
		"client_user_id": api.StatePatterns(`^[^\x00]*$`), "fallback_time_zone": api.StatePatterns(civil.ZonePattern),
	})
}

func (in *createUserIn) user() (users.NewUser, error) {
	b := in.Body
	n := users.NewUser{ClientUserID: b.ClientUserID, TimeZone: b.FallbackTimeZone}
	var err1, err2, err3 *fault.Error
	n.BirthDate, err1 = api.OptionalDate(b.FallbackBirthDate, "fallback_birth_date")
	n.IngestionStart, err2 = api.OptionalDate(b.IngestionStart, "ingestion_start")
	n.IngestionEnd, err3 = api.OptionalDate(b.IngestionEnd, "ingestion_end")
	return n, fault.Join(err1, err2, err3)
}

func (h *Handlers) createUser(ctx context.Context, c api.Caller, in *createUserIn) (*api.Out[userBody], error) {
	n, err := in.user()
	if err != nil {
		return nil, err
	}
	return api.Commit(ctx, h.API, func(tx *store.Tx) (userBody, error) {
		user, err := users.Create(ctx, tx, c.Team, n)
		if err != nil {
			return userBody{}, err
		}
		audit.NotePeople(ctx, user.ID)
		return userOf(user, nil, providers.LogosOf(tx)), nil
	})
}

type listUsersIn struct {
	Offset api.Maybe[int64] `query:"offset" minimum:"0" doc:"Number of the newest users to skip. The default is 0."`
	Limit  int64            `query:"limit" minimum:"1" maximum:"500" default:"100"`
	Cursor string           `query:"next_cursor" doc:"next_cursor of the previous page, instead of offset. It skips and repeats no user while users are created and deleted."`
}

type usersBody struct {
	Users  []userBody `json:"users"`
	Total  int64      `json:"total" doc:"Number of all users."`
	Offset int64      `json:"offset"`
	Limit  int64      `json:"limit"`
	Next   *string    `json:"next_cursor" doc:"Cursor of the next page. It is null on the last page."`
}

func (in *listUsersIn) read(ctx context.Context, tx *store.Tx, team teams.ID) (users.Page, error) {
	if in.Cursor == "" {
		return users.List(ctx, tx, team, in.Offset.Value, in.Limit)
	}
	if in.Offset.Given {
		return users.Page{}, fault.New(fault.Invalid, "Value error, give next_cursor or offset, not both").At("query", "offset")
	}
	var after users.Position
	if err := paging.Decode(in.Cursor, &after); err != nil {
		return users.Page{}, err
	}
	return users.ListAfter(ctx, tx, team, after, in.Limit)
}

func (h *Handlers) listUsers(ctx context.Context, c api.Caller, in *listUsersIn) (*api.Out[usersBody], error) {
	body := usersBody{Offset: in.Offset.Value, Limit: in.Limit}
	err := h.DB.Read(ctx, func(tx *store.Tx) error {
		page, err := in.read(ctx, tx, c.Team)
		if err != nil {
			return err
		}
		body.Total = page.Total
		if page.Next != nil {
			next := paging.Encode(page.Next)
			body.Next = &next
		}
		body.Users, err = bodiesOf(ctx, tx, c.Team, page.Users)
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(body), nil
}

func (h *Handlers) getUser(ctx context.Context, c api.Caller, in *api.UserPath) (*api.Out[userBody], error) {
	return h.readUser(ctx, func(tx *store.Tx) (users.User, error) {
		return users.Get(ctx, tx, c.Team, in.UserID)
	})
}

type resolveUserIn struct {
	ClientUserID string `path:"client_user_id"`
}

func (h *Handlers) resolveUser(ctx context.Context, c api.Caller, in *resolveUserIn) (*api.Out[userBody], error) {
	return h.readUser(ctx, func(tx *store.Tx) (users.User, error) {
		return users.Resolve(ctx, tx, c.Team, in.ClientUserID)
	})
}

// readUser reads a user and its connections.
func (h *Handlers) readUser(ctx context.Context, find func(tx *store.Tx) (users.User, error)) (*api.Out[userBody], error) {
	var body userBody
	err := h.DB.Peek(ctx, func(tx *store.Tx) error {
		user, err := find(tx)
		if err != nil {
			return err
		}
		audit.NotePeople(ctx, user.ID)
		body, err = bodyOf(ctx, tx, user)
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(body), nil
}

type patchUserIn struct {
	api.UserPath
	Body patchUserInBody
}

type patchUserInBody struct {
	ClientUserID      patch.Field[string]       `json:"client_user_id" required:"false" doc:"Your own reference for the user. Null keeps it."`
	FallbackTimeZone  patch.Field[string]       `json:"fallback_time_zone" required:"false" doc:"IANA name of the zone. Null removes it."`
	FallbackBirthDate patch.Field[api.DateText] `json:"fallback_birth_date" required:"false" doc:"Date of birth for providers that give no age. Null removes it."`
	IngestionStart    patch.Field[api.DateText] `json:"ingestion_start" required:"false" doc:"First day of data to store. Null removes it."`
	IngestionEnd      patch.Field[api.DateText] `json:"ingestion_end" required:"false" doc:"Last day of data to store, not before ingestion_start. Null removes it."`
}

// TransformSchema states the rules of the domain.
func (patchUserInBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return api.State(s, map[string]api.Keywords{
		"client_user_id": {"pattern": `^[^\x00]*$`, "minLength": 1, "maxLength": users.MaxClientID}, "fallback_time_zone": api.StatePatterns(civil.ZonePattern),
	})
}

func (in *patchUserIn) update() (users.Update, error) {
	b := in.Body
	u := users.Update{ClientUserID: b.ClientUserID, TimeZone: b.FallbackTimeZone}
	var err1, err2, err3 *fault.Error
	u.BirthDate, err1 = api.PatchedDate(b.FallbackBirthDate, "fallback_birth_date")
	u.IngestionStart, err2 = api.PatchedDate(b.IngestionStart, "ingestion_start")
	u.IngestionEnd, err3 = api.PatchedDate(b.IngestionEnd, "ingestion_end")
	return u, fault.Join(err1, err2, err3)
}

// userUpdatedBody is the answer to a change. It has the ETag of the changed user.
type userUpdatedBody struct {
	Detail string `json:"detail"`
	user   userBody
}

// Version returns the changed user.
func (b userUpdatedBody) Version() any { return b.user.Version() }

func (h *Handlers) patchUser(ctx context.Context, c api.Caller, in *patchUserIn) (*api.Out[userUpdatedBody], error) {
	u, err := in.update()
	if err != nil {
		return nil, err
	}
	return api.Commit(ctx, h.API, func(tx *store.Tx) (body userUpdatedBody, err error) {
		body.Detail = "User updated"
		user, err := users.Change(ctx, tx, c.Team, in.UserID, u)
		if err != nil {
			return body, err
		}
		body.user, err = bodyOf(ctx, tx, user)
		return body, err
	})
}

// UserVersion returns the version of the user in the path.
func UserVersion(ctx context.Context, tx *store.Tx, c api.Caller, r *http.Request) (any, error) {
	id, err := ids.Parse[users.User](chi.URLParam(r, "user_id"))
	if err != nil {
		return nil, fault.New(fault.Invalid, "Input should be a valid UUID").At("path", "user_id").WithType("uuid_parsing")
	}
	user, err := users.GetForUpdate(ctx, tx, c.Team, id)
	if err != nil {
		return nil, err
	}
	body, err := bodyOf(ctx, tx, user)
	return body.Version(), err
}

// bodyOf reads the connections of a user and returns its body.
func bodyOf(ctx context.Context, tx *store.Tx, user users.User) (userBody, error) {
	links, err := connections.Links(ctx, tx, user.Team, user.ID)
	return userOf(user, links[user.ID], providers.LogosOf(tx)), err
}

func (h *Handlers) deleteUser(ctx context.Context, c api.Caller, in *api.UserPath) (*api.Out[api.SuccessBody], error) {
	done, err := h.CommitSuccess(ctx, func(tx *store.Tx) error { return users.Delete(ctx, tx, c.Team, in.UserID) })
	if err == nil {
		h.ForgetCallers(func(known api.Caller) bool { return known.User == in.UserID })
	}
	return done, err
}

// undoDeleteIn has the user in the query, as in the specification's list, or in the
// body, as in its sample.
type undoDeleteIn struct {
	UserID       string `query:"user_id" format:"uuid" doc:"Hale's id of the user. Send either this or client_user_id."`
	ClientUserID string `query:"client_user_id" doc:"Your own reference for the user. Send either this or user_id."`
	Body         *struct {
		UserID       *users.ID `json:"user_id" required:"false" format:"uuid" nullable:"true"`
		ClientUserID *string   `json:"client_user_id" required:"false" nullable:"true"`
	}
}

func (in *undoDeleteIn) ref() (users.Ref, error) {
	var refs []users.Ref
	if in.UserID != "" {
		id, err := ids.Parse[users.User](in.UserID)
		if err != nil {
			return users.Ref{}, fault.New(fault.Invalid, "Input should be a valid UUID").At("query", "user_id").WithType("uuid_parsing")
		}
		refs = append(refs, users.Ref{ID: &id})
	}
	if in.ClientUserID != "" {
		refs = append(refs, users.Ref{ClientUserID: &in.ClientUserID})
	}
	if b := in.Body; b != nil && b.UserID != nil {
		refs = append(refs, users.Ref{ID: b.UserID})
	}
	if b := in.Body; b != nil && b.ClientUserID != nil {
		refs = append(refs, users.Ref{ClientUserID: b.ClientUserID})
	}
	if len(refs) != 1 {
		return users.Ref{}, fault.New(fault.Invalid, "Value error, give exactly one of user_id and client_user_id, in the query or in the body").At("query", "user_id")
	}
	return refs[0], nil
}

func (h *Handlers) undoDeleteUser(ctx context.Context, c api.Caller, in *undoDeleteIn) (*api.Out[api.SuccessBody], error) {
	ref, err := in.ref()
	if err != nil {
		return nil, err
	}
	return h.CommitSuccess(ctx, func(tx *store.Tx) error { return users.UndoDelete(ctx, tx, c.Team, ref) })
}

type searchUsersIn struct {
	QueryID string `query:"query_id" minLength:"2" maxLength:"256" doc:"Start of a user_id, of a client_user_id or of a name. At most 100 users are found."`
}

func (h *Handlers) searchUsers(ctx context.Context, c api.Caller, in *searchUsersIn) (*api.Out[[]userBody], error) {
	var bodies []userBody
	err := h.DB.Read(ctx, func(tx *store.Tx) error {
		found, err := users.Search(ctx, tx, c.Team, in.QueryID)
		if err != nil {
			return err
		}
		bodies, err = bodiesOf(ctx, tx, c.Team, found)
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(bodies), nil
}

// userBody is a user in an answer.
//
// Spec: User.
type userBody struct {
	UserID            users.ID                 `json:"user_id" format:"uuid" doc:"Hale's id of the user."`
	TeamID            teams.ID                 `json:"team_id" format:"uuid"`
	ClientUserID      string                   `json:"client_user_id" doc:"Your own reference for the user."`
	CreatedOn         api.Time                 `json:"created_on"`
	ConnectedSources  []connectedSource        `json:"connected_sources"`
	FallbackTimeZone  api.OrNull[timeZoneBody] `json:"fallback_time_zone" doc:"Time zone of data that has none."`
	FallbackBirthDate *birthDateBody           `json:"fallback_birth_date,omitempty" doc:"Date of birth for providers that give no age."`
	IngestionStart    *civil.Date              `json:"ingestion_start" format:"date" doc:"First day of data to store."`
	IngestionEnd      *civil.Date              `json:"ingestion_end" format:"date" doc:"Last day of data to store."`
}

// connectedSource has a provider twice: as provider and, as callers know it, as source.
//
// Spec: User, ConnectedSource. Appendix A 6.
type connectedSource struct {
	CreatedOn api.Time     `json:"created_on"`
	Source    providerName `json:"source"`
	Provider  providerName `json:"provider"`
}

type timeZoneBody struct {
	ID         string   `json:"id" doc:"IANA name, such as Europe/Helsinki."`
	SourceSlug string   `json:"source_slug" doc:"Source of the value. It is manual if you set it."`
	UpdatedAt  api.Time `json:"updated_at"`
}

type birthDateBody struct {
	Value      civil.Date `json:"value" format:"date"`
	SourceSlug string     `json:"source_slug" doc:"Source of the value. It is manual if you set it."`
	UpdatedAt  api.Time   `json:"updated_at"`
}

func userOf(u users.User, links []connections.Link, logos providers.Logos) userBody {
	body := userBody{
		UserID: u.ID, TeamID: u.Team, ClientUserID: u.ClientUserID, CreatedOn: api.Time(u.CreatedOn),
		ConnectedSources: make([]connectedSource, len(links)), IngestionStart: u.IngestionStart, IngestionEnd: u.IngestionEnd,
	}
	for i, link := range links {
		name := nameOf(link.Provider, logos)
		body.ConnectedSources[i] = connectedSource{api.Time(link.CreatedOn), name, name}
	}
	if z := u.TimeZone; z != nil {
		body.FallbackTimeZone = api.Nullable(&timeZoneBody{z.Name, z.SourceSlug, api.Time(z.UpdatedAt)})
	}
	if b := u.BirthDate; b != nil {
		body.FallbackBirthDate = &birthDateBody{b.Value, b.SourceSlug, api.Time(b.UpdatedAt)}
	}
	return body
}

// bodiesOf reads the connections of users and returns their bodies.
func bodiesOf(ctx context.Context, tx *store.Tx, team teams.ID, all []users.User) ([]userBody, error) {
	bodies := make([]userBody, len(all))
	ids := make([]users.ID, len(all))
	for i, u := range all {
		ids[i] = u.ID
	}
	audit.NotePeople(ctx, ids...)
	links, err := connections.Links(ctx, tx, team, ids...)
	if err != nil {
		return nil, err
	}
	for i, u := range all {
		bodies[i] = userOf(u, links[u.ID], providers.LogosOf(tx))
	}
	return bodies, nil
}

// providerName has the short form of a provider.
type providerName struct {
	Name string `json:"name"`
	Slug string `json:"slug"`
	Logo string `json:"logo" format:"uri"`
}

func nameOf(p providers.Provider, logos providers.Logos) providerName {
	return providerName{p.Name, p.Slug, logos.URL(p.Slug)}
}

// Version returns the user.
func (b userBody) Version() any { return b }

// Subject returns the user whose key seals a stored answer.
func (b userBody) Subject() uuid.UUID { return b.UserID.UUID() }
