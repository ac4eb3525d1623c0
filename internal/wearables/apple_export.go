package wearables

import (
	"cmp"
	"strings"

	"github.com/google/uuid"
)

// An Apple Health export has no bundle ids, so its importer derives an app id from each
// source name. The name of a person's own device becomes a digest, and the name of an app
// becomes a readable id. A phone that reads HealthKit sends bundle ids. Both transports
// read one HealthKit store: an export's device and a pushed source of the same type are
// one recorder.

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

// MayHaveTransports reports whether the source's data may come pushed and in an export.
func (s *Source) MayHaveTransports() bool { return s.Provider == appleHealth }

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
