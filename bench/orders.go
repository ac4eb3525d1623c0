package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"hale/internal/harness/proc"
	"hale/internal/platform/store"
)

var seededOrders = flag.Int("orders", 1_000_000, "orders that are there before lists are measured")

var (
	ordersIn       = flag.String("orders-in", "", "folder of an installation for orders that is kept; it is filled the first time")
	ordersDatabase = flag.String("orders-database", "", "address of the PostgreSQL database that goes with -orders-in")
)

// stopAndSeed opens the database for orders that are written directly, and stops the
// service. The caller closes the database and starts the service.
func (b *bench) stopAndSeed(ctx context.Context) (*seeding, error) {
	db, err := store.Open(ctx, store.Options{Dir: b.dir, URL: b.database})
	if err != nil {
		return nil, err
	}
	if err := b.server.Stop(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &seeding{db: db, rng: rand.New(rand.NewPCG(1, 1))}, nil
}

// measureOrders fills a team with orders and then measures through the service. It
// measures the first list, each list, and the creation of orders while labs report on
// others. It writes the orders directly to the database, without their events, while the
// service is stopped.
func measureOrders(ctx context.Context, b *bench) (err error) {
	ctx = store.AsSystem(ctx)
	if *ordersIn != "" {
		if err := b.moveTo(ctx, *ordersIn, *ordersDatabase); err != nil {
			return err
		}
	}
	s, err := b.stopAndSeed(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.db.Close()) }()
	began := time.Now()
	if err := s.run(ctx, *seededOrders); err != nil {
		return err
	}
	b.report.line("orders there", fmt.Sprintf("%d", *seededOrders), "seeded in "+time.Since(began).Round(time.Second).String(), "")
	if _, err := b.server.Start(ctx); err != nil {
		return err
	}
	if err := firstList(ctx, b); err != nil {
		return err
	}
	for _, l := range s.lists() {
		if err := measureList(ctx, b, l); err != nil {
			return err
		}
	}
	return s.busy(ctx, b)
}

// moveTo continues with a kept installation. Its server is closed like the first one.
func (b *bench) moveTo(ctx context.Context, dir, database string) error {
	if err := b.server.Close(); err != nil {
		return err
	}
	binary, err := proc.Build(ctx, b.dir)
	if err != nil {
		return err
	}
	b.dir, b.database = dir, database
	if b.server, err = proc.New(proc.Options{Binary: binary, Dir: dir, Database: database, APIKey: b.key}); err != nil {
		return err
	}
	_, err = b.server.Start(ctx)
	return err
}

// firstList measures the time of the first list of a process, which reads all orders, and
// the memory that it needs.
func firstList(ctx context.Context, b *bench) error {
	before, err := b.server.Memory()
	if err != nil {
		return err
	}
	began := time.Now()
	for status := 0; status != http.StatusOK; {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+b.server.Address()+"/v3/orders?patient_name=x", nil)
		if err != nil {
			return err
		}
		r.Header.Set("x-service-api-key", b.key)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		if status = answer.StatusCode; status != http.StatusOK && status != http.StatusServiceUnavailable {
			return fmt.Errorf("the first list was answered %d", status)
		}
	}
	took := time.Since(began)
	after, err := b.server.Memory()
	if err != nil {
		return err
	}
	b.report.line("orders, first list after the start", millis(took), "", "")
	b.report.line("memory, then", fmt.Sprintf("%d MiB", after.Now>>20), fmt.Sprintf("%d MiB after the start, %d MiB at its highest", before.Now>>20, after.Peak>>20), "")
	return nil
}
