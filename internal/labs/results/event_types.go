package results

import "hale/internal/platform/events"

// EventTypes returns the types of events about reports that a team hands in to
// be parsed. Teams can subscribe to them already.
func EventTypes() []events.Type {
	const job = `"id":"00000000-0000-4000-8000-000000000008","job_id":"00000000-0000-4000-8000-000000000008",` +
		`"team_id":"00000000-0000-4000-8000-000000000006","needs_human_review":false,"is_reviewed":false,"failure_reason":null,"data":null`
	return []events.Type{
		{
			Name: "lab_report.parsing_job.created", Sentence: "A lab report was handed in for parsing. Not sent yet: no reports are parsed.",
			Example: events.ExampleOf(job + `,"status":"started"`),
		},
		{
			Name: "lab_report.parsing_job.updated", Sentence: "A parsing job is completed, failed or waits for a review. Not sent yet: no reports are parsed.",
			Example: events.ExampleOf(job + `,"status":"completed"`),
		},
	}
}
