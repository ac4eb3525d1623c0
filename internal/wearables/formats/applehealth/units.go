package applehealth

import (
	"strings"

	"hale/internal/wearables/formats/xmlscan"
	"hale/internal/wearables/units"
)

// spellings are the units in which a quantity comes. A unit that is not listed
// makes the record rejected: a wrong number is worse than none.
type spellings map[string]units.Scale

var unitOne = units.Identity

// Units of the families.
var (
	inCount   = spellings{"count": unitOne, "": unitOne}
	inUnits   = spellings{"IU": unitOne, "U": unitOne}
	inBeats   = spellings{"count/min": unitOne, "bpm": unitOne, "count/s": units.Multiply(60)}
	inBreaths = spellings{"count/min": unitOne, "count/s": units.Multiply(60)}
	inMillis  = spellings{"ms": unitOne, "s": units.Multiply(1000)}
	inPercent = spellings{"%": units.Multiply(100)} // the export writes 0.97 for 97 %
	inMetres  = spellings{
		"m": unitOne, "km": units.Multiply(1000), "cm": units.Divide(100), "mi": units.Mile,
		"yd": units.Yard, "ft": units.Foot, "in": units.Inch,
	}
	inCentimetres = spellings{
		"cm": unitOne, "m": units.Multiply(100), "mm": units.Divide(10), "km": units.Multiply(100000),
		"in": units.Multiply(2.54), "ft": units.Multiply(30.48), "yd": units.Multiply(91.44),
	}
	inKilocalories = spellings{"kcal": unitOne, "Cal": unitOne, "kJ": units.Kilojoule, "J": units.Joule, "cal": units.Divide(1000)}
	inKilograms    = spellings{
		"kg": unitOne, "g": units.Divide(1000), "lb": units.Pound,
		"st": units.Stone, "oz": units.Ounce,
	}
	inGrams      = spellings{"g": unitOne, "mg": units.Divide(1000), "mcg": units.Divide(1e6), "kg": units.Multiply(1000), "oz": units.Multiply(28.349523125)}
	inMilligrams = spellings{"mg": unitOne, "g": units.Multiply(1000), "mcg": units.Divide(1000)}
	inMicrograms = spellings{"mcg": unitOne, "mg": units.Multiply(1000), "g": units.Multiply(1e6)}
	// Apple writes mmol with the molar mass it used: mmol<180.1558800000541>/L.
	inMillimoles  = spellings{"mmol/L": unitOne, "mg/dL": units.Glucose, "mg/L": units.Divide(180.182), "g/L": units.Ratio(1000, 180.182)}
	inMercury     = spellings{"mmHg": unitOne, "kPa": units.Kilopascal, "cmAq": units.CentimetreWater}
	inCelsius     = spellings{"degC": unitOne, "degF": units.Fahrenheit, "K": units.Kelvin}
	inMillilitres = spellings{
		"mL": unitOne, "ml": unitOne, "L": units.Multiply(1000), "l": units.Multiply(1000), "cL": units.Multiply(10), "dL": units.Multiply(100),
		"fl_oz_us": units.FluidOunceUS, "fl_oz_imp": units.FluidOunceImperial,
		"cup_us": units.CupUS, "cup_imp": units.CupImperial, "pt_us": units.PintUS,
	}
	inLitres    = spellings{"L": unitOne, "l": unitOne, "mL": units.Divide(1000), "ml": units.Divide(1000)}
	inLitresMin = spellings{"L/min": unitOne, "L/s": units.Multiply(60), "mL/min": units.Divide(1000)}
	inMinutes   = spellings{"min": unitOne, "s": units.Divide(60), "hr": units.Multiply(60), "h": units.Multiply(60)}
	inVO2       = spellings{"mL/min·kg": unitOne, "mL/kg·min": unitOne, "mL/(kg*min)": unitOne, "ml/(kg*min)": unitOne}
	inWatts     = spellings{"W": unitOne, "kW": units.Multiply(1000)}
)

// unitName removes the differences in the spelling of one unit.
func unitName(raw []byte) string {
	name := strings.TrimSpace(xmlscan.Unescape(raw))
	if open := strings.IndexByte(name, '<'); open >= 0 {
		if end := strings.IndexByte(name[open:], '>'); end >= 0 {
			name = name[:open] + name[open+end+1:]
		}
	}
	return name
}
