// Package readiness finds what a production team lacks to order laboratory tests:
// a catalogue, an account, a connection to the laboratory.
package readiness

import (
	"context"
	"slices"
	"strings"

	"hale/internal/labs/catalogue"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Step is the first step that a team lacks.
type Step string

// The steps, in the order in which an operator takes them.
const (
	// NoCatalogue means that no compendium is imported.
	NoCatalogue Step = "catalogue"
	// NoAccount means that the team has no active account with a laboratory.
	NoAccount Step = "account"
	// NoConnection means that the networks file names none of the laboratories of
	// the team's accounts.
	NoConnection Step = "connection"
)

// Problem says what to know about a step.
func (s Step) Problem() string {
	switch s {
	case NoCatalogue:
		return "no laboratory is in the catalogue"
	case NoAccount:
		return "the team has no active account with a laboratory"
	default:
		return "the networks file has no laboratory of the team's accounts"
	}
}

// Remedy says what to do about a step.
func (s Step) Remedy() string {
	switch s {
	case NoCatalogue:
		return "hale catalog import COMPENDIUM.json"
	case NoAccount:
		return "hale catalog accounts add --team TEAM --lab LAB --number NUMBER --billing all"
	default:
		return "name the laboratory in the networks file (--networks)"
	}
}

// Lack is a production team and the first step that it lacks.
type Lack struct {
	Team teams.Team
	Step Step
}

// Find returns the production teams that cannot order. connected reports whether
// the networks file has a laboratory, by its slug.
func Find(ctx context.Context, tx *store.Tx, connected func(lab string) bool) ([]Lack, error) {
	all, err := teams.List(ctx, tx)
	if err != nil {
		return nil, err
	}
	var lacks []Lack
	for _, t := range all {
		if t.Environment != teams.Production {
			continue
		}
		step, err := firstLack(ctx, tx, t.ID, connected)
		if err != nil {
			return nil, err
		}
		if step != "" {
			lacks = append(lacks, Lack{t, step})
		}
	}
	return lacks, nil
}

func firstLack(ctx context.Context, tx *store.Tx, team teams.ID, connected func(lab string) bool) (Step, error) {
	offered, err := catalogue.Load(ctx, tx, team)
	if err != nil {
		return "", err
	}
	if len(offered.Markers(catalogue.MarkerFilter{})) == 0 {
		return NoCatalogue, nil
	}
	accounts, err := catalogue.Accounts(ctx, tx, team, catalogue.AccountFilter{Statuses: []catalogue.AccountStatus{catalogue.AccountActive}})
	if err != nil {
		return "", err
	}
	if len(accounts) == 0 {
		return NoAccount, nil
	}
	if !slices.ContainsFunc(accounts, func(a catalogue.Account) bool { return connected(a.Lab.Slug) }) {
		return NoConnection, nil
	}
	return "", nil
}

// LabsWithMissingFacts lists the labs of production teams whose documents lack facts of the lab,
// each with the missing fields: "Acme (clia, phone)".
func LabsWithMissingFacts(ctx context.Context, tx *store.Tx) ([]string, error) {
	all, err := teams.List(ctx, tx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, t := range all {
		if t.Environment != teams.Production {
			continue
		}
		accounts, err := catalogue.Accounts(ctx, tx, t.ID, catalogue.AccountFilter{Statuses: []catalogue.AccountStatus{catalogue.AccountActive}})
		if err != nil {
			return nil, err
		}
		for _, a := range accounts {
			name := a.Lab.Name + " (" + strings.Join(a.Lab.Lacks(), ", ") + ")"
			if len(a.Lab.Lacks()) > 0 && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names, nil
}

// Names lists the names of the teams that lack one step, at most five.
func Names(lacks []Lack, step Step) string {
	var names []string
	for _, l := range lacks {
		if l.Step == step {
			names = append(names, l.Team.Name)
		}
	}
	if len(names) > 5 {
		names = append(names[:5], "…")
	}
	return strings.Join(names, ", ")
}
