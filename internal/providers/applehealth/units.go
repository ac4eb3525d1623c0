package applehealth

import (
	"strings"

	"hale/internal/providers/xmlscan"
)

// scale turns a value of one unit into the canonical one: v·mul÷div + add.
// It multiplies and divides by exact numbers, so that nothing is lost to a
// rounded reciprocal.
type scale struct{ mul, div, add float64 }

func (s scale) apply(v float64) float64 { return v*s.mul/s.div + s.add }

// units are the spellings in which a quantity comes. A unit that is not listed
// makes the record rejected: a wrong number is worse than none.
type units map[string]scale

var one = scale{1, 1, 0}

func times(mul float64) scale { return scale{mul, 1, 0} }
func over(div float64) scale  { return scale{1, div, 0} }

// Units of the families. Factors: design of normalisation, exact by definition
// except the molar mass of glucose.
var (
	inCount   = units{"count": one, "": one}
	inUnits   = units{"IU": one, "U": one}
	inBeats   = units{"count/min": one, "bpm": one, "count/s": times(60)}
	inBreaths = units{"count/min": one, "count/s": times(60)}
	inMillis  = units{"ms": one, "s": times(1000)}
	inPercent = units{"%": times(100)} // the export writes 0.97 for 97 %
	inMetres  = units{
		"m": one, "km": times(1000), "cm": over(100), "mi": times(1609.344),
		"yd": times(0.9144), "ft": times(0.3048), "in": times(0.0254),
	}
	inCentimetres = units{
		"cm": one, "m": times(100), "mm": over(10), "km": times(100000),
		"in": times(2.54), "ft": times(30.48), "yd": times(91.44),
	}
	inKilocalories = units{"kcal": one, "Cal": one, "kJ": over(4.184), "J": over(4184), "cal": over(1000)}
	inKilograms    = units{
		"kg": one, "g": over(1000), "lb": times(0.45359237),
		"st": times(6.35029318), "oz": times(0.028349523125),
	}
	inGrams      = units{"g": one, "mg": over(1000), "mcg": over(1e6), "kg": times(1000), "oz": times(28.349523125)}
	inMilligrams = units{"mg": one, "g": times(1000), "mcg": over(1000)}
	inMicrograms = units{"mcg": one, "mg": times(1000), "g": times(1e6)}
	// Apple writes mmol with the molar mass it used: mmol<180.1558800000541>/L.
	inMillimoles  = units{"mmol/L": one, "mg/dL": over(18.0182), "mg/L": over(180.182), "g/L": scale{1000, 180.182, 0}}
	inMercury     = units{"mmHg": one, "kPa": scale{760, 101.325, 0}, "cmAq": times(0.735559240069)}
	inCelsius     = units{"degC": one, "degF": scale{1, 1.8, -32 / 1.8}, "K": scale{1, 1, -273.15}}
	inMillilitres = units{
		"mL": one, "ml": one, "L": times(1000), "l": times(1000), "cL": times(10), "dL": times(100),
		"fl_oz_us": times(29.5735295625), "fl_oz_imp": times(28.4130625),
		"cup_us": times(236.5882365), "cup_imp": times(284.130625), "pt_us": times(473.176473),
	}
	inLitres    = units{"L": one, "l": one, "mL": over(1000), "ml": over(1000)}
	inLitresMin = units{"L/min": one, "L/s": times(60), "mL/min": over(1000)}
	inMinutes   = units{"min": one, "s": over(60), "hr": times(60), "h": times(60)}
	inVO2       = units{"mL/min·kg": one, "mL/kg·min": one, "mL/(kg*min)": one, "ml/(kg*min)": one}
	inWatts     = units{"W": one, "kW": times(1000)}
)

// unitName strips what varies in the spelling of one unit.
func unitName(raw []byte) string {
	name := strings.TrimSpace(xmlscan.Unescape(raw))
	if open := strings.IndexByte(name, '<'); open >= 0 {
		if end := strings.IndexByte(name[open:], '>'); end >= 0 {
			name = name[:open] + name[open+end+1:]
		}
	}
	return name
}
