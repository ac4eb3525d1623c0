package insurance

import (
	"strings"
	"testing"

	"hale/internal/people/users/person"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
)

func TestShippedPayors(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range builtinEntries() {
		switch {
		case !codePattern.MatchString(e.Code) || seen[e.Code]:
			t.Errorf("%s is not a code, or is there twice", e.Code)
		case strings.HasPrefix(e.Code, FederalPlan) || strings.HasPrefix(e.Code, StatePlan) || strings.HasPrefix(e.Code, teamCodePrefix):
			t.Errorf("%s is a code of another kind", e.Code)
		case e.Name == "" || e.Aliases == nil:
			t.Errorf("%s has no name", e.Code)
		case e.Address != nil:
			t.Errorf("%s has an address, for which there is no open source", e.Code)
		}
		seen[e.Code] = true
		for provider := range e.External {
			if provider != AnyHouse && provider != "stedi" {
				t.Errorf("%s: %s does not publish its numbers", e.Code, provider)
			}
		}
	}
	if len(seen) < 30 {
		t.Errorf("%d payors", len(seen))
	}
}

// Fifty states, the District of Columbia and five territories have both plans.
func TestPlansOfAllStates(t *testing.T) {
	plans := statePlans()
	if len(plans) != 2*56 {
		t.Errorf("%d plans", len(plans))
	}
	for _, p := range plans {
		if len(p.Aliases) == 0 || p.Source != Platform || p.Address.Country != person.US {
			t.Errorf("%+v", p)
		}
		if federal := strings.HasPrefix(p.Code, FederalPlan); federal != (p.Address.Zip == "21244") {
			t.Errorf("%s has another address", p.Code)
		}
	}
	for _, state := range []string{"AE", "", "XX", "Oslo"} {
		if p, ok := planInState(StatePlan, state); ok {
			t.Errorf("%q has the plan %s", state, p.Code)
		}
	}
}

func FuzzParsePayors(f *testing.F) {
	f.Add("payor_code,name,aliases,external\nX1,Example Health,Ex|Exh,*:00001|stedi:00002\n")
	f.Add("payor_code,name,first_line,city,state,zip\nX1,Example Health,1 Main St,Austin,TX,78701\n")
	f.Add("payor_code,name\n\"X1\"x,Example Health\n")
	f.Add("\ufeffname,payor_code\r\n\"a\nb\",x\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := ParsePayors(strings.NewReader(text), civil.MustParse("2026-01-01"))
		if err != nil {
			if kind := fault.KindOf(err); kind != fault.Invalid && kind != fault.TooLarge {
				t.Errorf("not for the caller: %v", err)
			}
			return
		}
		for _, e := range file.entries {
			if !codePattern.MatchString(e.Code) || e.Name == "" {
				t.Errorf("kept %+v", e)
			}
			indexPayor(e.payor())
		}
	})
}
