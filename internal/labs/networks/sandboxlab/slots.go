package sandboxlab

import (
	"context"
	"fmt"
	"time"

	"hale/internal/labs/networks"
	"hale/internal/platform/civil"
	"hale/internal/platform/store"
)

// The providers of appointments. The first two and the others behave as the
// reference's sandbox does.
//
// Reference 1.15, 2.1.
const (
	Getlabs      = "getlabs"      // phlebotomists with slots
	Phlebfinders = "phlebfinders" // phlebotomists who are asked first
	Quest        = "quest"        // service centers
	SonoraQuest  = "sonora_quest"
)

// served are the only ZIP codes that phlebotomists visit in sandbox.
//
// Reference 1.15.
var served = map[string]string{Getlabs: "85004", Phlebfinders: "54650"}

const (
	horizon = 14 // days of slots
	// atOnce is how many appointments a slot has.
	visitsAtOnce, chairs = 2, 3
	visitPrice           = 3500 // US cents
	visitLength          = 2 * time.Hour
	chairLength          = 20 * time.Minute
	lead                 = 2 * time.Hour // before a visit
)

// Slots lists the free times of a provider: of a phlebotomist two hours each
// from 8:00 to 18:00, of a service center 20 minutes each in New York, from 7:00
// to 12:00 and today until 17:00.
//
// Reference 1.15, 2.3.
func (l *Lab) Slots(ctx context.Context, q networks.SlotQuery) ([]networks.Slot, error) {
	var all []networks.Slot
	switch q.Provider {
	case Getlabs:
		if q.Zip != served[Getlabs] {
			return nil, nil
		}
		all = visitSlots(q)
	case Quest, SonoraQuest:
		all = chairSlots(q)
	default:
		return nil, networks.ErrUnsupported
	}
	return l.free(ctx, q, all)
}

func visitSlots(q networks.SlotQuery) []networks.Slot {
	zone := location(q.Zone)
	var all []networks.Slot
	for n := range horizon {
		date := q.Start.AddDays(n)
		for hour := 8; hour < 18; hour += 2 {
			start := at(date, hour, 0, zone)
			if start.Before(q.Now.Add(lead)) {
				continue
			}
			all = append(all, slot(q, zone, start, visitLength, visitPrice, visitsAtOnce, hour == 8))
		}
	}
	return all
}

func chairSlots(q networks.SlotQuery) []networks.Slot {
	zone := location("America/New_York")
	today := civil.DateOf(q.Now.In(zone))
	var all []networks.Slot
	for n := range horizon {
		date := q.Start.AddDays(n)
		from, to := at(date, 7, 0, zone), at(date, 12, 0, zone)
		switch {
		case date.Before(today):
			continue
		case date == today && !q.Now.Before(at(date, 16, 0, zone)):
			continue
		case date == today:
			from, to = q.Now.In(zone).Truncate(time.Hour).Add(time.Hour), at(date, 17, 0, zone)
		}
		for start := from; !start.Add(chairLength).After(to); start = start.Add(chairLength) {
			all = append(all, slot(q, zone, start, chairLength, 0, chairs, false))
		}
	}
	return all
}

func slot(q networks.SlotQuery, zone *time.Location, start time.Time, length time.Duration, price int64, free int, priority bool) networks.Slot {
	return networks.Slot{
		Provider: q.Provider, Site: q.Site, Zone: zone.String(), Start: start.UTC(), End: start.Add(length).UTC(),
		Price: price, Free: free, Priority: priority, Key: fmt.Sprintf("%s|%s|%d", q.Provider, q.Site, start.Unix()),
	}
}

func at(d civil.Date, hour, minute int, zone *time.Location) time.Time {
	return time.Date(d.Year, d.Month, d.Day, hour, minute, 0, 0, zone)
}

func location(name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	return zone
}

// free takes off what is booked, of the query's team.
func (l *Lab) free(ctx context.Context, q networks.SlotQuery, all []networks.Slot) ([]networks.Slot, error) {
	if len(all) == 0 {
		return nil, nil
	}
	booked := map[int64]int{}
	err := l.DB.Read(store.WithTeam(ctx, q.Team), func(tx *store.Tx) error {
		rows, err := tx.Query(ctx, `SELECT starts_at, COUNT(*) FROM sandbox_bookings WHERE team_id = $1 AND provider = $2 AND site = $3
			AND state = 'booked' AND starts_at >= $4 GROUP BY starts_at`, q.Team, q.Provider, q.Site, store.Micros(all[0].Start))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var start int64
			var n int
			if err := rows.Scan(&start, &n); err != nil {
				return err
			}
			booked[start] = n
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("sandboxlab: reading bookings: %w", err)
	}
	var left []networks.Slot
	for _, s := range all {
		if s.Free -= booked[store.Micros(s.Start)]; s.Free > 0 {
			left = append(left, s)
		}
	}
	return left, nil
}
