// Package messages tells patients how their orders are getting on, by SMS and
// e-mail, and reminds them of what they have to do.
//
// What is said when is one table, matrix.go. A message is a row and a job in
// the transaction of the change that causes it, so none is lost and none is
// sent for a change that never was; the job sends it between transactions,
// through a Sender. In sandbox teams nothing leaves the service: messages end
// in the outbox, where the team can read them.
//
// Texts are plain, say nothing about tests or results, and name nobody but by
// the first name. Whatever is personal stands behind a portal link, which is
// made when the message is sent.
//
// Callers tell what happened, in plain words, in their own transaction:
//
//	messages.OrderMoved(ctx, tx, messages.OrderEvent{…})             // every new status of an order
//	messages.AppointmentMoved(ctx, tx, messages.AppointmentEvent{…}) // every new status or time of an appointment
//	messages.SilenceSMS(ctx, tx, team, order)                        // sms_enabled of an order became false
//	messages.SendPortalCode(ctx, tx, messages.PortalCode{…})         // the patient asked for a code
//
// Reading order:
//
//	matrix.go     channels and rules; the rules for visits and reminders
//	happened.go   what callers tell
//	reminders.go  what is said later, unless something happens first
//	portal_code.go  the code that opens the portal on a new device
//	queue.go      a message's row and job
//	texts.go      templates.txt, filled in
//	send.go       the job
//	sender.go     how messages leave; package senders has SMTP and the SMS gateway
//	outbox.go     what there is to see
//	settings.go   a team's switches
package messages
