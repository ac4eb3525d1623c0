package places_test

import (
	"fmt"
	"testing"

	"hale/internal/labs/places"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// manySites returns the made-up sites of all labs, several times, as the sites
// of one lab.
func manySites(n int) []places.Site {
	sites := make([]places.Site, 0, n)
	for round := 0; ; round++ {
		for _, lab := range places.MadeUpLabs() {
			for _, s := range places.MadeUpSites(lab) {
				if len(sites) == n {
					return sites
				}
				s.Code = fmt.Sprintf("%s-%s-%d", s.Lab, s.Code, round)
				s.Lab, s.Lat = "lab_one", s.Lat+float64(round)*0.01
				sites = append(sites, s)
			}
		}
	}
}

// BenchmarkNear searches among 50,000 sites as a handler does, including the
// version of the list and the addresses of the sites found.
func BenchmarkNear(b *testing.B) {
	db := storetest.SQLite(b)
	ctx := store.AsSystem(b.Context())
	sites := manySites(50_000)
	if err := db.Write(ctx, func(tx *store.Tx) error {
		_, err := places.ImportSites(ctx, tx, places.AllTeams, sites, true)
		return err
	}); err != nil {
		b.Fatal(err)
	}
	var dir places.Directory
	for _, radius := range []float64{10, 25, 100} {
		b.Run(fmt.Sprintf("%.0f miles", radius), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				err := db.Read(ctx, func(tx *store.Tx) error {
					_, err := dir.Near(ctx, tx, places.Viewer{}, places.Query{Lab: "lab_one", From: sites[i*7%len(sites)].Point, Miles: radius})
					return err
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkImport(b *testing.B) {
	sites := manySites(50_000)
	for _, again := range []bool{false, true} {
		b.Run(map[bool]string{false: "first", true: "unchanged"}[again], func(b *testing.B) {
			db := storetest.SQLite(b)
			ctx := store.AsSystem(b.Context())
			var owner teams.ID
			put := func() {
				err := db.Write(ctx, func(tx *store.Tx) error {
					_, err := places.ImportSites(ctx, tx, owner, sites, true)
					return err
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			put()
			for b.Loop() {
				if !again {
					owner[0]++
				}
				put()
			}
		})
	}
}

// No search sees half of a concurrent import.
func TestNearWhileImporting(t *testing.T) {
	forEachEngine(t, func(r *fixture) {
		sites := func(n int) (all []places.Site) {
			for i := range n {
				all = append(all, site("lab_one", fmt.Sprintf("S%d", i), float64(i)/10))
			}
			return all
		}
		r.put(places.AllTeams, true, sites(10)...)
		done := make(chan error)
		for range 3 {
			go func() {
				for range 40 {
					found, err := r.near(r.one, "lab_one", 25, 0)
					if err == nil && found.Total != 10 && found.Total != 20 {
						err = fmt.Errorf("%d sites", found.Total)
					}
					for _, s := range found.Sites {
						if err == nil && s.Name == "" {
							err = fmt.Errorf("a site without details: %+v", s)
						}
					}
					if err != nil {
						done <- err
						return
					}
				}
				done <- nil
			}()
		}
		ctx := store.AsSystem(t.Context())
		for i := range 20 {
			err := r.db.Write(ctx, func(tx *store.Tx) error {
				_, err := places.ImportSites(ctx, tx, places.AllTeams, sites(10+i%2*10), true)
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}
		for range 3 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}
