// Package reports reads lab reports that teams upload: PDF files and images. A job
// stores the files and reads them in the background. Its results become part of the
// user's results if nothing in them is doubtful, or if a reviewer accepts them.
//
//	job.go       the job and its states
//	upload.go    checks of uploaded files before they are stored
//	document.go  jobs and results on the wire
//	create.go    creating a job; the same file of a day is the same job
//	queue.go     reading waiting jobs, fairly between teams
//	outcome.go   the state after a reading: completed, failed or waiting for review
//	derive.go    type and interpretation of corrected values
//	alarm.go     notices about critical values
//	review.go    corrections and decisions of reviewers
//	boxes.go     images of pages with a box around each result
//	repeats.go   results that are stored already, from an order or another report
//	history.go   all results of a user, from orders and reports
//	rows.go      the SQL
//	events.go    the events of jobs
//
// Package extract turns words on a page into results, package pages turns files into
// words. Package reader runs both in a child process, because files come from
// strangers.
package reports
