package reports

import (
	"cmp"
	"context"
	"log/slog"

	"hale/internal/labs/identity"
	"hale/internal/labs/reports/extract"
	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
)

// SeveralPersons is the problem of a report whose pages name different persons.
const SeveralPersons identity.Problem = "several_persons"

// PatientComparison compares the persons on a report with its user. Personal.
type PatientComparison struct {
	User     identity.Person
	Reported []extract.Person // the person of the first pages, then others; empty if the report names none
	Match    PatientMatch
	Problems []identity.Problem // facts that differ
}

// LogValue keeps persons out of logs.
func (PatientComparison) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

// isComparable reports whether the user has a name or a birth date to compare with.
func (c *PatientComparison) isComparable() bool {
	return c.User.LastName != "" || !c.User.DOB.IsZero()
}

// ComparePatient compares the persons on a report with the user as the user is now.
func ComparePatient(ctx context.Context, tx *store.Tx, j *Job, m *extract.Metadata) (c PatientComparison, err error) {
	user, err := users.Get(ctx, tx, j.Team, j.User)
	if err != nil {
		return c, err
	}
	if user.BirthDate != nil {
		c.User.DOB = user.BirthDate.Value
	}
	info, err := users.LatestInfo(ctx, tx, j.Team, j.User)
	switch {
	case err == nil:
		c.User = identity.Person{FirstName: info.FirstName, LastName: info.LastName, DOB: info.BirthDate, Gender: info.Gender}
	case !users.IsNoInfo(err):
		return c, err
	}
	first := extract.Person{FirstName: m.FirstName, LastName: m.LastName, BirthDate: cmp.Or(m.BirthDate, m.BirthText), Gender: m.Gender}
	if first != (extract.Person{}) {
		c.Reported = append(c.Reported, first)
	}
	c.Reported = append(c.Reported, m.Others...)
	c.Match, c.Problems = judgePatient(identity.Compare(c.User, personOf(first)))
	if c.Match == PatientMatches && m.BirthOfOther && m.BirthDate == "" {
		c.Match = PatientUnknown // the report may be the child's
	}
	if m.SeveralPatients {
		c.Match, c.Problems = PatientDiffers, append(c.Problems, SeveralPersons)
	}
	return c, nil
}

// personOf returns a person on a report for the comparison.
func personOf(p extract.Person) identity.Person {
	reported := identity.Person{FirstName: p.FirstName, LastName: p.LastName}
	if p.Gender == "male" || p.Gender == "female" { // a report that says neither says nothing
		reported.Gender = p.Gender
	}
	if day, err := civil.ParseDate(p.BirthDate); err == nil {
		reported.DOB = day
	}
	return reported
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
