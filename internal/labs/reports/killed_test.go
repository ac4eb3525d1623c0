package reports_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"hale/internal/labs/orders/orderstest"
	"hale/internal/labs/reports"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/jobs"
	"hale/internal/platform/jobs/jobstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// The test below uploads this many reports and kills the process that stores and
// reads them this many times. make crash uploads 3,000.
var (
	killedUploads = flag.Int("uploads", 40, "reports of TestUploadsSurviveKills")
	killedTimes   = flag.Int("kills", 3, "kills of TestUploadsSurviveKills")
)

// uploaderDir is the environment variable that makes a test process the one that
// stores and reads reports. It names the data folder. uploaderUser names the user.
const (
	uploaderDir  = "HALE_TEST_UPLOADER"
	uploaderUser = "HALE_TEST_UPLOADER_USER"
)

// Reports are uploaded while the process that stores and reads them is killed again and
// again. A report without an acknowledgement is uploaded again. Each report becomes one
// job, which is read to its end once: one version of its results, one event each.
func TestUploadsSurviveKills(t *testing.T) {
	d := storetest.NewSQLite(t)
	var user users.User
	if !t.Run("user", func(t *testing.T) {
		db := d.Open(t, nil)
		user = userstest.New(t, db, orderstest.Team(t, db).ID, users.NewUser{})
	}) {
		return
	}
	acknowledged := map[int]string{}
	for kills := range *killedTimes {
		uploadUntilKilled(t, d.Dir, user, acknowledged, (kills+1)**killedUploads/(*killedTimes+1))
	}
	uploadUntilKilled(t, d.Dir, user, acknowledged, -1)
	if len(acknowledged) != *killedUploads {
		t.Fatalf("%d of %d reports are acknowledged", len(acknowledged), *killedUploads)
	}
	t.Run("outcome", func(t *testing.T) { checkUploads(t, d.Open(t, nil), user.Team, acknowledged) })
}

// uploadUntilKilled starts the process, uploads the reports that are not acknowledged,
// and kills the process when so many are. With -1 it lets the process finish.
func uploadUntilKilled(t *testing.T, dir string, user users.User, acknowledged map[int]string, kill int) {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestUploader$", "-test.v=false")
	command.Env = append(os.Environ(), uploaderDir+"="+dir, uploaderUser+"="+user.Team.String()+"/"+user.ID.String())
	command.Stderr = os.Stderr
	var numbers strings.Builder
	for n := range *killedUploads {
		if acknowledged[n] == "" {
			fmt.Fprintln(&numbers, n)
		}
	}
	command.Stdin = strings.NewReader(numbers.String())
	out, err := command.StdoutPipe()
	if err := errors.Join(err, command.Start()); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) != 3 || fields[0] != "stored" {
			continue
		}
		n, err := strconv.Atoi(fields[1])
		if err != nil {
			t.Fatal(err)
		}
		acknowledged[n] = fields[2]
		if kill >= 0 && len(acknowledged) == kill {
			if err := command.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := command.Wait(); err != nil && kill < 0 {
		t.Fatalf("the process: %v", err)
	}
}

// TestUploader runs in the process that TestUploadsSurviveKills starts and kills. It
// stores the reports whose numbers are on its standard input, answers with their jobs,
// and reads them at the same time. At the end of its input it finishes its work.
func TestUploader(t *testing.T) {
	dir := os.Getenv(uploaderDir)
	if dir == "" {
		t.Skip("a part of TestUploadsSurviveKills")
	}
	db := storetest.Database{Engine: store.SQLite, Dir: dir}.Open(t, nil)
	users.Register(db, reports.UserRecords()...)
	system := store.AsSystem(context.Background())
	var user users.User
	team, id, _ := strings.Cut(os.Getenv(uploaderUser), "/")
	userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
		var ofTeam teams.ID
		var one users.ID
		err := errors.Join(ofTeam.UnmarshalText([]byte(team)), one.UnmarshalText([]byte(id)))
		if err == nil {
			user, err = users.Get(ctx, tx, ofTeam, one)
		}
		return err
	})
	service := &reports.Service{DB: db, Reader: &fakeReader{}, Limits: reports.DefaultLimits(), Workers: 2}
	node, err := jobs.Join(system, db, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	loop := jobstest.NewLoop(jobs.NewRunner(db, jobs.Config{Node: node, Log: log, Kinds: []jobs.Handler{service.Job()}}).Run)
	loop.Start(system)
	for numbers := bufio.NewScanner(os.Stdin); numbers.Scan(); {
		var j reports.Job
		err := db.Write(system, func(tx *store.Tx) (err error) {
			j, err = reports.Create(system, tx, user, reports.New{Files: []reports.File{{Type: reports.PDF, Data: numbers.Bytes()}}})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("stored", numbers.Text(), j.ID)
	}
	for waiting := -1; waiting != 0; time.Sleep(20 * time.Millisecond) {
		b, err := service.Backlog(system)
		if err != nil {
			t.Fatal(err)
		}
		waiting = b.Jobs
	}
	if err := errors.Join(loop.Stop(system), node.Stop(system)); err != nil {
		t.Fatal(err)
	}
}

// checkUploads checks that each acknowledged job exists and was done once.
func checkUploads(t *testing.T, db *store.DB, team teams.ID, acknowledged map[int]string) {
	t.Helper()
	userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
		all, err := reports.List(ctx, tx, team, reports.Filter{Limit: 2 * len(acknowledged)})
		if err != nil {
			return err
		}
		if len(all) != len(acknowledged) {
			t.Errorf("%d reports became %d jobs", len(acknowledged), len(all))
		}
		byID := map[string]reports.Job{}
		for _, j := range all {
			byID[j.ID.String()] = j
		}
		for n, id := range acknowledged {
			if j := byID[id]; j.Status != reports.Completed || j.Revision != 1 {
				t.Errorf("report %d, job %s: %q with %d versions", n, id, j.Status, j.Revision)
			}
		}
		for _, kind := range []string{reports.CreatedEvent, reports.UpdatedEvent} {
			var events int
			if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM events WHERE team_id = $1 AND type = $2`, team, kind).Scan(&events); err != nil {
				return err
			}
			if events != len(acknowledged) {
				t.Errorf("%d events %s of %d jobs", events, kind, len(acknowledged))
			}
		}
		return nil
	})
}
