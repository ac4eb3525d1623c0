package fit

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/muktihari/fit/profile/basetype"
	"github.com/muktihari/fit/profile/typedef"

	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
)

// makers are the manufacturers that the catalogue has as providers. Dynastream,
// who made ANT, is not Garmin here although Garmin owns it: makers without a
// number of their own use its.
var makers = map[typedef.Manufacturer]string{
	typedef.ManufacturerGarmin:           "garmin",
	typedef.ManufacturerGarminFr405Antfs: "garmin",
	typedef.ManufacturerHammerhead:       "hammerhead",
	typedef.ManufacturerPolarElectro:     "polar",
	typedef.ManufacturerStrava:           "strava",
	typedef.ManufacturerWahooFitness:     "wahoo",
	typedef.ManufacturerWhoop:            "whoop_v2",
	typedef.ManufacturerZwift:            "zwift",
	typedef.ManufacturerZwiftByte:        "zwift",
}

// providerOf returns the slug of the data's provider. If the catalogue has the
// manufacturer of the device, the manufacturer is the provider. So a file and a later
// pull of the same workout are the same workout, and priorities between providers
// work. Other files are manual: a person provided the file, and its manufacturer
// cannot be connected.
func providerOf(m typedef.Manufacturer) string { return cmp.Or(makers[m], "manual") }

// sourceType returns the type of the recording device. A scale writes weights, and a
// cuff writes blood pressures. Strava, which also writes FIT, is an app. All other
// devices are worn or mounted, and their type is watch.
func (p *part) sourceType() string {
	switch {
	case p.id.Type == typedef.FileWeight:
		return "scale"
	case p.id.Type == typedef.FileBloodPressure:
		return "cuff"
	case p.id.Manufacturer == typedef.ManufacturerStrava:
		return "app"
	}
	return "watch"
}

// machines are sports on a machine that does not move. The machine is the source, even if
// another device recorded the sport.
var machines = map[typedef.SubSport]bool{
	typedef.SubSportIndoorCycling: true, typedef.SubSportSpin: true, typedef.SubSportVirtualActivity: true,
}

// source describes the source of the file's measurements. The device is known for
// certain if it wrote its serial number.
func (p *part) source(ctx context.Context, owned *devices) (wearables.Source, error) {
	source := wearables.Source{Provider: providerOf(p.id.Manufacturer), Type: p.sourceType()}
	serial := p.id.SerialNumber
	if owned == nil || serial == 0 || serial == basetype.Uint32Invalid || p.id.Manufacturer == typedef.ManufacturerInvalid ||
		p.id.Manufacturer == typedef.ManufacturerDevelopment {
		return source, nil
	}
	var err error
	source.DeviceID, err = owned.own(ctx, files.Device{
		Provider: source.Provider, SourceType: source.Type, Manufacturer: p.id.Manufacturer.String(), Model: p.model(),
		ExternalID: strconv.FormatUint(uint64(serial), 10), Version: p.version,
	})
	return source, err
}

// devices holds the user's devices that a chain names, at most files.MaxDevices. Data of
// further devices is stored without a device.
type devices struct {
	find  func(context.Context, files.Device) (uuid.UUID, error) // nil keeps none
	known map[files.Device]uuid.UUID
}

func (d *devices) own(ctx context.Context, one files.Device) (*uuid.UUID, error) {
	id, known := d.known[one]
	switch {
	case known:
		return &id, nil
	case d.find == nil || len(d.known) == files.MaxDevices:
		return nil, nil
	}
	id, err := d.find(ctx, one)
	if err != nil {
		return nil, err
	}
	d.known[one] = id
	return &id, nil
}

// model returns the name of the product. Without a name it returns the number of the
// product, and "" if the file states no product.
func (p *part) model() string {
	if p.id.ProductName != "" {
		return p.id.ProductName
	}
	if p.id.Product == basetype.Uint16Invalid {
		return ""
	}
	if p.id.Manufacturer == typedef.ManufacturerGarmin {
		if name := typedef.GarminProduct(p.id.Product).String(); hasName(name) {
			return name
		}
	}
	return strconv.Itoa(int(p.id.Product))
}

// hasName reports whether the Profile has a name for a value.
func hasName(name string) bool { return !strings.Contains(name, "Invalid") }

// typeWord returns the name of a file's type, or "" if the Profile has none.
func typeWord(t typedef.File) string {
	if word := t.String(); hasName(word) {
		return word
	}
	return ""
}
