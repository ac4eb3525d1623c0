package replay

import "hale/internal/wearables/ingest"

// Changes lists the changes of a run: counts, words and names of fields, never values.
type Changes struct {
	Users      int64                       `json:"users" doc:"Number of users whose payloads were processed."`
	Payloads   int64                       `json:"payloads" doc:"Number of payloads that were processed."`
	Unreadable map[string]int64            `json:"unreadable" doc:"Number of payloads that the current mapping refuses, by kind."`
	Resources  map[string]*ResourceChanges `json:"resources" doc:"Changes by resource. Unchanged resources are absent."`
}

// ResourceChanges counts the values of one resource by outcome.
type ResourceChanges struct {
	Created      int64        `json:"created" doc:"Number of values that the older mapping did not produce."`
	Updated      int64        `json:"updated" doc:"Number of values that differ."`
	FirstCreated *FirstChange `json:"first_created" doc:"Time of the first created value. It is null if there is none."`
	FirstUpdated *FirstChange `json:"first_updated" doc:"Time of the first updated value. It is null if there is none."`
}

// FirstChange is an example of several changes.
type FirstChange struct {
	Provider   string   `json:"provider"`
	SourceType string   `json:"source_type"`
	Day        string   `json:"day" doc:"Calendar date of a summary. It is empty for samples."`
	Fields     []string `json:"fields" doc:"Fields of an updated summary that differ."`
}

func newChanges() *Changes {
	return &Changes{Unreadable: map[string]int64{}, Resources: map[string]*ResourceChanges{}}
}

// join adds the changes of one user.
func (r *Changes) join(o *Changes) {
	r.Users += o.Users
	r.Payloads += o.Payloads
	for kind, n := range o.Unreadable {
		r.Unreadable[kind] += n
	}
}

// plus returns the report with further changes. It does not change r, because they may
// fail.
func (r *Changes) plus(changes []ingest.Change) Changes {
	sum := *r
	sum.Resources = make(map[string]*ResourceChanges, len(r.Resources)+1)
	for resource, c := range r.Resources {
		own := *c
		sum.Resources[resource] = &own
	}
	for _, c := range changes {
		sum.add(c)
	}
	return sum
}

// add counts a change.
func (r *Changes) add(c ingest.Change) {
	sum := r.Resources[c.Resource]
	if sum == nil {
		sum = &ResourceChanges{}
		r.Resources[c.Resource] = sum
	}
	n, first := &sum.Created, &sum.FirstCreated
	if c.Verb == "updated" {
		n, first = &sum.Updated, &sum.FirstUpdated
	}
	*n += int64(c.Count)
	if *first == nil {
		example := &FirstChange{Provider: c.Source.Provider, SourceType: c.Source.Type, Day: c.Day, Fields: c.Fields}
		if example.SourceType == "" {
			example.SourceType = "unknown"
		}
		if example.Fields == nil {
			example.Fields = []string{}
		}
		*first = example
	}
}
