package catalogue

import (
	"testing"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Whatever becomes of the link, the account that an order names is there, with
// its lab; also one of the sandbox's own.
func TestAccountOf(t *testing.T) {
	each(t, func(r *rig) {
		id := r.account(quest, AccountActive)
		other := newRig(r.T, r.db, teams.Sandbox)
		r.write(func(tx *store.Tx) error { return LinkAccount(r.ctx, tx, id, other.team.ID) })
		r.write(func(tx *store.Tx) error { return UnlinkAccount(r.ctx, tx, id, other.team.ID) })
		builtin := r.platform(labcorp)
		other.read(func(tx *store.Tx) error {
			for id, want := range map[AccountID]LabID{id: quest, builtin: labcorp} {
				a, err := AccountOf(other.ctx, tx, other.team.ID, id)
				if err != nil {
					return err
				}
				if a.ID != id || a.Lab.ID != want || a.Lab.Slug == "" || a.Number == "" || len(a.Teams) != 0 {
					t.Errorf("%+v", a)
				}
			}
			if _, err := GetAccount(other.ctx, tx, other.team.ID, id); !fault.Is(err, fault.NotFound) {
				t.Errorf("it may still be ordered under: %v", err)
			}
			if _, err := AccountOf(other.ctx, tx, other.team.ID, AccountID{7}); err == nil || fault.Is(err, fault.NotFound) {
				t.Errorf("one that is not there: %v", err)
			}
			return nil
		})
	})
}

// A set of markers takes as long as its slowest, and nobody knows how long when
// one does not say.
func TestTAT(t *testing.T) {
	days := func(n int) *int { return &n }
	quick, slow := &Marker{CommonTAT: days(1), WorstTAT: days(3)}, &Marker{CommonTAT: days(2), WorstTAT: days(2)}
	half, silent := &Marker{CommonTAT: days(4)}, &Marker{}
	for _, c := range []struct {
		name          string
		markers       []*Marker
		common, worst int // 0 for nil
	}{
		{"nothing", nil, 0, 0},
		{"one", []*Marker{quick}, 1, 3},
		{"the slowest", []*Marker{quick, slow}, 2, 3},
		{"half of it is not known", []*Marker{half, quick}, 4, 0},
		{"one does not say", []*Marker{quick, silent, slow}, 0, 0},
	} {
		common, worst := TAT(c.markers)
		for _, got := range []struct {
			days *int
			want int
		}{{common, c.common}, {worst, c.worst}} {
			if (got.days == nil) != (got.want == 0) || got.days != nil && *got.days != got.want {
				t.Errorf("%s: %v and %v", c.name, common, worst)
			}
		}
	}
}
