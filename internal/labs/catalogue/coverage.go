package catalogue

import "strings"

// Supported reports whether one of an order's diagnoses is among those for
// which Medicare pays for the marker. A marker without such a list is paid for
// whatever the diagnosis.
//
// Medicare's coverage determinations list complete codes and whole categories;
// E11 stands for every code below it.
func (m *Marker) Supported(icd []string) bool {
	if len(m.Covered) == 0 {
		return true
	}
	for _, code := range icd {
		for _, covered := range m.Covered {
			if strings.HasPrefix(undotted(code), undotted(covered)) {
				return true
			}
		}
	}
	return false
}

func undotted(icd string) string {
	return strings.ToUpper(strings.ReplaceAll(strings.TrimSpace(icd), ".", ""))
}
