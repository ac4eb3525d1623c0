package whoopexport

import (
	"strings"
	"time"

	"hale/internal/wearables"
	"hale/internal/wearables/formats/sheet"
)

// table is one type of CSV file.
type table struct {
	name    string // in reports
	columns []string
	take    func(r *reader, row row) verdict // nil without a resource
}

// tables are recognized by columns. All files of a table have these columns, and no other
// table has all of them. Names are in English or Spanish. A sleep has no column of its
// own but Nap. The order is the order of reading: a cycle's values about its sleep need a
// known sleep.
var tables = []table{
	{name: "sleeps", columns: []string{"Sleep onset", "Wake onset", "Nap"}, take: (*reader).sleep},
	{name: "physiological_cycles", columns: []string{"Cycle start time", "Recovery score %", "Day Strain"}, take: (*reader).cycle},
	{name: "workouts", columns: []string{"Workout start time", "Workout end time", "Activity name"}, take: (*reader).workout},
	{name: "journal_entries", columns: []string{"Cycle start time", "Question text"}},
}

// spanish maps names of columns to the names in the export of a Spanish account.
var spanish = map[string]string{
	"Cycle start time": "Hora de inicio del ciclo", "Cycle end time": "Hora de finalización del ciclo", "Cycle timezone": "Zona horaria del ciclo",
	"Recovery score %": "Puntuación de recuperación (%)", "Resting heart rate (bpm)": "Frecuencia cardíaca en reposo (lpm)",
	"Heart rate variability (ms)": "Variabilidad de la frecuencia cardíaca (ms)", "Skin temp (celsius)": "Temp. cutánea (grados centígrados)",
	"Blood oxygen %": "Oxígeno en sangre %", "Day Strain": "Esfuerzo del día", "Energy burned (cal)": "Energía quemada (cal)",
	"Max HR (bpm)": "FC máx. (lpm)", "Average HR (bpm)": "FC promedio (lpm)", "Sleep onset": "Inicio del sueño", "Wake onset": "Inicio de la vigilia",
	"Sleep performance %": "Calificación del sueño (%)", "Respiratory rate (rpm)": "Frecuencia respiratoria (rpm)",
	"Asleep duration (min)": "Duración del sueño (min)", "Light sleep duration (min)": "Duración de sueño ligero (min)",
	"Deep (SWS) duration (min)": "Duración de sueño profundo (SWS) (min)", "REM duration (min)": "Duración de sueño REM (min)",
	"Awake duration (min)": "Tempo despierto/a (min)", "Sleep efficiency %": "Eficiencia del sueño %", "Nap": "Siesta",
	"Workout start time": "Hora de inicio del entrenamiento", "Workout end time": "Hora de finalización del entrenamiento",
	"Activity name": "Nombre de la actividad", "HR Zone 1 %": "Zona FC 1%", "HR Zone 2 %": "Zona FC 2%", "HR Zone 3 %": "Zona FC 3%",
	"HR Zone 4 %": "Zona FC 4%", "HR Zone 5 %": "Zona FC 5%", "Question text": "Texto de la pregunta",
	"Activity Strain": "Esfuerzo de actividad",
}

// column returns the position of a column by its English name, or -1.
func column(h sheet.Header, name string) int {
	if also := spanish[name]; also != "" {
		return h.Column(name, also)
	}
	return h.Column(name)
}

// tableOf recognizes a table by its header. It returns nil for another table.
func tableOf(h sheet.Header) *table {
	for i := range tables {
		t, all := &tables[i], true
		for _, name := range t.columns {
			all = all && column(h, name) >= 0
		}
		if all {
			return t
		}
	}
	return nil
}

// row is one line of a table.
type row struct {
	header sheet.Header
	cells  []string
	wall   *sheet.Wall // for rows that do not state their zone
}

func (r row) text(name string) string { return sheet.Cell(r.cells, column(r.header, name)) }

// amount returns a number that is not below zero, or nil.
func (r row) amount(name string) *float64 {
	v, ok := sheet.Number(r.text(name))
	if !ok || v < 0 || v > 1e6 {
		return nil
	}
	return &v
}

// positive returns an amount, or nil for zero, which means that nothing was measured.
func (r row) positive(name string) *float64 {
	v := r.amount(name)
	if v == nil || *v == 0 {
		return nil
	}
	return v
}

// seconds converts an amount in minutes to seconds, or returns nil.
func (r row) seconds(name string) *int64 {
	v := r.amount(name)
	if v == nil {
		return nil
	}
	n := int64(*v*60 + 0.5)
	return &n
}

// moment returns an instant and the offset of the row's zone. Without a zone it uses the
// user's fallback zone. Without that too, the time floats.
func (r row) moment(name string) (at time.Time, offset int32, ok bool) {
	shown, err := time.Parse("2006-01-02 15:04:05", r.text(name))
	if err != nil || shown.Year() < 2000 || shown.Year() >= 2100 {
		return shown, wearables.NoOffset, false
	}
	if seconds, ok := zone(r.text("Cycle timezone")); ok {
		return shown.Add(-time.Duration(seconds) * time.Second), seconds, true
	}
	micros, offset := r.wall.Instant(shown)
	return time.UnixMicro(micros).UTC(), offset, true
}

// zone returns the offset of UTC+01:00, UTCZ or -05:00, in seconds east of UTC.
func zone(s string) (int32, bool) {
	s = strings.TrimPrefix(s, "UTC")
	if s == "Z" {
		return 0, true
	}
	at, err := time.Parse("-07:00", s)
	if err != nil {
		return 0, false
	}
	_, seconds := at.Zone()
	return int32(seconds), seconds >= -14*3600 && seconds <= 14*3600
}
