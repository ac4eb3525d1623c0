package catalogue

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/uuid"

	"hale/internal/labs/loinc"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// data is the catalogue of the sandbox. All of it is invented, except the slugs
// of labs, which client libraries know.
//
// Numbers in these files are never reused for another row: they identify
// markers, results and questions.
//
//go:embed data
var data embed.FS

// sandbox is the content of the files.
type sandbox struct {
	labs      []Lab
	markers   []*Marker
	accounts  []Account
	physician Physician
	questions []Question
	assays    map[string]assayRow
}

// KnownAssay returns the assay of the built-in catalogue for a LOINC code.
func KnownAssay(code string) (Assay, bool) {
	a, ok := builtinData().assays[code]
	return a.Assay, ok
}

// builtinQuestion returns one of the questions that all labs share.
func builtinQuestion(code string) (Question, bool) {
	all := builtinData().questions
	i := slices.IndexFunc(all, func(q Question) bool { return q.Code == code })
	if i < 0 {
		return Question{}, false
	}
	return all[i], true
}

// KnownLab returns the lab that client libraries know by a slug. Its number is
// the same in every installation, even for teams that do not have the lab.
func KnownLab(slug string) (Lab, bool) {
	all := builtinData().labs
	i := slices.IndexFunc(all, func(l Lab) bool { return l.Slug == slug })
	if i < 0 {
		return Lab{}, false
	}
	return all[i], true
}

var builtinData = sync.OnceValue(mustReadBuiltin)

// BuiltIn returns the catalogue of a sandbox team without imports.
var BuiltIn = sync.OnceValue(func() *Catalogue {
	b := builtinData()
	return newCatalogue(b.labs, b.markers, b.accounts, &b.physician)
})

// perLab is the number of ids reserved for each lab.
const perLab = 10000

// builtinLab is a row of labs.json.
type builtinLab struct {
	Lab
	CodeFormat string `json:"code_format"` // format of the lab's codes, applied to row numbers
}

func mustReadBuiltin() *sandbox {
	var rows []builtinLab
	mustJSON("labs.json", &rows)
	var questions []Question
	mustJSON("questions.json", &questions)
	assays := mustAssays()
	b := &sandbox{
		questions: questions,
		assays:    assays,
		// The national registry uses this number as an example.
		physician: Physician{FirstName: "Sandbox", LastName: "Physician", NPI: "1234567893", States: States},
	}
	markers := mustTable("markers.csv")
	specimens, codes := mustSpecimens(), map[string]string{}
	for _, row := range mustTable("marker_loinc.csv") {
		codes[row["number"]] = row["loinc"]
	}
	for _, l := range rows {
		l.LogoURL = ""
		b.labs = append(b.labs, l.Lab)
		b.accounts = append(b.accounts, platformAccount(l.Lab))
		for _, row := range markers {
			if offeredBy(row["labs"], l.Slug) {
				m := markerOf(l, row, assays, questions)
				m.Specimen, m.LOINC = specimens.specimenOf(row["number"], m.Sample), codes[row["number"]]
				b.markers = append(b.markers, m)
			}
		}
	}
	return b
}

// offeredBy reports whether a list of slugs contains a lab; central means all
// labs with service centers.
func offeredBy(list, slug string) bool {
	words := strings.Fields(list)
	return slices.Contains(words, slug) || slices.Contains(words, "central") && containsWord(slug, CentralSlugs)
}

// platformAccount returns an account that every sandbox team can use. It allows
// all billing types of the lab in all of its states.
func platformAccount(l Lab) Account {
	billing := map[Billing][]string{}
	for _, b := range l.Billings {
		billing[b] = l.States
	}
	return Account{
		ID: ids.FromUUID[Account](uuid.NewSHA1(uuid.NameSpaceURL, []byte("hale:sandbox-account:"+l.Slug))), Lab: l, Status: AccountActive,
		Flow: NotDelegated, Number: "1234567890", Name: l.Name, BusinessUnits: []string{}, AllowedBilling: billing,
	}
}

