// Package api provides the shared parts of the JSON API. An operation decodes a
// request, opens one transaction, calls a domain and encodes the answer.
//
// The operations are in the packages people, wearables, labs and platform; package
// routes assembles them. To follow a request, read:
//
//	api/people/users.go     the table of routes, wire types and handlers of one resource
//	internal/people/users   the domain: rules and SQL
//
// Each request passes auth.go, which finds the Caller of the key; limits.go, which
// limits the rate; and idempotency.go, which returns stored answers. route.go gives huma
// the limit of the body. middleware.go has the smaller steps.
// errors.go maps an error to a status and a body. openapi.go serves the description of
// the registered operations.
//
// A handler is `func(ctx, Caller, *In) (*Out, error)`. The huma tags of In and Out
// define both validation and OpenAPI.
package api
