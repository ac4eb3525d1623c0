// Package messages writes to patients about their orders by SMS and e-mail, sends
// reminders, and sends the codes that open the portal.
//
// A message is a row and a job in the transaction of the change that causes it.
// None is lost, and none is sent for a change that was rolled back. The job sends
// the message between transactions, through a Sender. Messages of sandbox teams
// never leave the service: they end in the outbox, where the team can read them.
//
// Texts are plain, name only the first name, and say nothing about tests or
// results. Personal data is behind a portal link, which is made when the message
// is sent.
//
// Callers report events in their own transaction:
//
//	messages.OrderMoved(ctx, tx, messages.OrderEvent{…})             // every new status of an order
//	messages.AppointmentMoved(ctx, tx, messages.AppointmentEvent{…}) // every new status or time of an appointment
//	messages.SilenceSMS(ctx, tx, team, order)                        // sms_enabled of an order became false
//	messages.SendPortalCode(ctx, tx, messages.PortalCode{…})         // the patient asked for a code
//
// Reading order:
//
//	events.go       channels and rules; the events that callers report
//	reminders.go    messages that are planned, and cleared when they are not needed
//	queue.go        a message's row and job; the code that opens the portal on a new device
//	send.go         the job, and templates.txt, filled in; package senders has SMTP and the SMS gateway
//	outbox.go       the list of messages
//	settings.go     a team's switches
package messages