func markerOf(l builtinLab, row map[string]string, assays map[string]assayRow, questions []Question) *Marker {
	number := mustInt(row["number"])
	flags := strings.Fields(row["flags"])
	m := &Marker{
		ID: l.ID*perLab + int64(number), Lab: l.ID, ProviderID: fmt.Sprintf(l.CodeFormat, number),
		Name: row["name"], Slug: loinc.Slug(row["name"]), Description: row["description"], Type: MarkerType(row["type"]), Price: row["price"],
		Sample: SampleType(row["sample_type"]), Methods: methodsFor(SampleType(row["sample_type"]), l.Methods), Fasting: row["fasting"] == "yes",
		ALaCarte: slices.Contains(flags, "alacarte"), Reflex: slices.Contains(flags, "reflex"), Active: true,
		CPT: strings.Fields(row["cpt_codes"]), Covered: strings.Fields(row["medicare_icd_codes"]),
	}
	m.Orderable = !m.Reflex && !slices.Contains(flags, "unorderable")
	common, worst := mustInt(row["common_tat_days"]), mustInt(row["worst_case_tat_days"])
	m.CommonTAT, m.WorstTAT = &common, &worst
	if row["reflex_of"] != "" {
		m.ReflexOf = fmt.Sprintf(l.CodeFormat, mustInt(row["reflex_of"]))
	}
	optional := strings.Fields(row["optional"])
	for _, code := range strings.Fields(row["results"]) {
		a := assays[code]
		m.Results = append(m.Results, Result{
			ID: l.ID*perLab + int64(a.number), Name: a.name, Slug: loinc.Slug(a.name), ProviderID: fmt.Sprintf(l.CodeFormat, 500+a.number),
			Required: !slices.Contains(optional, code), LOINC: code, Assay: a.Assay,
		})
	}
	if m.Type == Biomarker && len(m.Results) == 1 {
		m.Unit = m.Results[0].Assay.Unit
	}
	for i, code := range strings.Fields(row["questions"]) {
		at := slices.IndexFunc(questions, func(q Question) bool { return q.Code == code })
		q := questions[at]
		q.Sequence = i + 1
		m.Questions = append(m.Questions, q)
	}
	return m
}

// methodsFor returns the methods of a lab that suit a sample. Blood from a vein
// needs a phlebotomist; other samples come by post or are given on site.
func methodsFor(sample SampleType, offered []Method) []Method {
	return slices.DeleteFunc(slices.Clone(offered), func(m Method) bool {
		switch sample {
		case Serum:
			return m == TestKit
		case Urine:
			return false
		default:
			return m != TestKit && m != OnSite
		}
	})
}

// specimenTables hold the requirements of specimen types, and the rows of markers
// whose specimen does not follow from their sample type.
type specimenTables struct {
	byType   map[SpecimenType]Specimen
	byNumber map[string]Specimen
}

func mustSpecimens() specimenTables {
	t := specimenTables{map[SpecimenType]Specimen{}, map[string]Specimen{}}
	for _, row := range mustTable("specimens.csv") {
		s := Specimen{
			Type: SpecimenType(row["specimen_type"]), Container: row["container"], MinVolume: row["minimum_volume"], Temperature: row["temperature"],
			Stability: row["stability"], Notes: row["collection_notes"],
		}
		t.byType[s.Type] = s
	}
	for _, row := range mustTable("marker_specimens.csv") {
		s := t.byType[SpecimenType(row["specimen_type"])]
		s.Container, s.Notes = cmp.Or(row["container"], s.Container), cmp.Or(row["collection_notes"], s.Notes)
		t.byNumber[row["number"]] = s
	}
	return t
}

func (t specimenTables) specimenOf(number string, sample SampleType) Specimen {
	if s, ok := t.byNumber[number]; ok && sample == Serum {
		return s
	}
	return t.byType[specimenOf[sample]]
}

type assayRow struct {
	number int
	name   string
	Assay
}

