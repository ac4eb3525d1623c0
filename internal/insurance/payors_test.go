package insurance

import (
	"strings"
	"testing"

	"hale/internal/civil"
	"hale/internal/users/person"
)

func TestPayorsHaveCompleteAddresses(t *testing.T) {
	if len(payors) < 10 {
		t.Fatalf("%d payors", len(payors))
	}
	for code, p := range payors {
		form := person.NewForm(civil.MustParse("2026-01-01"))
		if tidy := form.Address("address", p.Address); form.Err() != nil || tidy != p.Address || p.Name == "" {
			t.Errorf("%s: %v", code, form.Err())
		}
		if code != strings.ToUpper(code) || strings.HasPrefix(code, FederalPlan) || strings.HasPrefix(code, StatePlan) {
			t.Errorf("%s is no code", code)
		}
	}
}
