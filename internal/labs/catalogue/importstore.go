package catalogue

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// Imported says what an import changed.
type Imported struct {
	Lab         string `json:"lab"`
	Added       int    `json:"added"`
	Changed     int    `json:"changed"`
	Unchanged   int    `json:"unchanged"`
	Deactivated int    `json:"deactivated"`
}

// Import brings the catalogue to what a lab's compendium says, for all teams.
// An entry keeps its id as long as its code stays the same. Of a full list, what
// the lab had and no longer names becomes inactive; orders that have it go on.
//
// described is what the operator says of the lab beside the file; nil leaves
// it as the file, or an import before, has it. Importing the same file again
// changes nothing.
func Import(ctx context.Context, tx *store.Tx, slug string, described *Lab, c *Compendium, full bool) (Imported, error) {
	im := &importer{tx: tx}
	if err := tx.Lock(ctx, "catalogue"); err != nil {
		return Imported{}, err
	}
	if err := im.begin(ctx); err != nil {
		return Imported{}, err
	}
	if described == nil {
		described = c.Lab
	}
	l, err := im.lab(ctx, slug, described)
	if err != nil {
		return Imported{}, err
	}
	markers, problems := c.markers(l)
	if err := problems.err(); err != nil {
		return Imported{}, err
	}
	im.report.Lab = l.Slug
	if err := im.markers(ctx, l, markers, full); err != nil {
		return Imported{}, err
	}
	return im.report, im.end(ctx)
}

// importer is one import under way.
type importer struct {
	tx     *store.Tx
	next   int64 // id
	dirty  bool
	report Imported
}

func (im *importer) begin(ctx context.Context) error {
	err := im.tx.QueryRow(ctx, `SELECT next_id FROM catalogue WHERE id = 1`).Scan(&im.next)
	if err != nil {
		return fmt.Errorf("labs: reading the next id: %w", err)
	}
	return nil
}

// end gives the catalogue a new revision when anything changed, so that every
// node reads it anew.
func (im *importer) end(ctx context.Context) error {
	if !im.dirty {
		return nil
	}
	_, err := im.tx.Exec(ctx, `UPDATE catalogue SET revision = $1, next_id = $2 WHERE id = 1`, im.tx.NewUUID().String(), im.next)
	if err != nil {
		return fmt.Errorf("labs: changing the revision: %w", err)
	}
	return nil
}

func (im *importer) id() int64 {
	im.next++
	return im.next - 1
}

// lab stores the lab when it is described, and finds it otherwise.
func (im *importer) lab(ctx context.Context, slug string, described *Lab) (Lab, error) {
	stored, err := importedLabs(ctx, im.tx)
	if err != nil {
		return Lab{}, err
	}
	if described == nil {
		i := slices.IndexFunc(stored, func(l Lab) bool { return l.Slug == slug })
		if i < 0 {
			return Lab{}, fault.New(fault.Refused, "The lab was never imported, so it must be described").At("body", "lab")
		}
		return stored[i], nil
	}
	l := *described
	if slug != "" && l.Slug != "" && l.Slug != slug {
		return Lab{}, fault.New(fault.Refused, "The file describes another lab").At("body", "lab")
	}
	if l.Slug == "" {
		l.Slug = slug
	}
	if err := checkLab(&l); err != nil {
		return Lab{}, err
	}
	l.ID = im.idOfLab(l.Slug, stored)
	body, err := json.Marshal(l)
	if err != nil {
		return Lab{}, fmt.Errorf("labs: marshalling a lab: %w", err)
	}
	n, err := im.tx.Exec(ctx, `INSERT INTO catalogue_labs (id, slug, body, imported_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (id) DO UPDATE SET body = excluded.body, imported_at = excluded.imported_at WHERE catalogue_labs.body <> excluded.body`,
		l.ID, l.Slug, string(body), im.tx.Now())
	if err != nil {
		return Lab{}, fmt.Errorf("labs: storing a lab: %w", err)
	}
	im.dirty = im.dirty || n > 0
	return l, nil
}

