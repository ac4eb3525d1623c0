package platform

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"hale/internal/api"
	"hale/internal/people/users"
	"hale/internal/platform/audit"
	"hale/internal/platform/paging"
	"hale/internal/platform/store"
)

func (h *Handlers) auditRoutes() []api.Route {
	return []api.Route{
		api.Get("/v2/audit", h.listAudit, "List accesses to personal data, newest first"),
	}
}

// actorKindWord is the kind of a caller.
type actorKindWord string

func (actorKindWord) Schema(huma.Registry) *huma.Schema { return api.Enum(audit.ActorKinds) }

type listAuditIn struct {
	User       []api.IDText         `query:"user_id,explode" maxItems:"50" doc:"Return only accesses to the data of these people, who may have been erased."`
	ActorKind  []actorKindWord      `query:"actor_kind,explode" maxItems:"50"`
	Actor      []string             `query:"actor,explode" maxItems:"50" doc:"Ids of keys or sessions, or names of operators."`
	OnBehalfOf string               `query:"on_behalf_of" maxLength:"128" doc:"Return only accesses with this X-Hale-On-Behalf-Of."`
	Action     []string             `query:"action,explode" maxItems:"200" doc:"Ids of operations of this document, such as getUser."`
	From       api.Maybe[time.Time] `query:"from" doc:"Start of the range, inclusive."`
	To         api.Maybe[time.Time] `query:"to" doc:"End of the range, inclusive."`
	Limit      int                  `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	Cursor     string               `query:"next_cursor" doc:"next_cursor of the previous page."`
}

type auditBody struct {
	Accesses   []accessBody `json:"accesses"`
	NextCursor *string      `json:"next_cursor" doc:"Cursor of the next page. It is null on the last page. An earlier page may contain fewer than limit items, or none."`
}

// accessBody is a row of the audit log.
type accessBody struct {
	At         api.Time              `json:"at"`
	ActorKind  actorKindWord         `json:"actor_kind"`
	Actor      string                `json:"actor" doc:"Id of the key or session, or the name of the user of the machine."`
	OnBehalfOf *string               `json:"on_behalf_of" doc:"Person that the caller acted for, as sent in X-Hale-On-Behalf-Of."`
	Action     string                `json:"action" doc:"The id of an operation of this document, a page of the portal, or a command."`
	User       api.OrNull[uuid.UUID] `json:"user_id" doc:"Person of the access, or null. An access to several people has a row for each."`
	Object     *string               `json:"object_id" doc:"Another id of the address, such as an order's."`
	Address    *string               `json:"address" doc:"IP address of the caller."`
	Status     int                   `json:"status" doc:"HTTP status of the answer."`
	RequestID  *string               `json:"request_id" doc:"X-Request-Id of the answer."`
}

func (h *Handlers) listAudit(ctx context.Context, c api.Caller, in *listAuditIn) (*api.Out[auditBody], error) {
	f := audit.Filter{
		ActorKinds: api.Words[audit.ActorKind](in.ActorKind), Actors: in.Actor, OnBehalfOf: in.OnBehalfOf, Actions: in.Action,
		From: in.From.Pointer(), To: in.To.Pointer(), Limit: in.Limit,
	}
	people, err := api.ParseIDs[users.User]("user_id", in.User)
	if err != nil {
		return nil, err
	}
	for _, user := range people {
		f.Users = append(f.Users, user.UUID())
	}
	if in.Cursor != "" {
		f.Before = new(audit.Position)
		if err := paging.Decode(in.Cursor, f.Before); err != nil {
			return nil, err
		}
	}
	var rows []audit.Row
	var next *audit.Position
	err = h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		rows, next, err = audit.List(ctx, tx, c.Team.UUID(), f)
		return err
	})
	if err != nil {
		return nil, err
	}
	body := auditBody{Accesses: []accessBody{}}
	if next != nil {
		cursor := paging.Encode(*next)
		body.NextCursor = &cursor
	}
	for _, row := range rows {
		body.Accesses = append(body.Accesses, accessOf(row))
	}
	return api.Answer(body), nil
}

func accessOf(r audit.Row) accessBody {
	return accessBody{
		At: api.Time(r.At), ActorKind: actorKindWord(r.ActorKind), Actor: r.Actor, OnBehalfOf: api.TextOrNull(r.OnBehalfOf), Action: r.Action,
		User: api.Nullable(r.User), Object: api.TextOrNull(r.Object), Address: api.TextOrNull(r.Address), Status: r.Status, RequestID: api.TextOrNull(r.RequestID),
	}
}
