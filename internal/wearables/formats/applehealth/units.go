package applehealth

import (
	"strings"

	"hale/internal/wearables/formats/xmlscan"
	"hale/internal/wearables/units"
)

// spellings are the units in which a quantity comes. A unit that is not listed
// makes the record rejected: a wrong number is worse than none.
type spellings map[string]units.Scale

var unitOne = units.Same

// Units of the families.
var (
	inCount   = spellings{"count": unitOne, "": unitOne}
	inUnits   = spellings{"IU": unitOne, "U": unitOne}
	inBeats   = spellings{"count/min": unitOne, "bpm": unitOne, "count/s": units.Times(60)}
	inBreaths = spellings{"count/min": unitOne, "count/s": units.Times(60)}
	inMillis  = spellings{"ms": unitOne, "s": units.Times(1000)}
	inPercent = spellings{"%": units.Times(100)} // the export writes 0.97 for 97 %
	inMetres  = spellings{
		"m": unitOne, "km": units.Times(1000), "cm": units.Over(100), "mi": units.Mile,
		"yd": units.Yard, "ft": units.Foot, "in": units.Inch,
	}
	inCentimetres = spellings{
		"cm": unitOne, "m": units.Times(100), "mm": units.Over(10), "km": units.Times(100000),
		"in": units.Times(2.54), "ft": units.Times(30.48), "yd": units.Times(91.44),
	}
	inKilocalories = spellings{"kcal": unitOne, "Cal": unitOne, "kJ": units.Kilojoule, "J": units.Joule, "cal": units.Over(1000)}
	inKilograms    = spellings{
		"kg": unitOne, "g": units.Over(1000), "lb": units.Pound,
		"st": units.Stone, "oz": units.Ounce,
	}
	inGrams      = spellings{"g": unitOne, "mg": units.Over(1000), "mcg": units.Over(1e6), "kg": units.Times(1000), "oz": units.Times(28.349523125)}
	inMilligrams = spellings{"mg": unitOne, "g": units.Times(1000), "mcg": units.Over(1000)}
	inMicrograms = spellings{"mcg": unitOne, "mg": units.Times(1000), "g": units.Times(1e6)}
	// Apple writes mmol with the molar mass it used: mmol<180.1558800000541>/L.
	inMillimoles  = spellings{"mmol/L": unitOne, "mg/dL": units.Glucose, "mg/L": units.Over(180.182), "g/L": units.Ratio(1000, 180.182)}
	inMercury     = spellings{"mmHg": unitOne, "kPa": units.Kilopascal, "cmAq": units.CentimetreWater}
	inCelsius     = spellings{"degC": unitOne, "degF": units.Fahrenheit, "K": units.Kelvin}
	inMillilitres = spellings{
		"mL": unitOne, "ml": unitOne, "L": units.Times(1000), "l": units.Times(1000), "cL": units.Times(10), "dL": units.Times(100),
		"fl_oz_us": units.FluidOunceUS, "fl_oz_imp": units.FluidOunceImperial,
		"cup_us": units.CupUS, "cup_imp": units.CupImperial, "pt_us": units.PintUS,
	}
	inLitres    = spellings{"L": unitOne, "l": unitOne, "mL": units.Over(1000), "ml": units.Over(1000)}
	inLitresMin = spellings{"L/min": unitOne, "L/s": units.Times(60), "mL/min": units.Over(1000)}
	inMinutes   = spellings{"min": unitOne, "s": units.Over(60), "hr": units.Times(60), "h": units.Times(60)}
	inVO2       = spellings{"mL/min·kg": unitOne, "mL/kg·min": unitOne, "mL/(kg*min)": unitOne, "ml/(kg*min)": unitOne}
	inWatts     = spellings{"W": unitOne, "kW": units.Times(1000)}
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
