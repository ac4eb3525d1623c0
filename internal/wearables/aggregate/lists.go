package aggregate

import "hale/internal/wearables/aggregate/query"

// appendList appends what a subquery makes of the elements of one list. A list
// that is missing is an empty one.
func appendList(dst *Vector, list []any, in query.Input) {
	fields := make([]Vector, len(in.Column.Fields))
	for i := range fields {
		c := &in.Column.Fields[i]
		fields[i].Kind = c.Kind
		for _, element := range list {
			v := element
			if c.Name != query.ElementField {
				object, _ := element.(map[string]any)
				v = object[c.Name]
			}
			appendScalar(&fields[i], v, c)
		}
	}
	rows := appendMatching(make([]int32, 0, len(list)), in.List.Where, fields, 0, len(list))
	if in.List.Field < 0 {
		dst.appendNumber(float64(len(rows)))
		return
	}
	reduce(in.List.Func, &fields[in.List.Field], rows, dst)
}
