package query

import "encoding/json"

// MarshalJSON writes the query as a request may contain it, without the fields that
// were left out.
func (q Query) MarshalJSON() ([]byte, error) {
	doc := map[string]any{"select": q.Select}
	if len(q.GroupBy) > 0 {
		doc["group_by"] = q.GroupBy
	}
	if q.Where != nil {
		doc["where"] = *q.Where
	}
	if q.Align != nil {
		carry := map[string]any{"mode": q.Align.Mode}
		if q.Align.Window != nil {
			carry[q.Align.windowName()] = *q.Align.Window
		}
		doc["align"] = map[string]any{"carry": carry}
	}
	return json.Marshal(doc)
}

// MarshalJSON writes the expression.
func (e Expr) MarshalJSON() ([]byte, error) {
	doc := map[string]any{}
	switch e.Op {
	case OfTable:
		doc[e.Table] = e.Name
	case OfSeries:
		doc["timeseries"], doc["field"] = e.Table, e.Name
	case OfSource:
		doc["source"] = e.Name
	case OfIndex:
		doc["index"] = e.Table
	case OfKey:
		doc["group_key"] = e.Key
		if e.Key == AllKeys {
			doc["group_key"] = "*"
		}
	case OfFunc:
		doc["func"], doc["arg"] = e.Func, e.Arg
	case OfMacro:
		doc["value_macro"], doc["version"] = e.Name, "automatic"
	case OfList:
		inner := map[string]any{"func": e.Func, "arg": nil}
		switch e.Field {
		case "":
		case ElementField:
			inner["arg"] = map[string]any{ElementField: true}
		default:
			inner["arg"] = map[string]any{"field_for": e.Arg.Table, e.Arg.Name: e.Field}
		}
		doc["select"], doc["from"] = inner, map[string]any{"unnest": e.Arg}
		if e.Where != nil {
			doc["where"] = *e.Where
		}
	case OfTrunc:
		doc["date_trunc"], doc["arg"] = e.Period, e.Arg
	case OfPart:
		doc["date_part"], doc["arg"] = e.Name, e.Arg
	}
	return json.Marshal(doc)
}

// MarshalJSON writes the period.
func (p Period) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{"value": p.Value, "unit": p.Unit})
}

// MarshalJSON writes the config.
func (c Config) MarshalJSON() ([]byte, error) {
	doc := map[string]any{}
	if c.Overrides != nil {
		doc["provider_priority_overrides"] = c.Overrides
	}
	return json.Marshal(doc)
}
