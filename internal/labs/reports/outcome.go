package reports

import (
	"context"
	"slices"
	"time"

	"hale/internal/labs/labclock"
	"hale/internal/labs/reports/extract"
	"hale/internal/platform/store"
)

// fail ends a job without results.
func fail(ctx context.Context, tx *store.Tx, j *Job, reason extract.FailureReason, message string) error {
	from, now := j.Status, tx.Now()
	j.Status, j.Failure, j.Message, j.FinishedAt = Failed, reason, message, &now
	if err := saveJob(ctx, tx, j, from); err != nil {
		return err
	}
	return announce(ctx, tx, j, nil, UpdatedEvent)
}

// complete stores the first reading. The job is completed, unless something asks for a
// reviewer.
func complete(ctx context.Context, tx *store.Tx, j *Job, result extract.Result) error {
	from := j.Status
	v := Version{Result: result}
	j.Pages = len(result.Pages)
	for i := range v.Rows {
		judgeCritical(&v.Rows[i])
	}
	j.Worst = v.worst()
	who, err := ComparePatient(ctx, tx, j, &result.Metadata)
	if err != nil {
		return err
	}
	j.Patient, j.Problems = who.Match, who.Problems
	contradicts, err := findRepeats(ctx, tx, j, &v)
	if err != nil {
		return err
	}
	if j.Patient == PatientDiffers { // another person's report repeats nothing of this user until it is accepted
		v.Repeated, j.Repeats = nil, nil
	}
	if j.Requested {
		j.addReason(ReviewRequested)
	}
	switch {
	case j.Patient == PatientDiffers:
		j.addReason(PatientMismatch)
	case j.Patient == PatientUnknown && who.isComparable():
		j.addReason(PatientUnidentified)
	}
	if contradicts {
		j.addReason(ContradictsStored)
	}
	labTime, err := labclock.TimeOf(ctx, tx, j.Team) // the sandbox laboratory prints its own time
	if err != nil {
		return err
	}
	if hasImpossibleDates(&result.Metadata, labTime) {
		j.addReason(DatesImplausible)
	}
	if result.Metadata.SeveralCollections {
		j.addReason(SeveralCollections)
	}
	j.Status = PendingReview
	if len(j.Reasons) == 0 {
		now := tx.Now()
		j.Status, j.FinishedAt = Completed, &now
	}
	if err := addRevision(ctx, tx, j, v); err != nil {
		return err
	}
	if err := saveJob(ctx, tx, j, from); err != nil {
		return err
	}
	if err := raiseAlarm(ctx, tx, j, nil, &v); err != nil {
		return err
	}
	return announce(ctx, tx, j, &Revision{Number: j.Revision, CreatedAt: tx.Now(), Version: v}, UpdatedEvent)
}

// hasImpossibleDates reports whether a sample was taken or reported in the future or before
// the birth, or reported before it was taken.
func hasImpossibleDates(m *extract.Metadata, now time.Time) bool {
	limit := latestDay(now)
	return m.CollectedDate > limit || m.ReportedDate > limit || m.BirthDate > limit ||
		m.ReportedDate != "" && m.CollectedDate > m.ReportedDate ||
		m.CollectedDate != "" && m.CollectedDate < m.BirthDate || m.ReportedDate != "" && m.ReportedDate < m.BirthDate
}

// latestDay returns the last day that is not in the future. A day of grace is for time zones.
func latestDay(now time.Time) string { return now.Add(24 * time.Hour).UTC().Format(time.DateOnly) }

func (j *Job) addReason(r ReviewReason) {
	if !slices.Contains(j.Reasons, r) {
		j.Reasons = append(j.Reasons, r)
	}
}
