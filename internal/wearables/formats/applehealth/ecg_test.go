package applehealth

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
)

// ecgHead is the head of an electrocardiogram as the phone writes it.
const ecgHead = `Name,"Mira Example"
Date of Birth,"17 May 1984"
Recorded Date,2024-03-14 09:15:00 +0100
Classification,Sinus Rhythm
Symptoms,
Software Version,1.90
Device,"Watch6,7"
Sample Rate,512 hertz


Lead,Lead I
Unit,µV

`

func TestReadRecording(t *testing.T) {
	r, ok, err := readRecording(strings.NewReader(ecgHead + "-48.673\n59.5\n0\n"))
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if want := time.Date(2024, 3, 14, 8, 15, 0, 0, time.UTC).UnixMicro(); r.start != want || r.offset != 3600 {
		t.Errorf("start %d at %d, want %d", r.start, r.offset, want)
	}
	if r.rate != 512 || r.classification != "sinus_rhythm" || r.version != "1.90" || r.model != "Watch6,7" || r.lead != "lead_1" || r.meanBPM != nil {
		t.Errorf("%+v", r)
	}
	if len(r.millivolts) != 3 || math.Abs(r.millivolts[0]+0.048673) > 1e-12 || r.end()-r.start != 5859 {
		t.Errorf("%v until %d µs", r.millivolts, r.end()-r.start)
	}
}

// Labels and decimal commas are those of the phone's language.
func TestReadRecordingInOtherLanguages(t *testing.T) {
	german := "Name,Mira Example\nGeburtsdatum,17.05.1984\nAufzeichnungsdatum,2024-03-14 09:15:00 +0100\nKlassifizierung,Sinusrhythmus\n" +
		"Symptome,Herzrasen\nSoftwareversion,2.10\nGerät,\"Watch7,1\"\nAbtastrate,\"511,5 Hertz\"\n\nAbleitung,Ableitung I\nEinheit,μV\n\n-265,868\n12\n"
	r, ok, err := readRecording(strings.NewReader("\ufeff" + strings.ReplaceAll(german, "\n", "\r\n")))
	if err != nil || !ok || r.rate != 511.5 || r.classification != "sinus_rhythm" || r.version != "2.10" || r.model != "Watch7,1" {
		t.Errorf("%+v, %v, %v", r, ok, err)
	}
	if len(r.millivolts) != 2 || math.Abs(r.millivolts[0]+0.265868) > 1e-12 {
		t.Errorf("%v", r.millivolts)
	}
}

func TestClassify(t *testing.T) {
	for word, want := range map[string][2]string{
		"atrial fibrillation": {"atrial_fibrillation", ""}, "vorhofflimmern": {"atrial_fibrillation", ""},
		"rythme sinusal": {"sinus_rhythm", ""}, "inconclusive": {"inconclusive", ""},
		"high heart rate": {"inconclusive", "high_heart_rate"}, "low heart rate": {"inconclusive", "low_heart_rate"},
		"poor recording": {"inconclusive", "poor_reading"}, "窦性心律": {"", ""},
	} {
		if classification, cause := classify(word); classification != want[0] || cause != want[1] {
			t.Errorf("%s is %s, %s", word, classification, cause)
		}
	}
}

func TestReadRecordingRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"empty":       "",
		"no voltages": ecgHead,
		"no date":     strings.Replace(ecgHead, "2024-03-14 09:15:00 +0100", "yesterday", 1) + "1\n",
		"no rate":     strings.Replace(ecgHead, "512 hertz", "", 1) + "1\n",
		"no unit":     strings.Replace(ecgHead, "µV", "furlongs", 1) + "1\n",
		"a long line": ecgHead + strings.Repeat("x", 1<<20),
	} {
		if r, ok, err := readRecording(strings.NewReader(text)); ok || err != nil {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

func TestImportRecordings(t *testing.T) {
	name := saveFile(t, zipMembers(t, "apple_health_export/export.xml", smallExport,
		"apple_health_export/electrocardiograms/ecg_2024-03-14.csv", ecgHead+strings.Repeat("100\n-250.5\n", 512),
		"apple_health_export/electrocardiograms/ecg_2024-03-15.csv", ecgHead,
		"apple_health_export/other.csv", "a,b\n1,2\n"))
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		sink, user := createUser(t, db)
		o := importFile(t, files.Input{DB: db, Sink: sink, User: user, Path: name}, wearables.Historical)
		if c := o.Types["Electrocardiogram"]; c == nil || c.Read != 2 || c.Mapped != 1 || c.BadValue != 1 || o.Records != 2 || o.Mapped != 1 {
			t.Errorf("%+v of %d", c, o.Records)
		}
		if got := o.Resources["electrocardiogram_voltage"]; got.Created != 1024 || o.Rejected != 0 {
			t.Errorf("voltages %+v, %v", got, o.Rejections)
		}
		all := filestest.Summaries(t, db, user, "electrocardiogram")
		if len(all) != 1 {
			t.Fatalf("%d recordings", len(all))
		}
		for field, want := range map[string]any{
			"session_start": "2024-03-14T08:15:00+00:00", "session_end": "2024-03-14T08:15:02+00:00", "voltage_sample_count": 1024.0,
			"sampling_frequency_hz": 512.0, "classification": "sinus_rhythm", "inconclusive_cause": nil, "heart_rate_mean": nil,
			"algorithm_version": "1.90", "source_device_model": "Watch6,7", "source_type": "watch", "source_provider": Provider,
		} {
			if all[0][field] != want {
				t.Errorf("%s = %v, want %v", field, all[0][field], want)
			}
		}
		again := importFile(t, files.Input{DB: db, Sink: sink, User: user, Path: name}, wearables.Daily)
		if again.Created+again.Updated != 0 {
			t.Errorf("a second import created %d and updated %d", again.Created, again.Updated)
		}
	})
}

func FuzzRecording(f *testing.F) {
	f.Add([]byte(ecgHead + "-48.673\n59,5\n"))
	f.Add([]byte("Recorded Date,2024-03-14 09:15:00 +0100\nSample Rate,512 Hz\nAverage Heart Rate,64 BPM\nUnit,mV\n0.1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, ok, err := readRecording(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return
		}
		s := r.samples()
		if s.Len() == 0 || s.Len() > maxVoltages || len(s.Value) != s.Len() || len(s.Offset) != s.Len() {
			t.Fatalf("%d times, %d values", s.Len(), len(s.Value))
		}
		for i, v := range s.Value {
			if math.IsNaN(v) || math.IsInf(v, 0) || i > 0 && s.Time[i] <= s.Time[i-1] {
				t.Fatalf("voltage %d is %v at %d", i, v, s.Time[i])
			}
		}
		if _, err := r.summary(); err != nil {
			t.Fatal(err)
		}
	})
}
