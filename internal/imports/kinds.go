package imports

import (
	"errors"
	"slices"
	"strings"

	"hale/internal/fault"
	"hale/internal/providers/applehealth"
)

// AppleHealth is the kind of HealthKit exports, zip or XML.
const AppleHealth = "apple_health"

// kind is one sort of export: check tells whether a file is one, without
// reading it to the end; what is not is a fault.
type kind struct {
	name  string
	check func(path string, maxDocument int64) error
}

var kinds = []kind{
	{AppleHealth, func(path string, maxDocument int64) error {
		export, err := applehealth.Open(path, maxDocument)
		if err != nil {
			return err
		}
		defer export.Close()
		return export.Check()
	}},
}

// Kinds are the names of the kinds that can be imported.
func Kinds() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}

// checkKind reads a kind's name, which may have hyphens; empty means that it
// is to be recognised.
func checkKind(name string) (string, error) {
	name = strings.ReplaceAll(name, "-", "_")
	if name == "" || slices.Contains(Kinds(), name) {
		return name, nil
	}
	return "", fault.New(fault.Invalid, "kind should be one of "+strings.Join(Kinds(), ", ")).
		At("query", "kind").WithType("enum").WithInput(name)
}

// recognise finds the kind of a file. With a name it only checks that the
// file is one of those.
func (s *Service) recognise(path, name string) (string, error) {
	var refusal *fault.Error
	for _, k := range kinds {
		if name != "" && name != k.name {
			continue
		}
		err := k.check(path, s.MaxDocument)
		if err == nil {
			return k.name, nil
		}
		var refused *fault.Error
		if !errors.As(err, &refused) {
			return "", err
		}
		if refused.Kind() == fault.Unprocessable { // here it is the caller's input that is at fault
			refused = fault.New(fault.Invalid, refused.Message()).At("body")
		}
		refusal = refused
	}
	return "", refusal
}
