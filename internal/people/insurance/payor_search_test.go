package insurance_test

import (
	"context"
	"strings"
	"testing"

	"hale/internal/people/insurance"
	"hale/internal/people/users/person"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

func search(db *store.DB, team teams.ID, q insurance.Query) (codes string, err error) {
	ctx := store.WithTeam(context.Background(), team.UUID())
	err = db.Read(ctx, func(tx *store.Tx) error {
		found, err := insurance.Search(ctx, tx, team, q)
		list := make([]string, len(found))
		for i, p := range found {
			list[i] = p.Code
		}
		codes = strings.Join(list, " ")
		return err
	})
	return codes, err
}

func addPayor(db *store.DB, team teams.ID, n insurance.NewPayor) (p insurance.Payor, err error) {
	ctx := store.WithTeam(context.Background(), team.UUID())
	err = db.Write(ctx, func(tx *store.Tx) (err error) {
		p, err = insurance.CreatePayor(ctx, tx, team, n)
		return err
	})
	return p, err
}

func importPayors(t *testing.T, db *store.DB, text string) {
	t.Helper()
	file, err := insurance.ParsePayors(strings.NewReader(text), civil.MustParse("2026-01-01"))
	if err != nil {
		t.Fatal(err)
	}
	userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
		return insurance.ImportPayors(ctx, tx, "test", file)
	})
}

func TestSearchPayors(t *testing.T) {
	db := storetest.SQLite(t)
	team := userstest.Team(t, db).ID
	for _, c := range []struct {
		name        string
		first       string // codes that come first, in order
		onlyOrEmpty bool
	}{
		{"aetna", "AETNA", true},
		{"AETNA ", "AETNA", true},
		{"united health", "UHC", false},
		{"unitedhealthcare", "UHC", true},
		{"untied healthcare", "UHC", false}, // letters turned round
		{"blue cross texas", "BCBS_TX", false},
		{"bcbs tex", "BCBS_TX", false},
		{"bcbsm", "BCBS_MI BCBS_MA", false},
		{"medicaid tx", "MAIDFED_TX", true},
		{"medicaid texas", "MAIDFED_TX", false},
		{"Medi-Cal", "MAIDFED_CA", false},
		{"medical", "MAIDFED_CA", false},
		{"medicare, puerto rico", "MEDFED_PR", false},
		{"kaiser", "KAISER", true},
		{"zzzz", "", true},
	} {
		got, err := search(db, team, insurance.Query{Name: c.name})
		if err != nil || !strings.HasPrefix(got, c.first) || c.onlyOrEmpty && got != c.first {
			t.Errorf("%q finds %q, %v; want %q", c.name, got, err, c.first)
		}
	}
	if all, err := search(db, team, insurance.Query{Name: "med"}); err != nil || len(strings.Fields(all)) != 50 {
		t.Errorf("an answer has %d payors, %v", len(strings.Fields(all)), err)
	}
}

func TestSearchByExternalCode(t *testing.T) {
	db := storetest.SQLite(t)
	team := userstest.Team(t, db).ID
	for _, c := range []struct {
		q    insurance.Query
		want string
		loc  string
	}{
		{insurance.Query{Provider: "stedi", Code: "60054"}, "AETNA", ""},
		{insurance.Query{Provider: "waystar", Code: "60054"}, "AETNA", ""},
		{insurance.Query{Provider: "stedi", Code: "61101"}, "HUMANA", ""},
		{insurance.Query{Provider: "waystar", Code: "61101"}, "", ""}, // not published by this one
		{insurance.Query{Provider: "stedi", Code: "60054", Name: "aet"}, "AETNA", ""},
		{insurance.Query{Provider: "stedi", Code: "60054", Name: "cigna"}, "", ""},
		{insurance.Query{Provider: "stedi"}, "", "query.provider_payor_id"},
		{insurance.Query{Code: "60054"}, "", "query.provider"},
		{insurance.Query{Provider: "pigeon", Code: "60054"}, "", "query.provider"},
		{insurance.Query{Name: " - "}, "", "query.insurance_name"},
	} {
		got, err := search(db, team, c.q)
		if got != c.want || c.loc == "" && err != nil || c.loc != "" && (!fault.Is(err, fault.Invalid) || !strings.HasPrefix(err.Error(), c.loc+":")) {
			t.Errorf("%+v: %q, %v", c.q, got, err)
		}
	}
}

func TestTeamPayors(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := patient(t, db)
		address := record().Insured.Address
		mine, err := addPayor(db, user.Team, insurance.NewPayor{Company: insurance.Company{Name: " Example Mutual ", Address: address}, Provider: "availity", Code: "EX001"})
		if err != nil || mine.Source != insurance.Team || mine.Name != "Example Mutual" || !strings.HasPrefix(mine.Code, "TEAM-") {
			t.Fatalf("%+v, %v", mine, err)
		}
		for _, q := range []insurance.Query{{Name: "example"}, {Provider: "availity", Code: "ex001"}} {
			if got, err := search(db, user.Team, q); err != nil || got != mine.Code {
				t.Errorf("%+v finds %q, %v", q, got, err)
			}
		}
		r := record()
		r.PayorCode = strings.ToLower(mine.Code)
		if kept, err := create(db, user, r); err != nil || kept.PayorCode != mine.Code || kept.Company.Address != address {
			t.Errorf("a record with it: %+v, %v", kept, err)
		}
		stranger := patient(t, db)
		if got, err := search(db, stranger.Team, insurance.Query{Name: "example mutual"}); err != nil || strings.Contains(got, mine.Code) {
			t.Errorf("another team finds %q, %v", got, err)
		}
		r.PayorCode = mine.Code
		if made, err := create(db, stranger, r); err != nil || made.Company.Name != mine.Code || len(made.Warnings()) != 1 {
			t.Errorf("another team's record: %+v, %v", made, err)
		}
	})
}

