// Package units converts values between units. A format knows the unit of its numbers;
// this package has the factors.
package units

// Scale converts a value of one unit to another: (v·mul + add) ÷ div. It multiplies and
// divides by exact numbers, so that no reciprocal is rounded: 2300 mg are 2.3 g, and
// 98.6 °F are 37 °C.
type Scale struct{ mul, add, div float64 }

// Convert returns v in the other unit.
func (s Scale) Convert(v float64) float64 { return (v*s.mul + s.add) / s.div }

// Difference returns the scale of a difference between two values: 0.9 °F are 0.5 °C.
func (s Scale) Difference() Scale { return Scale{s.mul, 0, s.div} }

// Multiply returns the scale by which one is mul.
func Multiply(mul float64) Scale { return Ratio(mul, 1) }

// Divide returns the scale by which div are one.
func Divide(div float64) Scale { return Ratio(1, div) }

// Ratio returns the scale by which div are mul.
func Ratio(mul, div float64) Scale { return Scale{mul, 0, div} }

// Units by their target. The factors are exact by definition, except for the molar
// masses.
//
// Source: NIST SP 811, appendix B.
var (
	Identity = Multiply(1)

	// Metres.
	Mile = Multiply(1609.344)
	Yard = Multiply(0.9144)
	Foot = Multiply(0.3048)
	Inch = Multiply(0.0254)

	// Kilograms.
	Stone = Multiply(6.35029318)
	Pound = Multiply(0.45359237)
	Ounce = Multiply(0.028349523125)

	// Kilocalories.
	Kilojoule = Ratio(1000, 4184)
	Joule     = Divide(4184)

	// Degrees Celsius.
	Fahrenheit = Scale{5, -160, 9}
	Kelvin     = Scale{1, -273.15, 1}

	// Millimetres of mercury.
	Kilopascal      = Ratio(760, 101.325)
	CentimetreWater = Multiply(0.735559240069)

	// Millilitres.
	FluidOunceUS       = Multiply(29.5735295625)
	FluidOunceImperial = Multiply(28.4130625)
	CupUS              = Multiply(236.5882365)
	CupImperial        = Multiply(284.130625)
	PintUS             = Multiply(473.176473)

	// Millimoles per litre, from milligrams per decilitre.
	Glucose       = Divide(18.0182)
	Cholesterol   = Divide(38.67)
	Triglycerides = Divide(88.57)
)
