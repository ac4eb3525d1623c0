package fit

import (
	"github.com/muktihari/fit/profile/basetype"
	"github.com/muktihari/fit/profile/mesgdef"
	"github.com/muktihari/fit/profile/typedef"

	"hale/internal/platform/fault"
)

// takeWeight keeps the measurements of a scale.
func (p *part) takeWeight(m *mesgdef.WeightScale) fate {
	if m.Weight == typedef.WeightInvalid || m.Weight == typedef.WeightCalculating {
		return badValue
	}
	if m.UserProfileIndex != typedef.MessageIndexInvalid {
		p.people[m.UserProfileIndex&typedef.MessageIndexMask] = true
	}
	if f := p.add("body_weight", "", m.Timestamp, float64(m.Weight)/100); f != mapped {
		return f
	}
	if m.PercentFat != basetype.Uint16Invalid {
		p.add("body_fat", "", m.Timestamp, m.PercentFatScaled())
	}
	if m.Bmi != basetype.Uint16Invalid {
		p.add("body_mass_index", "", m.Timestamp, m.BmiScaled())
	}
	return mapped
}

// takePressure keeps a measurement of blood pressure, mmHg, and the pulse that
// came with it.
func (p *part) takePressure(m *mesgdef.BloodPressure) fate {
	high, low := whole16(m.SystolicPressure), whole16(m.DiastolicPressure)
	if high != high || low != low { // NaN: one of the two is missing
		return badValue
	}
	if m.UserProfileIndex != typedef.MessageIndexInvalid {
		p.people[m.UserProfileIndex&typedef.MessageIndexMask] = true
	}
	if f := p.add("blood_pressure", "", m.Timestamp, high); f != mapped {
		return f
	}
	s := p.column("blood_pressure", "")
	s.Value2 = append(s.Value2, low)
	if bpm := beats(m.HeartRate); bpm == bpm {
		p.add("heartrate", "", m.Timestamp, bpm)
	}
	return mapped
}

// onePerson refuses a scale's file with the weights of a household: nothing identifies
// the user's own, and a stranger's weight is worse than none.
func (p *part) onePerson() error {
	if len(p.people) > 1 {
		return fault.New(fault.Unprocessable, "the FIT file has measurements of several people; export those of one")
	}
	return nil
}
