package deletion

import (
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/fault"
	"hale/internal/wearables"
	"hale/internal/wearables/providers"
	"hale/internal/wearables/resources"
	"hale/internal/wearables/storage"
)

// Filter selects data of a user. Empty fields select all; at least one is set.
type Filter struct {
	Resource string `json:"resource,omitempty"`
	Provider string `json:"provider,omitempty"`
	// Source is a type of source, an app's id, a device's id, or the number of a series.
	Source string `json:"source,omitempty"`
	// From and To bound the start of a sample or session, [From, To) in UTC microseconds.
	// FirstDay and LastDay bound the calendar date of a summary, inclusive.
	From     *int64 `json:"from,omitempty"`
	To       *int64 `json:"to,omitempty"`
	FirstDay string `json:"first_day,omitempty"`
	LastDay  string `json:"last_day,omitempty"`
	// ExternalIDs are ids of records at the provider.
	ExternalIDs []string  `json:"external_ids,omitempty"`
	Import      uuid.UUID `json:"import_id,omitzero"`
	// Reported says that the provider reports the records as deleted: no version of a
	// summary is stored later, also if none is stored now.
	Reported bool `json:"reported,omitempty"`
	// Samples leaves summaries out.
	Samples bool `json:"samples,omitempty"`
	// Undo lets the data come back when it is sent or imported again.
	Undo bool `json:"undo,omitempty"`
	// Duplicates selects older versions of sessions that were stored as sessions of their
	// own. It allows no other filter.
	Duplicates bool `json:"duplicates,omitempty"`
	// Shift moves the data instead of deleting it.
	Shift Shift `json:"shift,omitzero"`
	// Reread says that the file of the import is read again afterwards.
	Reread bool `json:"reread,omitempty"`
}

// maxExternalIDs bounds the ids of one deletion.
const maxExternalIDs = 10_000

// check refuses a filter that selects everything or nothing.
func (f *Filter) check() error {
	if f.Duplicates {
		if !f.isEmpty() {
			return fault.New(fault.Invalid, "Value error, takes no other filter").At("query", "duplicates")
		}
		return nil
	}
	place := "query"
	if f.Shift.Seconds != 0 {
		place = "body"
		if err := f.checkShift(); err != nil {
			return err
		}
	}
	if f.isEmpty() {
		return fault.New(fault.Invalid, "Value error, at least one filter is needed").At(place, "resource").WithType("missing")
	}
	if f.Resource == resources.Hypnogram {
		return fault.New(fault.Invalid, "Value error, a hypnogram is a view of sleep_cycle: delete that").At(place, "resource")
	}
	if f.Resource != "" && !wearables.KnownResource(f.Resource) {
		return fault.NotInEnum(wearables.StoredResources()).At(place, "resource").WithInput(f.Resource)
	}
	if f.Provider != "" {
		if _, known := providers.Find(f.Provider); !known {
			return fault.NotInEnum(providers.Slugs()).At(place, "provider").WithInput(f.Provider)
		}
	}
	if f.From != nil && f.To != nil && *f.To <= *f.From {
		return fault.New(fault.Invalid, "Value error, must not be before start").At(place, "end")
	}
	if len(f.ExternalIDs) > maxExternalIDs {
		return fault.Newf(fault.Invalid, "Value error, at most %d ids", maxExternalIDs).At(place, "external_id")
	}
	return nil
}

func (f *Filter) isEmpty() bool {
	return f.Resource == "" && f.Provider == "" && f.Source == "" && f.From == nil && f.To == nil && len(f.ExternalIDs) == 0 && f.Import == uuid.Nil
}

// onlyImport reports whether the filter selects a whole import.
func (f *Filter) onlyImport() bool {
	return f.Import != uuid.Nil && f.Resource == "" && f.Provider == "" && f.Source == "" && f.From == nil && f.To == nil && len(f.ExternalIDs) == 0
}

// series reports whether samples of the series may be selected.
func (f *Filter) series(s *storage.Series) bool {
	if f.Provider != "" && s.Source.Provider != f.Provider || !f.source(s.Source, s.ID) {
		return false
	}
	from, to := f.bounds()
	return f.names(s.Resource) && s.Within(from, to)
}

// names reports whether the filter selects a resource.
func (f *Filter) names(resource string) bool {
	return f.Resource == "" || wearables.EventName(f.Resource) == wearables.EventName(resource)
}

// bounds returns the range of the starts of samples.
func (f *Filter) bounds() (from, to int64) {
	from, to = minTime, maxTime
	if f.From != nil {
		from = *f.From
	}
	if f.To != nil {
		to = *f.To
	}
	return from, to
}

// No sample is before minTime or after maxTime.
var (
	minTime = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	maxTime = time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
)

func (f *Filter) source(s wearables.Source, number int64) bool {
	if f.Source == "" {
		return true
	}
	return f.Source == s.Type || f.Source == s.AppID || s.DeviceID != nil && f.Source == s.DeviceID.String() ||
		number != 0 && f.Source == strconv.FormatInt(number, 10)
}

// summary reports whether the filter selects a summary of its resource and days.
func (f *Filter) summary(s *storage.StoredSummary) bool {
	if !f.source(s.Source, 0) || f.Provider != "" && s.Source.Provider != f.Provider {
		return false
	}
	if start := s.Begins(); start != 0 {
		from, to := f.bounds()
		if f.hasInstants() && (start < from || start >= to) {
			return false
		}
	}
	return len(f.ExternalIDs) == 0 || f.external(s)
}

// hasInstants reports whether a bound is no whole day.
func (f *Filter) hasInstants() bool {
	return f.From != nil && *f.From%dayUS != 0 || f.To != nil && *f.To%dayUS != 0
}

const dayUS = int64(24 * time.Hour / time.Microsecond)

// external reports whether a summary has one of the external ids: as its provider_id, or
// as its key.
func (f *Filter) external(s *storage.StoredSummary) bool {
	if slices.Contains(f.ExternalIDs, s.ID.String()) {
		return true
	}
	if s.Record != uuid.Nil && slices.ContainsFunc(f.ExternalIDs, func(id string) bool {
		return wearables.RecordID(s.User, s.Source.Provider, s.Resource, id) == s.Record
	}) {
		return true
	}
	fields, err := wearables.ParseDocument(s.Body)
	if err != nil {
		return false
	}
	id, _ := fields["provider_id"].(string)
	return id != "" && slices.Contains(f.ExternalIDs, id) || slices.ContainsFunc(f.ExternalIDs, func(id string) bool {
		return wearables.SummaryID(s.User, s.Source.Provider, s.Resource, id) == s.ID
	})
}
