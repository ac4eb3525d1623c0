package merged

import (
	"cmp"
	"context"
	"slices"

	"github.com/google/uuid"

	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/wearables/storage"
)

// Sessions of several sources that cover the same time are one session, such as the same
// night of a ring and of a phone. Which one counts depends on the priorities of the team.
// So it is computed at each read and not stored.

// MergesSessions reports whether a resource has sessions that can be merged.
func MergesSessions(resource string) bool { return resource == "sleep" || resource == "workouts" }

// marginDays covers the sessions that may share time with one of a day, in any zone.
const marginDays = 3

// Duplicates returns the sessions of the days that are the same as a better session of
// another source. It maps their ids to the id of the better one. Empty days mean no
// bound.
func Duplicates(ctx context.Context, tx *store.Tx, team, user uuid.UUID, resource, provider, first, last string) (map[uuid.UUID]uuid.UUID, error) {
	all, err := storage.SessionsOfDays(ctx, tx, team, user, resource, provider, moveDay(first, -marginDays), moveDay(last, marginDays))
	if err != nil {
		return nil, err
	}
	priorities, err := prioritiesOf(ctx, tx, team, resource)
	if err != nil {
		return nil, err
	}
	return duplicatesOf(resource, all, priorities), nil
}

// moveDay moves a bound by some days. It does not change the last possible day.
func moveDay(day string, by int) string {
	if d, err := civil.ParseDate(day); err == nil && d.AddDays(by).Year <= 9999 {
		return d.AddDays(by).String()
	}
	return day
}

// duplicatesOf compares the sessions, the best source first. A sleep that is at least twice
// as long as better ones replaces them, so that a nap of a better source hides no night.
func duplicatesOf(resource string, all []storage.StoredSummary, priorities map[string]int64) map[uuid.UUID]uuid.UUID {
	slices.SortStableFunc(all, func(a, b storage.StoredSummary) int { return compareSessions(&a, &b, priorities) })
	found := map[uuid.UUID]uuid.UUID{}
	kept := map[int64][]*storage.StoredSummary{} // by the UTC days that they touch
	for i := range all {
		s := &all[i]
		same := sameSessions(resource, s, kept)
		if at := slices.IndexFunc(same, func(k *storage.StoredSummary) bool { return lengthOf(s) < 2*lengthOf(k) }); at >= 0 {
			found[s.ID] = same[at].ID
			continue
		}
		for _, k := range same {
			found[k.ID] = s.ID
		}
		start, end := s.Bounds()
		for day := floorDiv(start, dayUS); day <= floorDiv(end, dayUS); day++ {
			kept[day] = append(kept[day], s)
		}
	}
	for id, better := range found {
		for found[better] != uuid.Nil {
			better = found[better]
		}
		found[id] = better
	}
	return found
}

// sameSessions returns the kept sessions of other sources that are the same.
func sameSessions(resource string, s *storage.StoredSummary, kept map[int64][]*storage.StoredSummary) (same []*storage.StoredSummary) {
	start, end := s.Bounds()
	for day := floorDiv(start, dayUS); day <= floorDiv(end, dayUS); day++ {
		for _, k := range kept[day] {
			if !slices.Contains(same, k) && !k.Source.Same(s.Source) && areSame(resource, s, k) {
				same = append(same, k)
			}
		}
	}
	return same
}

// areSame reports whether more than half of the shorter sleep, or of the longer workout,
// is common.
func areSame(resource string, a, b *storage.StoredSummary) bool {
	from, to := a.Bounds()
	start, end := b.Bounds()
	whole := min(lengthOf(a), lengthOf(b))
	if resource == "workouts" {
		whole = max(lengthOf(a), lengthOf(b))
	}
	return 2*(min(to, end)-max(from, start)) > whole
}

func lengthOf(s *storage.StoredSummary) int64 {
	start, end := s.Bounds()
	return end - start
}

// compareSessions orders sessions by their sources, best first, and then by time.
func compareSessions(a, b *storage.StoredSummary, priorities map[string]int64) int {
	return cmp.Or(
		cmp.Compare(priorities[b.Source.Provider], priorities[a.Source.Provider]),
		cmp.Compare(Rank(a.Source.Type), Rank(b.Source.Type)),
		cmp.Compare(a.Source.Provider, b.Source.Provider),
		cmp.Compare(a.Source.AppID, b.Source.AppID),
		cmp.Compare(a.Begins(), b.Begins()),
		cmp.Compare(a.ID.String(), b.ID.String()),
	)
}
