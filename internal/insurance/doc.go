// Package insurance keeps who pays for a person's laboratory work.
//
// A record is never changed: a new one is added, and the newest primary record
// is the one in force. Everything in a record is sealed with the user's key.
//
// The payor (the insurer) is named by a code of the payor directory, which is
// payors.json, and the record keeps the company's name and address as they were
// when it was made. Two codes stand for a plan that depends on where the
// insured person lives: MEDFED, the federal plan for older adults, and MAIDFED,
// the plan that each state runs with the federal government; the record holds
// the code of the state's plan instead.
package insurance
