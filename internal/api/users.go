package api

import (
	"context"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/patch"
	"hale/internal/platform/store"
	"hale/internal/wearables/connections"
)

func (a *API) userRoutes() []route {
	return []route{
		post("/v2/user", a.createUser, "Create a user").creates().sensitive(),
		get("/v2/user", a.listUsers, "List users, newest first"),
		get("/v2/user/resolve/{client_user_id}", a.resolveUser, "Find a user by your own reference"),
		post("/v2/user/undo_delete", a.undoDeleteUser, "Bring back a user deleted within the last 7 days"),
		get("/v2/user/{user_id}", a.getUser, "Get a user"),
		amend("/v2/user/{user_id}", a.patchUser, "Change a user").sensitive(),
		del("/v2/user/{user_id}", a.deleteUser, "Delete a user; its data is erased after 7 days"),
		get("/v2/team/users/search", a.searchUsers, "Search users by id, client_user_id or name").tag("user"),
	}
}

// UserPath is the part of an input that names the user. It is embedded, and huma
// passes over embedded types that are not exported.
type UserPath struct {
	UserID users.ID `path:"user_id" format:"uuid"`
}

type createUserIn struct {
	Body struct {
		ClientUserID      string   `json:"client_user_id" minLength:"1" maxLength:"256" doc:"Your own unique reference. Not an e-mail address, telephone number or anything else personal."`
		FallbackTimeZone  *string  `json:"fallback_time_zone" required:"false" doc:"IANA name, such as Europe/Helsinki."`
		FallbackBirthDate *dayText `json:"fallback_birth_date" required:"false" nullable:"true"`
		IngestionStart    *dayText `json:"ingestion_start" required:"false" nullable:"true"`
		IngestionEnd      *dayText `json:"ingestion_end" required:"false" nullable:"true"`
	}
}

func (in *createUserIn) user() (users.NewUser, error) {
	b := in.Body
	n := users.NewUser{ClientUserID: b.ClientUserID, TimeZone: b.FallbackTimeZone}
	var err1, err2, err3 *fault.Error
	n.BirthDate, err1 = optionalDay(b.FallbackBirthDate, "fallback_birth_date")
	n.IngestionStart, err2 = optionalDay(b.IngestionStart, "ingestion_start")
	n.IngestionEnd, err3 = optionalDay(b.IngestionEnd, "ingestion_end")
	return n, fault.Join(err1, err2, err3)
}

func (a *API) createUser(ctx context.Context, c Caller, in *createUserIn) (*out[userBody], error) {
	n, err := in.user()
	if err != nil {
		return nil, err
	}
	return answering(ctx, a, func(tx *store.Tx) (userBody, error) {
		user, err := users.Create(ctx, tx, c.Team, n)
		if err != nil {
			return userBody{}, err
		}
		return userOf(user, nil), nil
	})
}

type listUsersIn struct {
	Offset int64 `query:"offset" minimum:"0" default:"0" doc:"How many of the newest users to pass over."`
	Limit  int64 `query:"limit" minimum:"1" maximum:"500" default:"100"`
}

type usersBody struct {
	Users  []userBody `json:"users"`
	Total  int64      `json:"total" doc:"All users there are."`
	Offset int64      `json:"offset"`
	Limit  int64      `json:"limit"`
}

