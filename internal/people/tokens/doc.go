// Package tokens lets a person's phone send that person's data without the team's
// API key.
//
//	team's server   creates a sign-in token or a link code      sign_in.go
//	phone           exchanges it for a pair of tokens           sessions.go
//	phone           sends data with the access token            sessions.go
//	phone           renews the pair with the refresh token      sessions.go
//	team or phone   signs out                                   sessions.go
//
// The team's server passes a sign-in token to its app. A link code has eight
// characters, which a person reads from one screen and types into another. Both
// can be exchanged once. An access token is valid for an hour and for one user; the
// API decides what it may do.
//
// Every token is stored as a hash. A lookup searches an index for the hash, so its
// duration does not show how much of a guess was right. A link code has only 32
// bits, so the API limits guesses.
//
// Reference 5.9, 6.9.
package tokens