func TestRulesOfTeamPayors(t *testing.T) {
	db := storetest.SQLite(t)
	team := userstest.Team(t, db).ID
	for _, c := range []struct {
		rule   string
		change func(n *insurance.NewPayor)
		loc    string
	}{
		{"no name", func(n *insurance.NewPayor) { n.Name = " " }, "body.name"},
		{"no street", func(n *insurance.NewPayor) { n.Address.FirstLine = "" }, "body.address.first_line"},
		{"bad zip", func(n *insurance.NewPayor) { n.Address.Zip = "7" }, "body.address.zip"},
		{"unknown clearing house", func(n *insurance.NewPayor) { n.Provider, n.Code = "pigeon", "1" }, "body.provider"},
		{"clearing house without code", func(n *insurance.NewPayor) { n.Provider = "stedi" }, "body.provider_payor_id"},
		{"code without clearing house", func(n *insurance.NewPayor) { n.Code = "1" }, "body.provider"},
	} {
		n := insurance.NewPayor{Company: insurance.Company{Name: "Example", Address: record().Insured.Address}}
		c.change(&n)
		if _, err := addPayor(db, team, n); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.loc+":") {
			t.Errorf("%s: %v, want %s", c.rule, err, c.loc)
		}
	}
	if got, err := search(db, team, insurance.Query{Name: "example"}); err != nil || got != "" {
		t.Errorf("a refused payor was kept: %q, %v", got, err)
	}
}

const payorFile = `payor_code,name,aliases,first_line,second_line,city,state,zip,country,external
EX1,Example Health,Exhealth|The Example,1 Main Street,,Austin,TX,78701,US,stedi:X0001|availity:X1
AETNA,Aetna,,2 Main Street,Box 7,Hartford,CT,06156,,*:60054
EX2,Second Example,,,,,,,,
`

func TestImportedPayors(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := patient(t, db)
		importPayors(t, db, payorFile)
		if got, err := search(db, user.Team, insurance.Query{Provider: "availity", Code: "X1"}); err != nil || got != "EX1" {
			t.Errorf("by external code: %q, %v", got, err)
		}
		if got, err := search(db, user.Team, insurance.Query{Name: "exhealth"}); err != nil || got != "EX1" {
			t.Errorf("by alias: %q, %v", got, err)
		}
		r := record()
		r.PayorCode = "AETNA"
		want := person.Address{FirstLine: "2 Main Street", SecondLine: "Box 7", City: "Hartford", State: "CT", Zip: "06156", Country: person.US}
		if kept, err := create(db, user, r); err != nil || kept.Company.Address != want {
			t.Errorf("an address that was imported: %+v, %v", kept.Company, err)
		}
		importPayors(t, db, "name,payor_code\nThird Example,EX3\n")
		if got, err := search(db, user.Team, insurance.Query{Name: "example"}); err != nil || got != "EX3" {
			t.Errorf("after another import: %q, %v", got, err)
		}
		if got, err := search(db, user.Team, insurance.Query{Name: "aetna"}); err != nil || got != "AETNA" {
			t.Errorf("what ships: %q, %v", got, err)
		}
	})
}

func TestRefusedFiles(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"", "header"},
		{"payor_code,name\n", "no payor"},
		{"payor_code,shoe\nA,B\n", "line 1"},
		{"payor_code\nA\n", "name is missing"},
		{"name,name,payor_code\nA,B,C\n", "twice"},
		{"payor_code,name\nA,First\nA,Second\n", "line 3, payor_code: is in line 2 already"},
		{"payor_code,name\nmedfed_tx,Plan\n", "line 2, payor_code"},
		{"payor_code,name\nteam-1,Mine\n", "line 2, payor_code"},
		{"payor_code,name\n,No code\n", "line 2, payor_code"},
		{"payor_code,name\nA,\n", "line 2, name"},
		{"payor_code,name,zip\nA,B,123\n", "line 2, first_line"},
		{"payor_code,name,external\nA,B,pigeon:1\n", "line 2, external"},
		{"payor_code,name,external\nA,B,stedi\n", "line 2, external"},
		{"payor_code,name,external\nA,B,stedi:1|stedi:2\n", "twice"},
		{"payor_code,name\nA,B,C\n", "line 2"},
		{"payor_code,name\nA,B\n\"C\"c,D\n", "line 3: is no CSV line"},
	} {
		_, err := insurance.ParsePayors(strings.NewReader(c.file), civil.MustParse("2026-01-01"))
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.file, err, c.want)
		}
	}
}