func mustAssays() map[string]assayRow {
	m := map[string]assayRow{}
	for _, row := range mustTable("assays.csv") {
		a := assayRow{number: mustInt(row["number"]), name: row["name"]}
		a.Scale, a.Unit = Scale(row["scale"]), row["unit"]
		if row["decimals"] != "" {
			a.Decimals = mustInt(row["decimals"])
		}
		var err error
		if a.Ranges, err = ParseRanges(row["ranges"]); err != nil {
			panic(fmt.Sprintf("catalogue: assays.csv, %s: %v", row["loinc"], err))
		}
		a.CriticalLow, a.CriticalHigh = mustFloat(row["critical_low"]), mustFloat(row["critical_high"])
		a.Normal, a.Abnormal = splitList(row["normal"]), splitList(row["abnormal"])
		m[row["loinc"]] = a
	}
	return m
}

func splitList(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, "|")
}

// The files are embedded and tested, so errors in them are bugs and cannot occur
// at run time.

func mustJSON(name string, into any) {
	text, err := data.ReadFile("data/" + name)
	if err == nil {
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.DisallowUnknownFields()
		err = dec.Decode(into)
	}
	if err != nil {
		panic(fmt.Sprintf("catalogue: %s: %v", name, err))
	}
}

func mustTable(name string) []map[string]string {
	text, err := data.ReadFile("data/" + name)
	if err != nil {
		panic(fmt.Sprintf("catalogue: %v", err))
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		panic(fmt.Sprintf("catalogue: %s: %v", name, err))
	}
	table := make([]map[string]string, len(rows)-1)
	for i, row := range rows[1:] {
		table[i] = map[string]string{}
		for j, column := range rows[0] {
			table[i][column] = row[j]
		}
	}
	return table
}

func mustInt(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(fmt.Sprintf("catalogue: a number of the catalogue: %v", err))
	}
	return n
}

func mustFloat(text string) *float64 {
	if text == "" {
		return nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(fmt.Sprintf("catalogue: a number of the catalogue: %v", err))
	}
	return &v
}

// seededTests are the lab tests of every sandbox team, one for each collection
// method.
//
// Reference 1.15.
var seededTests = []struct {
	name, description, lab string
	method                 Method
	codes                  []string
}{
	{"Home Health Kit", "A finger-prick card by post, for a first look at sugar, fats and inflammation.", "ussl", TestKit, []string{"US-050"}},
	{"Annual Check", "Blood drawn at a service centre.", "quest", WalkIn, []string{"70002", "70007", "70010", "70013"}},
	{"Annual Check at Home", "Blood drawn at home by a phlebotomist.", "labcorp", AtHome, []string{"800002", "800006", "800009", "800013"}},
	{"Clinic Draw", "Blood drawn on site by your own staff.", "crl", OnSite, []string{"CR0002", "CR0006", "CR0009"}},
}

// Seed creates the first lab tests of a sandbox team. They are active at once
// and independent of imports. It may be called again: existing tests, also
// renamed or archived ones, stay unchanged. Other teams get none.
func Seed(ctx context.Context, tx *store.Tx, team teams.Team) error {
	if team.Environment != teams.Sandbox {
		return nil
	}
	for _, s := range seededTests {
		lab, _ := BuiltIn().LabBySlug(s.lab)
		markers, err := BuiltIn().findMarkers(&lab, nil, s.codes)
		if err != nil {
			return fmt.Errorf("catalogue: seeding %s: %w", s.name, err)
		}
		now := tx.Now()
		t := makeTest(tx, team.ID, markers, s.method)
		t.ID = ids.FromUUID[Test](uuid.NewSHA1(team.ID.UUID(), []byte("seeded:"+string(s.method))))
		t.Name, t.Slug, t.Description, t.ApprovedAt = s.name, loinc.Slug(s.name), s.description, &now
		if _, err := insertTest(ctx, tx, t, markers); err != nil {
			return fmt.Errorf("catalogue: seeding a team: %w", err)
		}
	}
	return nil
}
