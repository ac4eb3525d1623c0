// Package teams has the customer teams and their API keys.
//
// A team owns users, connections, orders, endpoints and everything else; its
// API key names it on every request. A team lives in one environment, sandbox
// or production, and so do its keys: sk_… and pk_….
//
// Keys are stored by hash and shown once. Rotation makes a new key and lets
// the old one live on for an overlap; revocation ends it at once.
//
// Reads in this order: teams.go, switches.go (a team's settings), keys.go.
package teams
