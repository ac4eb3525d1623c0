// Package units turns a value of one unit into another. Which unit a number
// comes in is each format's own word; what the units are to each other is
// here, once.
package units

// A Scale turns a value of one unit into another: (v·mul + add) ÷ div. It
// multiplies and divides by exact numbers, so that nothing is lost to a rounded
// reciprocal: 2300 mg are 2.3 g, and 98.6 °F are 37 °C.
type Scale struct{ mul, add, div float64 }

// Of is v in the other unit.
func (s Scale) Of(v float64) float64 { return (v*s.mul + s.add) / s.div }

// Difference is the scale of a difference between two values: of 0.9 °F, say,
// which are 0.5 °C.
func (s Scale) Difference() Scale { return Scale{s.mul, 0, s.div} }

// Times makes mul of one.
func Times(mul float64) Scale { return Ratio(mul, 1) }

// Over makes one of div.
func Over(div float64) Scale { return Ratio(1, div) }

// Ratio makes mul of div.
func Ratio(mul, div float64) Scale { return Scale{mul, 0, div} }

// Units by what they are turned into. The factors are exact by definition but
// for the molar masses.
//
// Source: NIST SP 811, appendix B.
var (
	Same = Times(1)

	// Metres.
	Mile = Times(1609.344)
	Yard = Times(0.9144)
	Foot = Times(0.3048)
	Inch = Times(0.0254)

	// Kilograms.
	Stone = Times(6.35029318)
	Pound = Times(0.45359237)
	Ounce = Times(0.028349523125)

	// Kilocalories.
	Kilojoule = Ratio(1000, 4184)
	Joule     = Over(4184)

	// Degrees Celsius.
	Fahrenheit = Scale{5, -160, 9}
	Kelvin     = Scale{1, -273.15, 1}

	// Millimetres of mercury.
	Kilopascal      = Ratio(760, 101.325)
	CentimetreWater = Times(0.735559240069)

	// Millilitres.
	FluidOunceUS       = Times(29.5735295625)
	FluidOunceImperial = Times(28.4130625)
	CupUS              = Times(236.5882365)
	CupImperial        = Times(284.130625)
	PintUS             = Times(473.176473)

	// Millimoles a litre, of milligrams a decilitre.
	Glucose       = Over(18.0182)
	Cholesterol   = Over(38.67)
	Triglycerides = Over(88.57)
)
