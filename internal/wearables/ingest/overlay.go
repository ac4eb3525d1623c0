package ingest

import "hale/internal/wearables"

// overlay puts the fields of newer onto older. A null in newer leaves what is
// there. An object is joined member by member; a map, such as the foods of a
// meal, is one value: what a later version leaves out of it is gone.
//
// Spec: Events, summary events.
func overlay(older, newer map[string]any) { overlayShaped(older, newer, wearables.ShapeNamed) }

func overlayShaped(older, newer map[string]any, shapeOf func(name string) *wearables.Shape) {
	for name, v := range newer {
		if v == nil {
			if _, known := older[name]; known {
				continue
			}
		}
		if s := shapeOf(name); s != nil && len(s.Members) > 0 {
			was, okWas := older[name].(map[string]any)
			now, okNow := v.(map[string]any)
			if okWas && okNow {
				overlayShaped(was, now, func(name string) *wearables.Shape { return s.Member(name).Shape })
				continue
			}
		}
		older[name] = v
	}
}
