// Package apitest tests every operation of the API. The tests are generated from the
// OpenAPI document of the running service, so they cover a new route at once.
//
//   - answers_test.go sends invalid and valid requests and compares every answer with
//     the document: never a 5xx, always a declared status and its schema.
//   - isolation_test.go uses one team's ids with another team's key. It requires the same
//     answer as for an unknown id.
//   - canary_test.go puts a mark into every personal field. It searches the log, the
//     metrics and the files for these marks.
//   - contract_test.go compares the document and the answers with the contract of the
//     reference, if it exists.
//   - plans_test.go explains every SQL statement and rejects plans whose cost grows with
//     the size of a team.
//
// They start the service like `hale serve`, on each engine.
package apitest
