package users

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/ids"
	"hale/internal/platform/teams"
)

func TestNameIndexMakesRoom(t *testing.T) {
	x := nameIndex{most: 10, teams: map[teams.ID]*teamNames{}}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var all []teams.ID
	held := func() (which []int) {
		for i, id := range all {
			if x.teams[id] != nil {
				which = append(which, i)
			}
		}
		return which
	}
	for i, size := range []int{4, 4, 4, 100} {
		all = append(all, ids.FromUUID[teams.Team](uuid.New()))
		now = now.Add(time.Minute)
		x.of(all[i], now)
		x.makeRoom(all[i], size)
		want := [][]int{{0}, {0, 1}, {1, 2}, {3}}[i] // a team larger than the bound stays, alone
		if got := held(); !slices.Equal(got, want) {
			t.Errorf("after team %d the index holds %v, want %v", i, got, want)
		}
	}
	x.of(all[0], now.Add(namesKept+time.Minute))
	if got := held(); !slices.Equal(got, []int{0}) {
		t.Errorf("an hour later the index holds %v", got)
	}
}

func TestTeamNamesPutAndRemove(t *testing.T) {
	n := teamNames{position: map[ID]int{}}
	var all []ID
	for i := range 5 {
		all = append(all, ids.FromUUID[User](uuid.New()))
		n.put(all[i], fmt.Sprint(" name", i))
	}
	n.put(all[3], " other")
	for _, i := range []int{0, 4, 2, 2} {
		n.remove(all[i])
	}
	if len(n.entries) != 2 || len(n.position) != 2 || n.entries[n.position[all[1]]].name != " name1" || n.entries[n.position[all[3]]].name != " other" {
		t.Errorf("left %+v", n.entries)
	}
}
