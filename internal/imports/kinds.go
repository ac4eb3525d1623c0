package imports

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"hale/internal/fault"
	"hale/internal/providers/applehealth"
	"hale/internal/providers/clarity"
	"hale/internal/providers/files"
	"hale/internal/providers/fit"
	"hale/internal/providers/fitbitexport"
	"hale/internal/providers/fitbitweb"
	"hale/internal/providers/garmin"
	"hale/internal/providers/googlefit"
	"hale/internal/providers/gpx"
	"hale/internal/providers/healthconnect"
	"hale/internal/providers/ihealth"
	"hale/internal/providers/libreview"
	"hale/internal/providers/nightscout"
	"hale/internal/providers/oura"
	"hale/internal/providers/polar"
	"hale/internal/providers/runkeeper"
	"hale/internal/providers/sheet"
	"hale/internal/providers/strava"
	"hale/internal/providers/suunto"
	"hale/internal/providers/tcx"
	"hale/internal/providers/ultrahuman"
	"hale/internal/providers/whoopexport"
	"hale/internal/providers/withings"
)

// kinds is every kind of file that can be imported, in the order in which an
// unknown file is held against them.
var kinds = []files.Kind{
	applehealth.Kind,
	fit.Kind,
	tcx.Kind,
	gpx.Kind,
	healthconnect.Kind,
	clarity.Kind,
	libreview.Kind,
	nightscout.Kind,
	fitbitexport.Kind,
	whoopexport.Kind,
	oura.Kind,
	withings.Kind,
	ihealth.Kind,
	runkeeper.Kind,
	strava.Kind,
	suunto.Kind,
	fitbitweb.Kind,
	googlefit.Kind,
	ultrahuman.Kind,
	garmin.Kind,
	polar.Kind,
}

// Kinds are the names of the kinds that can be imported.
func Kinds() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.Name
	}
	return names
}

func kindNamed(name string) (files.Kind, bool) {
	i := slices.IndexFunc(kinds, func(k files.Kind) bool { return k.Name == name })
	if i < 0 {
		return files.Kind{}, false
	}
	return kinds[i], true
}

// openKind is the kind of a file that was taken before, maybe by an older or a
// newer version.
func openKind(name string) (files.Kind, error) {
	kind, ok := kindNamed(name)
	if !ok {
		return kind, fault.New(fault.Unprocessable, "this version of the server can not import files of this kind")
	}
	return kind, nil
}

// checkKind reads a kind's name, which may have hyphens; empty means that it
// is to be recognised. loc is where the request has it.
func checkKind(name string, loc ...string) (string, error) {
	name = strings.ReplaceAll(name, "-", "_")
	if _, ok := kindNamed(name); ok || name == "" {
		return name, nil
	}
	return "", fault.New(fault.Invalid, "kind should be one of "+strings.Join(Kinds(), ", ")).
		At(loc...).WithType("enum").WithInput(name)
}

// recognise finds the kind of a file by its content. With a name it only
// checks that the file is one of those. One that ends in the middle of its
// first record may look like a kind that it is not, and goes to any other that
// takes it.
func (s *Service) recognise(path, name string) (string, error) {
	var titles []string
	var is string // what is wrong with it, in words
	var ends *files.CutError
	for _, k := range kinds {
		if name != "" && name != k.Name {
			continue
		}
		err := k.Check(path, s.MaxDocument)
		var unlike *files.UnlikeError
		var cut *files.CutError
		switch {
		case err == nil:
			return k.Name, nil
		case errors.As(err, &cut):
			ends = cmp.Or(ends, cut)
		case !errors.As(err, &unlike):
			return "", unreadable(err)
		case name != "":
			is = unlike.Error()
		}
		titles = append(titles, k.Title)
	}
	if ends != nil {
		return "", atBody(ends.Error())
	}
	if is == "" {
		is = "the file is none of those that can be imported: " + strings.Join(titles, ", ")
	}
	early, err := sheet.EndsEarly(path)
	if err == nil && early {
		is = "the file ends in the middle, which may be why it is not known: " + is
	}
	return "", cmp.Or(err, atBody(is))
}

// unreadable is why a file can not be imported although its kind is known.
// Here it is the caller's input that is at fault.
func unreadable(err error) error {
	var refused *fault.Error
	if errors.As(err, &refused) && refused.Kind() == fault.Unprocessable {
		return atBody(refused.Message())
	}
	return err
}

func atBody(text string) error { return fault.New(fault.Invalid, text).At("body") }
