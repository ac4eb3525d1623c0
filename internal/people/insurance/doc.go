// Package insurance stores the insurance of users, and the payors that pay for their
// laboratory work.
//
// A record never changes. The team adds a new one, and orders bill the newest primary
// record. A record is sealed with the user's key.
//
// A code names the payor (the insurer). The record stores the company's name and
// address as of its creation. A code that names no payor is stored too, with a
// warning. Orders cannot bill such a record until the payor is imported.
//
// Payors have four sources:
//
//   - payors.json, which ships
//   - a file that the operator imports for all teams
//   - the team's own payors
//   - the plans of the states
//
// MEDFED is the federal plan for older adults, and MAIDFED the plan that each state
// runs with the federal government. For both, the record has the code of the plan in
// the insured person's state.
//
//	insurance.go     records and their warnings
//	payors.go        payors of the four sources; lookup by code
//	payor_search.go  search by name or by a clearing house's code
//	payor_import.go  the operator's CSV file
package insurance
