// Package critical makes sure that a person learns of a critical result.
//
// Each critical result raises a notice:
//
//   - one for each revision of an order's results with a new critical value
//   - one for each critical result that waits for review
//   - one for each parsed report with critical values
//
// The team's address gets an e-mail at once. The team acknowledges the notice with the
// name of the person who was notified. When no acknowledgement arrives in time, or the
// e-mail cannot be sent, the notice escalates once. The second address gets an e-mail,
// and the team an event.
//
// E-mails name no patient and no value, only ids.
//
// # Reading order
//
//	notice.go   a notice; raising, acknowledging and closing it
//	mail.go     the e-mails and the escalation
//	rows.go     storing and listing
//	events.go   events
//
// Reference 1.8.
package critical
