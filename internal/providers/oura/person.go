package oura

import (
	"context"

	"hale/internal/providers/files"
	"hale/internal/wearables/derive"
)

// personalInfo takes what the account says of its owner. An age is no birth
// date, a weight of no day no measurement, and the address is not read.
func (r *reader) personalInfo(d document) verdict {
	p := &derive.Person{}
	if sex := d.text("biological_sex"); sex == "female" || sex == "male" {
		p.Sex = sex
	}
	if metres, ok := d.number("height"); ok && metres > 0.3 && metres < 3 {
		height := 100 * metres
		p.Height = &height
	}
	if p.Sex == "" && p.Height == nil {
		return badValue
	}
	r.sink.Person(p)
	return mapped
}

// mostRings bounds the devices of one file.
const mostRings = 100

// ring takes a ring_configuration: one of the wearer's devices.
func (r *reader) ring(d document) verdict {
	one := files.Device{
		Provider: Provider, SourceType: ring.Type, Manufacturer: "Oura", Model: files.Text(d.text("hardware_type")),
		ExternalID: files.Text(d.text("id")), Version: files.Text(d.text("firmware_version")),
	}
	if one.ExternalID == "" || len(r.rings) == mostRings {
		return badValue
	}
	r.rings = append(r.rings, one)
	return mapped
}

func (r *reader) keepRings(ctx context.Context) error {
	if r.device == nil {
		return nil
	}
	for _, one := range r.rings {
		if _, err := r.device(ctx, one); err != nil {
			return err
		}
	}
	r.rings = nil
	return nil
}
