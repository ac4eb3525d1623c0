// Package api is the JSON API: it decodes a request, opens one transaction, calls a
// domain and encodes the answer.
//
// This package holds what every operation shares. The operations are in people,
// wearables, labs and platform, and routes assembles them. Follow a request:
//
//	api/people/users.go     the table of routes, wire types and handlers of one resource
//	internal/people/users   the domain: rules and SQL
//
// Every request passes auth.go, which turns the key into a Caller, limits.go, which
// bounds the body and the rate, and idempotency.go, which repeats stored answers.
// errors.go turns an error into a status and a body. openapi.go serves the
// description that the same registrations produced.
//
// A handler is `func(ctx, Caller, *In) (*Out, error)`. Its In and Out carry
// huma tags, which define both validation and OpenAPI.
package api