// idOfLab is the id that the slug has or had; a slug that clients know has
// the same one in every installation.
func (im *importer) idOfLab(slug string, stored []Lab) LabID {
	for _, l := range slices.Concat(builtin().labs, stored) {
		if l.Slug == slug {
			return l.ID
		}
	}
	return im.id()
}

// markers stores what is new or changed, and puts what is missing to rest.
func (im *importer) markers(ctx context.Context, l Lab, listed []*Marker, full bool) error {
	all, err := importedMarkers(ctx, im.tx)
	if err != nil {
		return err
	}
	before := map[string]*Marker{}
	for _, m := range all {
		if m.Lab == l.ID {
			before[m.ProviderID] = m
		}
	}
	for _, m := range listed {
		old := before[m.ProviderID]
		delete(before, m.ProviderID)
		if err := im.marker(ctx, m, old); err != nil {
			return err
		}
	}
	if !full {
		return nil
	}
	for _, m := range before {
		if !m.Active {
			continue
		}
		im.report.Deactivated, im.dirty = im.report.Deactivated+1, true
		if _, err := im.tx.Exec(ctx, `UPDATE catalogue_markers SET active = $1, imported_at = $2 WHERE id = $3`, false, im.tx.Now(), m.ID); err != nil {
			return fmt.Errorf("labs: deactivating a marker: %w", err)
		}
	}
	return nil
}

// marker stores one entry under the id that it had before, if it had one.
func (im *importer) marker(ctx context.Context, m, old *Marker) error {
	im.number(m, old)
	body, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("labs: marshalling a marker: %w", err)
	}
	if old != nil && old.Active {
		was, err := json.Marshal(old)
		if err != nil {
			return fmt.Errorf("labs: marshalling a marker: %w", err)
		}
		if string(was) == string(body) {
			im.report.Unchanged++
			return nil
		}
	}
	if im.dirty = true; old == nil {
		im.report.Added++
	} else {
		im.report.Changed++
	}
	_, err = im.tx.Exec(ctx, `INSERT INTO catalogue_markers (id, lab_id, provider_id, active, body, imported_at) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (id) DO UPDATE SET active = excluded.active, body = excluded.body, imported_at = excluded.imported_at`,
		m.ID, m.Lab, m.ProviderID, true, string(body), im.tx.Now())
	if err != nil {
		return fmt.Errorf("labs: storing a marker: %w", err)
	}
	return nil
}

// number gives a marker and its parts the ids they had, and new ones to what
// is new: orders and results speak of them.
func (im *importer) number(m, old *Marker) {
	if old == nil {
		old = &Marker{ID: im.id()}
	}
	m.ID = old.ID
	for i := range m.Results {
		r := &m.Results[i]
		at := slices.IndexFunc(old.Results, func(o Result) bool {
			return o.ID != 0 && o.LOINC == r.LOINC && o.ProviderID == r.ProviderID && (r.LOINC != "" || o.Name == r.Name)
		})
		r.ID = im.sameOrNew(at, func() int64 { return old.Results[at].ID })
	}
	for i := range m.Questions {
		q := &m.Questions[i]
		var answers []Answer
		at := slices.IndexFunc(old.Questions, func(o Question) bool { return o.Code == q.Code })
		if at >= 0 {
			answers = old.Questions[at].Answers
		}
		q.ID = im.sameOrNew(at, func() int64 { return old.Questions[at].ID })
		for j := range q.Answers {
			in := slices.IndexFunc(answers, func(o Answer) bool { return o.Code == q.Answers[j].Code })
			q.Answers[j].ID = im.sameOrNew(in, func() int64 { return answers[in].ID })
		}
	}
}

func (im *importer) sameOrNew(at int, same func() int64) int64 {
	if at < 0 {
		return im.id()
	}
	return same()
}
