// Package api is the JSON door: it decodes a request, opens one transaction,
// calls a domain and encodes the answer.
//
// Follow a request forward:
//
//	routes.go    which handler serves which path
//	users.go     (and its like) wire types and handlers of one resource
//	…/users      the domain: rules and SQL
//
// Around every handler, once for all: auth.go turns the key into a Caller,
// limits.go bounds what comes in, idempotency.go replays repeated creations,
// errors.go turns an error into a status and a body, and openapi.go serves
// the description that the same registrations produced.
//
// A handler is `func(ctx, Caller, *In) (*Out, error)`. Its In and Out carry
// huma tags, which are the one truth for validation and OpenAPI.
package api
