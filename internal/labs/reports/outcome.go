package reports

import (
	"context"
	"slices"
	"time"

	"hale/internal/labs/identity"
	"hale/internal/labs/labclock"
	"hale/internal/labs/reports/extract"
	"hale/internal/people/users"
	"hale/internal/platform/civil"
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
	var err error
	known := false
	if j.Patient, j.Problems, known, err = comparePatient(ctx, tx, j, &result.Metadata); err != nil {
		return err
	}
	contradicts, err := findRepeats(ctx, tx, j, &v)
	if err != nil {
		return err
	}
	if j.Requested {
		j.addReason(ReviewRequested)
	}
	if result.Metadata.SeveralPatients {
		j.Patient = PatientDiffers
	}
	switch {
	case j.Patient == PatientDiffers:
		j.addReason(PatientMismatch)
	case j.Patient == PatientUnknown && known:
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

// hasImpossibleDates reports whether a sample was taken or reported in the future, or
// reported before it was taken. A day of grace is for time zones.
func hasImpossibleDates(m *extract.Metadata, now time.Time) bool {
	limit := now.Add(24 * time.Hour).UTC().Format(time.DateOnly)
	return m.CollectedDate > limit || m.ReportedDate > limit ||
		m.ReportedDate != "" && m.CollectedDate > m.ReportedDate
}

func (j *Job) addReason(r ReviewReason) {
	if !slices.Contains(j.Reasons, r) {
		j.Reasons = append(j.Reasons, r)
	}
}

// comparePatient compares the person on the report with the user. isKnown reports
// whether the user has a name or a birth date to compare with.
func comparePatient(ctx context.Context, tx *store.Tx, j *Job, m *extract.Metadata) (match PatientMatch, problems []identity.Problem, isKnown bool, err error) {
	user, err := users.Get(ctx, tx, j.Team, j.User)
	if err != nil {
		return "", nil, false, err
	}
	known := identity.Person{}
	if user.BirthDate != nil {
		known.DOB = user.BirthDate.Value
	}
	info, err := users.LatestInfo(ctx, tx, j.Team, j.User)
	switch {
	case err == nil:
		known = identity.Person{FirstName: info.FirstName, LastName: info.LastName, DOB: info.BirthDate, Gender: info.Gender}
	case !users.IsNoInfo(err):
		return "", nil, false, err
	}
	reported := identity.Person{FirstName: m.FirstName, LastName: m.LastName, Gender: m.Gender}
	if m.Gender != "male" && m.Gender != "female" { // a report that says neither says nothing
		reported.Gender = ""
	}
	if day, err := civil.ParseDate(m.BirthDate); err == nil {
		reported.DOB = day
	}
	match, problems = judgePatient(identity.Compare(known, reported))
	return match, problems, known.LastName != "" || !known.DOB.IsZero(), nil
}

// judgePatient returns the outcome of a comparison. Any fact that differs is a mismatch.
// A match needs the last name or the birth date.
func judgePatient(c identity.Comparison) (PatientMatch, []identity.Problem) {
	switch {
	case c.Contradicts():
		return PatientDiffers, c.Mismatches()
	case c.Last == identity.Agrees || c.DOB == identity.Agrees:
		return PatientMatches, nil
	}
	return PatientUnknown, nil
}
