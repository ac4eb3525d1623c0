package applehealth

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/xmlscan"
)

// An electrocardiogram is a CSV file beside the document. It starts with about
// ten lines of "label,value", with the labels in the phone's language. Each
// further line has one voltage. The reader skips the person's name and birth
// date at the top.
//
//	Recorded Date,2024-03-14 09:15:00 +0100
//	Classification,Sinus Rhythm
//	Symptoms,
//	Software Version,1.90
//	Device,"Watch6,7"
//	Sample Rate,512 hertz
//
//	Lead,Lead I
//	Unit,µV
//
//	-48.673

// Bounds of a recording, which lasts half a minute at 512 samples a second.
const (
	maxVoltages      = 1 << 17
	maxRecordingSize = 8 << 20
	maxRecordings    = 20_000
)

// recording is one electrocardiogram.
type recording struct {
	start          int64 // UTC microseconds
	offset         int32 // seconds east of UTC
	rate           float64
	millivolts     []float64
	classification string
	cause          string
	version, model string
	meanBPM        *float64
	lead           string
}

// readRecording reads the file of an electrocardiogram. ok is false for a file
// of another kind and for one without voltages.
func readRecording(in io.Reader) (r recording, ok bool, err error) {
	r.lead = "lead_1"
	perMillivolt := 0.0
	dated, lines := false, bufio.NewScanner(io.LimitReader(in, maxRecordingSize))
	for lines.Scan() {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		label, value, isHeader := headerOf(line)
		switch {
		case line == "" || len(r.millivolts) >= maxVoltages:
		case !isHeader:
			if v, number := decimal(line); number && perMillivolt > 0 {
				r.millivolts = append(r.millivolts, v/perMillivolt)
			}
		case len(r.millivolts) > 0: // headers come first
		case !dated:
			r.start, r.offset, dated = parseMoment([]byte(value))
		default:
			if scale := perUnit[value]; scale > 0 {
				perMillivolt = scale
			}
			r.take(label, value)
		}
	}
	if err := lines.Err(); err != nil && !errors.Is(err, bufio.ErrTooLong) {
		return r, false, err
	}
	return r, dated && r.start >= earliestInstant && r.start <= latestInstant && r.rate > 0 && len(r.millivolts) > 0, nil
}

// perUnit maps units to their number per millivolt. The micro sign has two spellings.
var perUnit = map[string]float64{"\u00b5V": 1000, "\u03bcV": 1000, "uV": 1000, "mV": 1}

// headerOf splits a line of the head into label and value. ok is false for any
// other line, also for a voltage with a decimal comma.
func headerOf(line string) (label, value string, ok bool) {
	label, value, ok = strings.Cut(line, ",")
	if _, number := decimal(label); !ok || number {
		return "", "", false
	}
	return strings.ToLower(strings.TrimSpace(label)), strings.Trim(strings.TrimSpace(value), `"`), true
}

// decimal reads a number with a decimal point or comma.
func decimal(text string) (float64, bool) {
	return xmlscan.Number([]byte(strings.Replace(text, ",", ".", 1)))
}

// take recognizes a value of the head by its form, because the labels may be in any
// language. It ignores unknown values.
func (r *recording) take(label, value string) {
	first, unit, _ := strings.Cut(value, " ")
	n, number := decimal(first)
	switch folded := strings.ToLower(value); {
	case strings.HasPrefix(value, "Watch"):
		r.model = clip(value)
	case number && unit == "":
		if r.version == "" && r.rate == 0 {
			r.version = clip(value)
		}
	case number && (strings.HasPrefix(strings.ToLower(unit), "bpm") || strings.Contains(label, "heart rate")):
		r.meanBPM = &n
	case number && n >= 50 && n <= 10_000:
		r.rate = n
	case strings.HasSuffix(value, " II"):
		r.lead = "lead_2"
	case strings.HasSuffix(value, " III"):
		r.lead = "lead_3"
	case r.classification == "":
		r.classification, r.cause = classify(folded)
	}
}

// classify reads the watch's verdict. The words for the two rhythms are alike
// in languages of Latin script. An unknown verdict, such as one in another
// language, gives an empty classification, because a guess may be wrong.
func classify(folded string) (classification, cause string) {
	switch {
	case strings.Contains(folded, "fibril"), strings.Contains(folded, "flimmer"):
		return "atrial_fibrillation", ""
	case strings.Contains(folded, "sinus"):
		return "sinus_rhythm", ""
	case folded == "high heart rate":
		return "inconclusive", "high_heart_rate"
	case folded == "low heart rate":
		return "inconclusive", "low_heart_rate"
	case folded == "poor recording", folded == "poor reading":
		return "inconclusive", "poor_reading"
	case strings.HasPrefix(folded, "inconclus"):
		return "inconclusive", ""
	}
	return "", ""
}

// end returns the end of the last voltage, in UTC microseconds.
func (r *recording) end() int64 { return r.at(len(r.millivolts)) }

func (r *recording) at(i int) int64 { return r.start + int64(math.Round(float64(i)*1e6/r.rate)) }

var watch = wearables.Source{Provider: Provider, Type: "watch"}

// samples returns the voltages, in millivolts.
func (r *recording) samples() wearables.Samples {
	s := wearables.Samples{Resource: "electrocardiogram_voltage", Type: r.lead, Source: watch, Value: r.millivolts}
	for i := range r.millivolts {
		s.Time, s.Offset = append(s.Time, r.at(i)), append(s.Offset, r.offset)
	}
	return s
}

// summary describes the whole recording.
func (r *recording) summary() (wearables.Summary, error) {
	start := time.UnixMicro(r.start).UTC()
	body := map[string]any{
		"voltage_sample_count": len(r.millivolts), "sampling_frequency_hz": r.rate,
	}
	for name, text := range map[string]string{
		"classification": r.classification, "inconclusive_cause": r.cause,
		"algorithm_version": r.version, "source_device_model": r.model,
	} {
		if text != "" {
			body[name] = text
		}
	}
	if r.meanBPM != nil {
		body["heart_rate_mean"] = int64(math.Round(*r.meanBPM))
	}
	raw, err := json.Marshal(body)
	return wearables.Summary{
		Resource: "electrocardiogram", Key: start.Format(time.RFC3339Nano) + "|" + watch.Type + "|", Source: watch,
		Date:  civil.DateOf(start.Add(time.Duration(r.offset) * time.Second)),
		Start: start, End: time.UnixMicro(r.end()).UTC(), Body: raw,
	}, err
}

// recordings stores the electrocardiograms of a zip, one at a time. A file in another
// format is counted and does not affect the rest.
func (im *importer) recordings(ctx context.Context) error {
	if len(im.export.recordings) == 0 {
		return nil
	}
	count := im.outcome.Type("Electrocardiogram")
	for _, f := range im.export.recordings {
		count.Read++
		im.outcome.Records++
		r, ok := im.export.recording(f)
		if !ok {
			count.BadValue++
			im.outcome.Left(count)
			continue
		}
		summary, err := r.summary()
		if err != nil {
			return err
		}
		if err := im.store.Summaries(ctx, []wearables.Summary{summary}); err != nil {
			return err
		}
		if err := im.store.Samples(ctx, []wearables.Samples{r.samples()}); err != nil {
			return err
		}
		count.Mapped++
		im.outcome.Mapped++
	}
	return ctx.Err()
}

// isRecordingName reports whether a file may be an electrocardiogram, by the names that the
// phone gives to the folder and the files.
func isRecordingName(name string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, "electrocardiogram") || strings.HasPrefix(name[strings.LastIndexByte(name, '/')+1:], "ecg_")
}
