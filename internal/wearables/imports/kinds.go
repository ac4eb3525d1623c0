package imports

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"hale/internal/platform/fault"
	"hale/internal/wearables/formats/applehealth"
	"hale/internal/wearables/formats/clarity"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/fit"
	"hale/internal/wearables/formats/fitbitexport"
	"hale/internal/wearables/formats/fitbitweb"
	"hale/internal/wearables/formats/garmin"
	"hale/internal/wearables/formats/googlefit"
	"hale/internal/wearables/formats/gpx"
	"hale/internal/wearables/formats/healthconnect"
	"hale/internal/wearables/formats/ihealth"
	"hale/internal/wearables/formats/libreview"
	"hale/internal/wearables/formats/nightscout"
	"hale/internal/wearables/formats/oura"
	"hale/internal/wearables/formats/polar"
	"hale/internal/wearables/formats/runkeeper"
	"hale/internal/wearables/formats/sheet"
	"hale/internal/wearables/formats/strava"
	"hale/internal/wearables/formats/suunto"
	"hale/internal/wearables/formats/tcx"
	"hale/internal/wearables/formats/ultrahuman"
	"hale/internal/wearables/formats/whoopexport"
	"hale/internal/wearables/formats/withings"
)

// kinds lists every kind of file that can be imported, in the order in which a file is
// tested.
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

// Kinds returns the names of the kinds that can be imported.
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

// openKind returns the kind of a file that was received before, maybe by another version.
func openKind(name string) (files.Kind, error) {
	kind, ok := kindNamed(name)
	if !ok {
		return kind, fault.New(fault.Unprocessable, "this version of the server can not import files of this kind")
	}
	return kind, nil
}

// checkKind parses the name of a kind, which may have hyphens. The empty name means that
// the kind is recognised. loc is the location in the request.
func checkKind(name string, loc ...string) (string, error) {
	name = strings.ReplaceAll(name, "-", "_")
	if _, ok := kindNamed(name); ok || name == "" {
		return name, nil
	}
	return "", fault.NotInEnum(Kinds()).At(loc...).WithInput(name)
}

// recognise finds the kind of a file by its content. With a name it checks that kind
// only. A file that ends in its first record may match a wrong kind, so another kind that
// matches has priority.
func (s *Service) recognise(path, name string) (string, error) {
	var titles []string
	var is string // the problem in words
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
			return "", unreadableFault(err)
		case name != "":
			is = unlike.Error()
		}
		titles = append(titles, k.Title)
	}
	if ends != nil {
		return "", readerAtBody(ends.Error())
	}
	if is == "" {
		is = "the file is none of those that can be imported: " + strings.Join(titles, ", ")
	}
	early, err := sheet.EndsEarly(path)
	if err == nil && early {
		is = "the file ends in the middle, which may be why it is not known: " + is
	}
	return "", cmp.Or(err, readerAtBody(is))
}

// unreadableFault returns the fault of a file that cannot be imported although its kind is
// known. The caller's input is at fault.
func unreadableFault(err error) error {
	var refused *fault.Error
	if errors.As(err, &refused) && refused.Kind() == fault.Unprocessable {
		return readerAtBody(refused.Message())
	}
	return err
}

func readerAtBody(text string) error { return fault.New(fault.Invalid, text).At("body") }
