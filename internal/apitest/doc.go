// Package apitest holds the tests that cover every operation of the API
// because they are generated from the OpenAPI document that the service itself
// serves. A new route is covered on its first day.
//
//   - truth_test.go sends broken and whole requests and compares every answer
//     with the document: never a 5xx, always a declared status and its shape;
//   - isolation_test.go uses one team's ids with another team's key and wants
//     exactly the answer that an unknown id gets;
//   - canary_test.go puts a mark into every personal field and looks for it in
//     everything that was logged and measured.
//
// They start the service as `hale serve` does, on each engine.
package apitest
