package wearables

import (
	"cmp"
	"strings"

	"github.com/google/uuid"
)

// An Apple Health export has no bundle ids, so its importer makes an app id from each
// source name: a digest for the names of people's own devices, and a readable id for apps.
// A phone that reads HealthKit sends bundle ids. Both come from one HealthKit store: an
// export's device and a pushed source of the same type are one recorder.

// AppleExportApps begins the app ids that an export gives to apps.
const AppleExportApps = "healthkit.source."

// AppleExportDevices begins the app ids that an export gives to devices; a digest follows.
// Apple's own ids have the same form with a random UUID.
const AppleExportDevices = "com.apple.health."

const appleHealth = "apple_health_kit"

// digestVersion is the version of UUIDs that are digests of names.
const digestVersion = 5

// IsAppleExport reports whether the source is one of an Apple Health export.
func (s *Source) IsAppleExport() bool {
	return s.Provider == appleHealth && strings.HasPrefix(s.AppID, AppleExportApps) || s.isAppleExportDevice()
}

// MayBeExported reports whether an Apple Health export may have the samples of the source
// too.
func (s *Source) MayBeExported() bool { return s.Provider == appleHealth && !s.IsAppleExport() }

func (s *Source) isAppleExportDevice() bool {
	digest, ok := strings.CutPrefix(s.AppID, AppleExportDevices)
	if !ok || s.Provider != appleHealth {
		return false
	}
	id, err := uuid.Parse(digest)
	return err == nil && id.Version() == digestVersion
}

// IsOtherTransport reports whether two sources of a HealthKit store are one phone or watch,
// once in an export and once as the phone sends it.
func (s *Source) IsOtherTransport(o *Source) bool {
	if s.Provider != appleHealth || o.Provider != appleHealth || cmp.Or(s.Type, unknownType) != cmp.Or(o.Type, unknownType) {
		return false
	}
	return s.isAppleExportDevice() && !o.IsAppleExport() || o.isAppleExportDevice() && !s.IsAppleExport()
}
