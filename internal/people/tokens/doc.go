// Package tokens lets a person's phone send that person's data, without the
// team's key on the phone.
//
//	team's server     POST …/sign_in_token, or a link code    signin.go
//	phone             exchanges it once for a pair of tokens   session.go
//	phone             sends data with the access token         access.go
//	phone             renews the pair with the refresh token   session.go
//	team or phone     ends it all                              end.go
//
// A sign-in token goes from the team's server to its app; a link code is eight
// characters that a person can read from one screen and type into another.
// Both are good for one exchange. An access token lives for an hour and stands
// for exactly one user; what it opens is the API's business. Every text is
// kept as a hash, and a lookup takes the hash to an index, so that time tells
// nothing about how much of a guess was right. A link code has 32 bits only:
// guesses at it are rationed by the door.
//
// Reference 5.9, 6.9.
package tokens
