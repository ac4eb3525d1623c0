// Package users has the end users of a team: the people whose data the
// service keeps.
//
// A user is known by the user_id we issue and by the team's own
// client_user_id, which is unique among the team's users that are not deleted.
// Beside these a user has a few fallbacks for data that lacks them, bounds
// for ingestion, demographics (who the person is, needed before insurance,
// orders and the portal), and links into the portal.
//
// Everything personal is sealed with a key of the user's own; deleting the key
// erases it. A deleted user can be brought back for seven days; then a job
// removes every row that any domain keeps about the user and shreds the key.
// The app registers the rows of every domain for that (erasure.go).
//
// Reads in this order: users.go, check.go, sql.go, errors.go, list.go, walk.go,
// zones.go (the fallback zones that somebody had),
// counts.go, bulk.go (many users at once), deletion.go, erasure.go, info.go,
// search.go and names.go (the sealed names, in memory), portal_links.go,
// portal_checks.go (codes for new devices), portal_sessions.go. The rules for names, addresses and numbers are in
// users/person.
package users
