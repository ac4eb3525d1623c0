package results

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/networks"
)

// Report is what a lab says of one order at one time.
type Report struct {
	// At is when the lab reported it.
	At       time.Time          `json:"at"`
	SampleID string             `json:"sample_id,omitempty"`
	Account  string             `json:"account,omitempty"`
	Set      networks.ResultSet `json:"set"`

	// Document is the SHA-256 of the PDF that came with it and is kept apart.
	Document []byte `json:"document,omitempty"`

	id     uuid.UUID
	digest [sha256.Size]byte
}

// class orders reports by how far they go.
func (r *Report) class() int {
	switch {
	case r.Set.Corrected:
		return 2
	case r.Set.Partial:
		return 0
	}
	return 1
}

// says reports whether there is anything in a report beside documents.
func (r *Report) says() bool { return len(r.Set.Results) > 0 || len(r.Set.Missing) > 0 }

// reported is when the lab says that it reported.
func (r *Report) reported() time.Time {
	if at := r.Set.Specimen.Reported.Time; !at.IsZero() {
		return at
	}
	return r.At
}

// inOrder sorts reports by how far they go, then by time. Two that are alike in
// both stand in the order of their digests: any order will do as long as it is
// not that of their arrival.
func inOrder(a, b *Report) int {
	return cmp.Or(cmp.Compare(a.class(), b.class()), a.reported().Compare(b.reported()), a.At.Compare(b.At), bytes.Compare(a.digest[:], b.digest[:]))
}

// merged is many reports as one.
type merged struct {
	status     Status
	corrected  bool
	results    []found
	missing    []networks.Missing
	samples    []Sample
	laboratory string
	clia       string
	account    string
	comments   []string
	document   uuid.UUID // the report whose PDF counts; zero for none
}

// found is a result with the sample that it is of.
type found struct {
	networks.Result
	sample string
}

// merge puts reports together. Of one observation (the lab's code and sub-id)
// that several reports have, the one counts whose status goes farthest
// (preliminary, final, corrected), then the later one. The answer is the same
// for any order of the reports.
func merge(reports []Report, own string) merged {
	sorted := make([]*Report, len(reports))
	for i := range reports {
		sorted[i] = &reports[i]
	}
	slices.SortFunc(sorted, inOrder)
	m := merged{status: Partial}
	for _, r := range sorted {
		if r.says() && !r.Set.Partial {
			m.status = Final
		}
		m.corrected = m.corrected || r.Set.Corrected
		m.laboratory, m.clia = cmp.Or(r.Set.Laboratory, m.laboratory), cmp.Or(r.Set.CLIA, m.clia)
		m.account = cmp.Or(r.Account, m.account)
		for _, comment := range r.Set.Comments {
			if comment = strings.TrimSpace(comment); comment != "" && !slices.Contains(m.comments, comment) {
				m.comments = append(m.comments, comment)
			}
		}
		if len(r.Document) > 0 {
			m.document = r.id
		}
		m.sample(r, own)
	}
	m.observations(sorted, own)
	return m
}

// sample adds what a report says of its specimen.
func (m *merged) sample(r *Report, own string) {
	key := sampleKey(r, own)
	at := slices.IndexFunc(m.samples, func(s Sample) bool { return s.Key == key })
	if at < 0 {
		at = len(m.samples)
		m.samples = append(m.samples, Sample{Key: key, Control: own})
	}
	s := &m.samples[at]
	s.Control = cmp.Or(own, r.SampleID)
	next, known := r.Set.Specimen, &s.Specimen
	known.Number = cmp.Or(next.Number, known.Number)
	known.Volume, known.Information = cmp.Or(next.Volume, known.Volume), cmp.Or(next.Information, known.Information)
	if next.Fasting != nil {
		known.Fasting = next.Fasting
	}
	for _, m := range []struct{ to, from *networks.Moment }{
		{&known.Collected, &next.Collected}, {&known.Received, &next.Received}, {&known.Reported, &next.Reported},
	} {
		if !m.from.Time.IsZero() {
			*m.to = *m.from
		}
	}
	for name, lab := range r.Set.Laboratories {
		if s.Laboratories == nil {
			s.Laboratories = map[string]networks.Laboratory{}
		}
		s.Laboratories[name] = lab
	}
}

func sampleKey(r *Report, own string) string {
	return cmp.Or(r.Set.Specimen.Number, own, r.SampleID)
}
