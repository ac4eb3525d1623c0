// Package users has the end users of a team: the people whose data the service
// stores.
//
// A user has the user_id that we issue and the team's own client_user_id, which is
// unique among the team's users that are not deleted. A user also has:
//
//   - fallbacks for data without a time zone or an age
//   - bounds for ingestion
//   - demographics, needed for insurance, orders and the portal
//   - links into the portal
//
// Personal data is sealed with the user's own key. Deleting the key erases it. A
// deleted user can be restored for seven days. Then a job removes the rows of every
// domain about the user and shreds the key. The app registers those rows
// (deletion.go).
//
// Reading order:
//
//	users.go            the user: create, read, change; errors
//	sql.go              rows
//	list.go             pages of users, and the counts behind them
//	bulk.go             many users in one query
//	zones.go            former fallback time zones
//	announce.go         the events about users
//	deletion.go         deletion, restoring, erasure
//	info.go             demographics; package person has their rules
//	search.go           search by id and by name; names are sealed, so an index of
//	                    them is in memory
//	portal_links.go     links into the portal
//	portal_checks.go    codes and dates of birth for new devices
//	portal_sessions.go  sessions in the portal
package users
