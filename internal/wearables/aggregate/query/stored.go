package query

import "time"

// StoredQuery is the body that creates a continuous query. Package continuous checks
// its texts.
//
// Reference 9.6, CreateContinuousQueryBody.
type StoredQuery struct {
	Slug, Title      string
	Query            Query
	Config           Config
	MinimumGap       *time.Duration
	DataEvents       bool
	FHIRObservations bool
}

// DecodeStoredQuery reads the body. Every fault names the place.
func DecodeStoredQuery(data []byte) (s StoredQuery, err error) {
	root, err := parse(data)
	if err != nil {
		return s, err
	}
	body, err := root.object()
	if err != nil {
		return s, err
	}
	for _, f := range []struct {
		name string
		to   *string
	}{{"slug", &s.Slug}, {"title", &s.Title}} {
		n, err := body.need(f.name)
		if err != nil {
			return s, err
		}
		if *f.to, err = n.text(longestText); err != nil {
			return s, err
		}
	}
	n, err := body.need("query")
	if err != nil {
		return s, err
	}
	if s.Query, err = decodeQuery(n); err != nil {
		return s, err
	}
	if s.Config, err = decodeConfig(body, "query_config"); err != nil {
		return s, err
	}
	if s.MinimumGap, err = decodeGap(body); err != nil {
		return s, err
	}
	return s, decodeExports(body, &s)
}

// mostGap is a year, seconds.
const mostGap = 366 * 24 * 3600

func decodeGap(body object) (*time.Duration, error) {
	n, ok := body.take("scheduling_preferences")
	if !ok {
		return nil, nil
	}
	preferences, err := n.object()
	if err != nil {
		return nil, err
	}
	gap, ok := preferences.take("minimum_gap_duration_second")
	if !ok {
		return nil, nil
	}
	seconds, err := gap.integer(1800, mostGap)
	d := time.Duration(seconds) * time.Second
	return &d, err
}

func decodeExports(body object, s *StoredQuery) error {
	s.DataEvents = true
	n, ok := body.take("export_preferences")
	if !ok {
		return nil
	}
	preferences, err := n.object()
	if err != nil {
		return err
	}
	if n, ok := preferences.take("fhir_observations"); ok {
		if s.FHIRObservations, err = n.flag(); err != nil {
			return err
		}
	}
	if n, ok = preferences.take("data_events"); !ok {
		return nil
	}
	events, err := n.object()
	if err != nil {
		return err
	}
	if n, ok := events.take("enabled"); ok {
		s.DataEvents, err = n.flag()
	}
	return err
}

func (n node) flag() (bool, error) {
	b, ok := n.v.(bool)
	if !ok {
		return false, n.fail("bool_type", "Input should be a valid boolean")
	}
	return b, nil
}
