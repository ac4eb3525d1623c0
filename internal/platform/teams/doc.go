// Package teams has the customer teams and their API keys.
//
// Every other record belongs to a team: users, connections, orders, endpoints. An API
// key names the team of a request. A team and its keys are in one environment: sandbox
// (sk_…) or production (pk_…).
//
// Keys are stored as codes that need the root key, and shown once. Rotation makes a new key, and the old one
// works until an overlap ends. Revocation ends a key at once.
//
// Reading order: teams.go, switches.go (a team's settings), keys.go,
// codes.go.
package teams
