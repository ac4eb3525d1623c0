package teams

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
)

// ID identifies a team.
type ID = ids.ID[Team]

// Environment is sandbox or production.
type Environment string

// The environments. Sandbox teams have simulated labs and no rate limit.
const (
	Sandbox    Environment = "sandbox"
	Production Environment = "production"
)

// Environments lists the environments.
var Environments = []Environment{Sandbox, Production}

// Team is one customer.
type Team struct {
	ID          ID
	Name        string
	Environment Environment
	Settings    Settings
	CreatedAt   time.Time
}

// Settings are a team's own choices, one JSON document.
//
// Reference 5.10, TeamConfig.
type Settings struct {
	// RejectDuplicateConnection refuses a provider account that another user of
	// the team has already connected.
	RejectDuplicateConnection bool `json:"reject_duplicate_connection,omitempty"`
	// PushHistoricalData sends history as daily events too.
	PushHistoricalData bool `json:"push_historical_data,omitempty"`
	// PartialWebhooks announces partial results of lab orders too.
	PartialWebhooks bool `json:"partial_webhooks_enabled,omitempty"`
	// MinorOrdering lets the team order for people under 18, with a proxy.
	MinorOrdering bool `json:"minor_ordering_enabled,omitempty"`
	// ConsentsRequired refuses orders without a consent of the patient unless a
	// physician of the team signs them.
	ConsentsRequired bool `json:"consents_required,omitempty"`
	// Redraws makes a new order of the markers that a lab could not measure.
	Redraws bool `json:"redraws_enabled,omitempty"`
	// ResultReviews lets the team decide about results that fit no order; nil
	// means yes in the sandbox only.
	ResultReviews *bool `json:"result_reviews_enabled,omitempty"`
	// CriticalEmail gets an e-mail about each critical result,
	// CriticalEscalationEmail one without an acknowledgement within
	// CriticalMinutes; 0 means an hour.
	CriticalEmail           string `json:"critical_result_notification_email,omitempty"`
	CriticalEscalationEmail string `json:"critical_result_escalation_email,omitempty"`
	CriticalMinutes         int    `json:"critical_result_minutes,omitempty"`
	// PortalBirthDate accepts the date of birth, in place of a code, on a new
	// device that opens a portal link.
	PortalBirthDate bool `json:"portal_birth_date_enabled,omitempty"`
	// ReferenceCompat sends the fields that the reference's client libraries
	// require where the specification differs.
	ReferenceCompat bool `json:"reference_compat,omitempty"`
}

// ReviewsResults reports whether the team itself decides about results that fit
// no order.
func (t Team) ReviewsResults() bool {
	if t.Settings.ResultReviews != nil {
		return *t.Settings.ResultReviews
	}
	return t.Environment == Sandbox
}

// CriticalDelay returns the time in which a critical result must be acknowledged.
func (s Settings) CriticalDelay() time.Duration {
	if s.CriticalMinutes == 0 {
		return time.Hour
	}
	return time.Duration(s.CriticalMinutes) * time.Minute
}

// ParseEnvironment reads the name of an environment.
func ParseEnvironment(s string) (Environment, error) {
	switch env := Environment(s); env {
	case Sandbox, Production:
		return env, nil
	}
	return "", fault.NotInEnum([]Environment{Sandbox, Production}).At("environment")
}

// longestName is the reference's limit for team names.
const longestName = 80

func checkName(name string) (string, error) {
	name = strings.TrimSpace(name)
	if name == "" || utf8.RuneCountInString(name) > longestName || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return "", fault.Newf(fault.Invalid, "a team's name has 1 to %d characters in one line", longestName).At("name")
	}
	return name, nil
}

// CheckName refuses a name that no team can have.
func CheckName(name string) error {
	_, err := checkName(name)
	return err
}

// Create adds a team.
func Create(ctx context.Context, tx *store.Tx, name string, env Environment) (Team, error) {
	name, err := checkName(name)
	if err != nil {
		return Team{}, err
	}
	team := Team{ID: ids.FromUUID[Team](tx.NewUUID()), Name: name, Environment: env, CreatedAt: tx.Now()}
	settings, err := json.Marshal(team.Settings)
	if err != nil {
		return Team{}, fmt.Errorf("teams: marshalling settings: %w", err)
	}
	_, err = tx.Exec(ctx, `INSERT INTO teams (id, name, environment, settings, created_at) VALUES ($1, $2, $3, $4, $5)`,
		team.ID, team.Name, string(team.Environment), string(settings), team.CreatedAt)
	if err != nil {
		return Team{}, fmt.Errorf("teams: creating: %w", err)
	}
	return team, nil
}

const columns = `id, name, environment, settings, created_at`

type scanner interface{ Scan(dest ...any) error }

func scan(row scanner) (Team, error) {
	var team Team
	var env, settings string
	if err := row.Scan(&team.ID, &team.Name, &env, &settings, store.ScanTime(&team.CreatedAt)); err != nil {
		return Team{}, err
	}
	team.Environment = Environment(env)
	if err := json.Unmarshal([]byte(settings), &team.Settings); err != nil {
		return Team{}, fmt.Errorf("teams: settings of %s: %w", team.ID, err)
	}
	return team, nil
}

// Get returns a team, or a NotFound fault.
func Get(ctx context.Context, tx *store.Tx, id ID) (Team, error) {
	team, err := scan(tx.QueryRow(ctx, `SELECT `+columns+` FROM teams WHERE id = $1`, id))
	if errors.Is(err, store.ErrNoRows) {
		return Team{}, fault.New(fault.NotFound, "Team not found")
	}
	return team, err
}

// ReferenceCompat reports whether a team has the setting reference_compat on.
func ReferenceCompat(ctx context.Context, tx *store.Tx, id ID) (bool, error) {
	team, err := Get(ctx, tx, id)
	return team.Settings.ReferenceCompat, err
}

// List returns all teams, oldest first.
func List(ctx context.Context, tx *store.Tx) ([]Team, error) {
	rows, err := tx.Query(ctx, `SELECT `+columns+` FROM teams ORDER BY created_at, id`)
	if err != nil {
		return nil, fmt.Errorf("teams: listing: %w", err)
	}
	defer rows.Close()
	var all []Team
	for rows.Next() {
		team, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, team)
	}
	return all, rows.Err()
}

// Change changes a team's name and settings. Other changes wait until the transaction
// ends.
func Change(ctx context.Context, tx *store.Tx, id ID, change func(*Team) error) (Team, error) {
	if err := tx.Lock(ctx, "team settings:"+id.String()); err != nil {
		return Team{}, err
	}
	team, err := Get(ctx, tx, id)
	if err != nil {
		return Team{}, err
	}
	if err := change(&team); err != nil {
		return Team{}, err
	}
	return team, Update(ctx, tx, team)
}

// Update changes a team's name and settings.
func Update(ctx context.Context, tx *store.Tx, team Team) error {
	name, err := checkName(team.Name)
	if err != nil {
		return err
	}
	settings, err := json.Marshal(team.Settings)
	if err != nil {
		return fmt.Errorf("teams: marshalling settings: %w", err)
	}
	n, err := tx.Exec(ctx, `UPDATE teams SET name = $1, settings = $2 WHERE id = $3`, name, string(settings), team.ID)
	if err == nil && n == 0 {
		return fault.New(fault.NotFound, "Team not found")
	}
	return err
}