func (a *API) listUsers(ctx context.Context, c Caller, in *listUsersIn) (*out[usersBody], error) {
	body := usersBody{Offset: in.Offset, Limit: in.Limit}
	err := a.db.Read(ctx, func(tx *store.Tx) error {
		page, err := users.List(ctx, tx, c.Team, in.Offset, in.Limit)
		if err != nil {
			return err
		}
		body.Total = page.Total
		body.Users, err = withLinks(ctx, tx, c.Team, page.Users)
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer(body), nil
}

func (a *API) getUser(ctx context.Context, c Caller, in *UserPath) (*out[userBody], error) {
	return a.oneUser(ctx, func(tx *store.Tx, beside users.Beside) (users.User, error) {
		return users.Get(ctx, tx, c.Team, in.UserID, beside)
	})
}

type resolveUserIn struct {
	ClientUserID string `path:"client_user_id"`
}

func (a *API) resolveUser(ctx context.Context, c Caller, in *resolveUserIn) (*out[userBody], error) {
	return a.oneUser(ctx, func(tx *store.Tx, beside users.Beside) (users.User, error) {
		return users.Resolve(ctx, tx, c.Team, in.ClientUserID, beside)
	})
}

// oneUser reads a user and its connections, in one query.
func (a *API) oneUser(ctx context.Context, find func(tx *store.Tx, beside users.Beside) (users.User, error)) (*out[userBody], error) {
	var user users.User
	var links []connections.Link
	err := a.db.Peek(ctx, func(tx *store.Tx) (err error) {
		user, err = find(tx, connections.BesideUser(&links))
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer(userOf(user, links)), nil
}

type patchUserIn struct {
	UserPath
	Body struct {
		ClientUserID      patch.Field[string]  `json:"client_user_id" required:"false" doc:"Cannot be null."`
		FallbackTimeZone  patch.Field[string]  `json:"fallback_time_zone" required:"false" doc:"IANA name; null clears."`
		FallbackBirthDate patch.Field[dayText] `json:"fallback_birth_date" required:"false" doc:"Null clears."`
		IngestionStart    patch.Field[dayText] `json:"ingestion_start" required:"false" doc:"Null clears."`
		IngestionEnd      patch.Field[dayText] `json:"ingestion_end" required:"false" doc:"Null clears."`
	}
}

func (in *patchUserIn) update() (users.Update, error) {
	b := in.Body
	u := users.Update{ClientUserID: b.ClientUserID, TimeZone: b.FallbackTimeZone}
	var err1, err2, err3 *fault.Error
	u.BirthDate, err1 = patchedDay(b.FallbackBirthDate, "fallback_birth_date")
	u.IngestionStart, err2 = patchedDay(b.IngestionStart, "ingestion_start")
	u.IngestionEnd, err3 = patchedDay(b.IngestionEnd, "ingestion_end")
	return u, fault.Join(err1, err2, err3)
}

func (a *API) patchUser(ctx context.Context, c Caller, in *patchUserIn) (*out[detailBody], error) {
	u, err := in.update()
	if err != nil {
		return nil, err
	}
	err = a.db.Write(ctx, func(tx *store.Tx) error {
		_, err := users.Change(ctx, tx, c.Team, in.UserID, u)
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer(detailBody{"User updated"}), nil
}

func (a *API) deleteUser(ctx context.Context, c Caller, in *UserPath) (*out[successBody], error) {
	done, err := a.succeed(ctx, func(tx *store.Tx) error { return users.Delete(ctx, tx, c.Team, in.UserID) })
	if err == nil {
		a.keys.drop(func(known Caller) bool { return known.User == in.UserID })
	}
	return done, err
}

// succeed runs a change whose answer is only that it was made.
func (a *API) succeed(ctx context.Context, change func(tx *store.Tx) error) (*out[successBody], error) {
	if err := a.db.Write(ctx, change); err != nil {
		return nil, err
	}
	return answer(successBody{true}), nil
}

// undoDeleteIn takes the user in the query, as the spec lists it, or in the
// body, as the spec's sample sends it.
type undoDeleteIn struct {
	UserID       string `query:"user_id" format:"uuid" doc:"Either this or client_user_id."`
	ClientUserID string `query:"client_user_id" doc:"Either this or user_id."`
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

func (a *API) undoDeleteUser(ctx context.Context, c Caller, in *undoDeleteIn) (*out[successBody], error) {
	ref, err := in.ref()
	if err != nil {
		return nil, err
	}
	return a.succeed(ctx, func(tx *store.Tx) error { return users.Undo(ctx, tx, c.Team, ref) })
}

type searchUsersIn struct {
	QueryID string `query:"query_id" minLength:"2" maxLength:"256" doc:"Start of a user_id, of a client_user_id or of a name. At most 100 users are found."`
}

func (a *API) searchUsers(ctx context.Context, c Caller, in *searchUsersIn) (*out[[]userBody], error) {
	var bodies []userBody
	err := a.db.Read(ctx, func(tx *store.Tx) error {
		found, err := users.Search(ctx, tx, c.Team, in.QueryID)
		if err != nil {
			return err
		}
		bodies, err = withLinks(ctx, tx, c.Team, found)
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer(bodies), nil
}
