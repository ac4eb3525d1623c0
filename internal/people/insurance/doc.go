// Package insurance keeps who pays for a person's laboratory work.
//
// A record is never changed: a new one is added, and the newest primary record
// is the one in force. Everything in a record is sealed with the user's key.
//
// The payor (the insurer) is named by a code, and the record keeps the
// company's name and address as they were when it was made. A code that names
// no payor is stored too, with a warning; orders cannot bill such a record until
// the payor is imported. Payors come from four places: payors.json, which ships;
// a file that the operator imports for all teams; the team's own; and the plans
// of the states. Two codes stand for
// a plan that depends on where the insured person lives: MEDFED, the federal
// plan for older adults, and MAIDFED, the plan that each state runs with the
// federal government; the record holds the code of the state's plan instead.
//
//	insurance.go    records: adding one, the newest one
//	inforce.go      the one that an order is billed to
//	payors.go       what a payor is
//	plans.go        the plans of the states
//	directory.go    what ships and what was imported, in memory
//	teampayors.go   what a team added; finding a code
//	payorsearch.go  finding a payor by name or by a clearing house's code
//	payorimport.go  the operator's CSV file
package insurance
