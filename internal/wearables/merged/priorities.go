package merged

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

// IsDistanceSource reports whether a series belongs to its resource's merged line. The distance
// of a workout on a bicycle or in water is not part of the walked distance. The
// distance in a wheelchair is; two words name that sport.
//
// Reference 7.7, distance.
func IsDistanceSource(resource string, s wearables.Source) bool {
	switch s.Sport {
	case "", "wheelchair_pushing", "wheelchair_push":
		return true
	}
	return resource != "distance"
}

// Quantity returns the type of a series in a merged line. Series of different types, such
// as LDL and HDL, are different quantities and are not merged. It returns "" for glucose,
// whose types are ways to measure the same quantity.
func Quantity(s *storage.Series) string {
	if s.Resource == "glucose" {
		return ""
	}
	return s.Type
}

// typeOrder is the fixed order of source types, best first. Types that are not
// listed come last.
//
// Reference 7.11.
var typeOrder = []string{
	"lab", "automatic", "watch", "ring", "chest_strap", "scale", "cuff", "fingerprick",
	"manual_scan", "phone", "app", "multiple_sources", "unknown",
}

var typeRanks = func() map[string]int {
	ranks := map[string]int{}
	for i, word := range typeOrder {
		ranks[word] = i
	}
	return ranks
}()

// Rank returns the position of a source type in the order. The best type has 0, and
// unlisted types come last.
func Rank(sourceType string) int {
	if r, ok := typeRanks[sourceType]; ok {
		return r
	}
	return len(typeOrder)
}

// sortBySource sorts series by their sources, best first: by the team's priority of the
// provider, then by the type of source. The other criteria make the order stable. They
// also keep series that differ only in their words together, in the order of
// storage.SeriesOf.
func sortBySource(all []storage.Series, priorities map[string]int64) {
	slices.SortStableFunc(all, func(a, b storage.Series) int {
		return cmp.Or(
			cmp.Compare(priorities[b.Source.Provider], priorities[a.Source.Provider]),
			cmp.Compare(Rank(a.Source.Type), Rank(b.Source.Type)),
			cmp.Compare(a.Source.Provider, b.Source.Provider),
			cmp.Compare(a.Source.AppID, b.Source.AppID),
			cmp.Compare(a.Type, b.Type),
		)
	})
}

// Timeseries is the data type whose priorities order the sources of series.
const Timeseries = "timeseries"

// DataTypes returns the types of data for which a team may order its providers.
//
// Reference 5.10.
func DataTypes() []string { return []string{"workouts", "activity", "sleep", "body", Timeseries} }

// Priority is the priority of a provider for one type of data. The largest one wins. A
// provider without a priority has 0.
type Priority struct {
	DataType string
	Provider string // slug
	Priority int64
}

// Priorities lists the team's priorities for some types of data, or for all. For each type the best provider comes first.
//
// Reference 5.10, 7.11.
func Priorities(ctx context.Context, tx *store.Tx, team uuid.UUID, dataTypes ...string) ([]Priority, error) {
	args := []any{team}
	query := `SELECT data_type, provider, priority FROM source_priorities WHERE team_id = $1` + store.AmongValues(&args, "data_type", dataTypes)
	rows, err := tx.Query(ctx, query+` ORDER BY data_type, priority DESC, provider`, args...)
	if err != nil {
		return nil, fmt.Errorf("merged: reading priorities: %w", err)
	}
	defer rows.Close()
	var all []Priority
	for rows.Next() {
		var p Priority
		if err := rows.Scan(&p.DataType, &p.Provider, &p.Priority); err != nil {
			return nil, fmt.Errorf("merged: reading priorities: %w", err)
		}
		all = append(all, p)
	}
	return all, rows.Err()
}

// Change sets a provider's priority; nil removes it.
type Change struct {
	DataType, Provider string
	Priority           *int64
}

// SetPriorities applies changes. The priorities of other providers stay.
func SetPriorities(ctx context.Context, tx *store.Tx, team uuid.UUID, changes []Change) error {
	for _, c := range changes {
		var err error
		if c.Priority == nil {
			_, err = tx.Exec(ctx, `DELETE FROM source_priorities WHERE team_id = $1 AND data_type = $2 AND provider = $3`,
				team, c.DataType, c.Provider)
		} else {
			_, err = tx.Exec(ctx, `INSERT INTO source_priorities (team_id, data_type, provider, priority) VALUES ($1, $2, $3, $4)
				ON CONFLICT (team_id, data_type, provider) DO UPDATE SET priority = excluded.priority`,
				team, c.DataType, c.Provider, *c.Priority)
		}
		if err != nil {
			return fmt.Errorf("merged: setting priorities: %w", err)
		}
	}
	return nil
}

// providerPriorities returns the team's priorities for series, by provider.
func providerPriorities(ctx context.Context, tx *store.Tx, team uuid.UUID) (map[string]int64, error) {
	return prioritiesOf(ctx, tx, team, Timeseries)
}

// prioritiesOf returns the team's priorities for one type of data, by provider.
func prioritiesOf(ctx context.Context, tx *store.Tx, team uuid.UUID, dataType string) (map[string]int64, error) {
	all, err := Priorities(ctx, tx, team, dataType)
	if err != nil {
		return nil, err
	}
	found := make(map[string]int64, len(all))
	for _, p := range all {
		found[p.Provider] = p.Priority
	}
	return found, nil
}
