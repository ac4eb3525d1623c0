package oura

import (
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/replies"
)

// personalInfo takes facts about the owner of the account. An age is no birth date, and a
// weight without a day is no measurement. The address is not read.
func (r *reader) personalInfo(d replies.Document) replies.Verdict {
	p := &derive.Person{}
	if sex := d.Text("biological_sex"); sex == "female" || sex == "male" {
		p.Sex = sex
	}
	if metres, ok := d.Number("height"); ok && metres > 0.3 && metres < 3 {
		height := 100 * metres
		p.Height = &height
	}
	if p.Sex == "" && p.Height == nil {
		return replies.BadValue
	}
	r.Sink.Person(p)
	return replies.Mapped
}

// ring takes a ring_configuration: one of the wearer's devices.
func (r *reader) ring(d replies.Document) replies.Verdict {
	if !r.Own(files.Device{
		Provider: Provider, SourceType: ring.Type, Manufacturer: "Oura", Model: files.Text(d.Text("hardware_type")),
		ExternalID: files.Text(d.Text("id")), Version: files.Text(d.Text("firmware_version")),
	}) {
		return replies.BadValue
	}
	return replies.Mapped
}
