package applehealth

import (
	"cmp"
	"slices"
	"strings"

	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/providers"
)

// maxDevices bounds the devices that one file may name.
const maxDevices = 200

// note remembers the hardware that a device text names. It leaves out the name, which
// often contains a person's name. Records of many years name one device with many
// software versions, of which the newest counts.
func (s *sources) note(d device, kind string) {
	hardware := files.Device{
		Provider: Provider, SourceType: kind, Manufacturer: d.manufacturer,
		Model: cmp.Or(d.hardware, d.model), ExternalID: d.localID,
	}
	if hardware.Manufacturer == "" && hardware.Model == "" {
		return
	}
	if s.devices == nil {
		s.devices = map[files.Device]string{}
	}
	version, known := s.devices[hardware]
	if !known && len(s.devices) >= maxDevices {
		return
	}
	if !known || providers.Newer(d.software, version) {
		s.devices[hardware] = d.software
	}
}

// Devices returns the hardware that the records so far name. Its order does not depend on
// the order of the records.
func (r *Reader) Devices() []files.Device {
	all := make([]files.Device, 0, len(r.sources.devices))
	for d, version := range r.sources.devices {
		d.Version = version
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b files.Device) int {
		return cmp.Or(strings.Compare(a.Manufacturer, b.Manufacturer), strings.Compare(a.Model, b.Model),
			strings.Compare(a.SourceType, b.SourceType), strings.Compare(a.ExternalID, b.ExternalID))
	})
	return all
}
