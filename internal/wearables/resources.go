package wearables

import (
	"slices"

	"hale/internal/wearables/resources"
)

//go:generate go test ./ -run TestResourcesPage -update

// Resource is one kind of time series, as the table in package resources has
// it; here is what its samples are checked and written by.
type Resource struct{ resources.Resource }

// Extra is a field of samples that holds one of a few words, or null.
type Extra = resources.Extra

// hypnogram is read from the sleep cycles that replaced it and never stored.
const hypnogram = resources.Hypnogram

var resourceTable = func() (all []Resource) {
	for _, r := range resources.All() {
		all = append(all, Resource{r})
	}
	return all
}()

var resourcesByName = func() map[string]*Resource {
	byName := map[string]*Resource{}
	for i := range resourceTable {
		r := &resourceTable[i]
		byName[r.Name], byName[r.Event] = r, r
	}
	return byName
}()

// Resources lists every kind of time series, in the order of the reference.
func Resources() []Resource { return slices.Clone(resourceTable) }

// ResourceNamed finds a kind of time series by its path segment or by its
// name in events.
func ResourceNamed(name string) (*Resource, bool) {
	r, ok := resourcesByName[name]
	return r, ok
}
