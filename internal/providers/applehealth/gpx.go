package applehealth

import (
	"bytes"
	"errors"
	"io"
	"math"
	"time"

	"hale/internal/wearables/derive"
)

// maxPoints bounds one route: more than two days at one place a second.
const maxPoints = 200_000

// readGPX reads the places of a route as the Health app writes it: GPX 1.1,
// times in UTC. What was read before a cut or damage counts. Places without a
// believable position or time are left out.
func readGPX(in io.Reader) ([]derive.Point, error) {
	var points []derive.Point
	s := newScanner(in, routeWindow)
	var p derive.Point
	inPoint, timed := false, false
	for {
		tag, err := s.Next()
		switch {
		case err == nil && len(points) < maxPoints:
		case err == nil, errors.Is(err, io.EOF), isCut(err):
			return points, nil
		default:
			return nil, err
		}
		switch name := string(tag.Name); name {
		case "trkpt":
			if tag.Kind != Opening {
				if inPoint && timed {
					points = append(points, p)
				}
				inPoint = false
				continue
			}
			p, inPoint = placeOf(tag)
			timed = false
		case "ele", "time", "speed":
			if !inPoint || tag.Kind != Opening {
				continue
			}
			text := bytes.TrimSpace(s.text()) // from here on the tag is gone
			switch name {
			case "time":
				if at, err := time.Parse(time.RFC3339, string(text)); err == nil {
					p.Time, timed = at.UnixMicro(), true
				}
			case "ele":
				p.Altitude = numberOrNaN(text, -math.MaxFloat64)
			case "speed":
				p.Speed = numberOrNaN(text, 0)
			}
		}
	}
}

func placeOf(tag *Tag) (derive.Point, bool) {
	p := derive.Point{Lat: math.NaN(), Lng: math.NaN(), Altitude: math.NaN(), Speed: math.NaN()}
	for _, a := range tag.Attrs {
		switch string(a.Name) {
		case "lat":
			p.Lat = numberOrNaN(a.Value, -90)
		case "lon":
			p.Lng = numberOrNaN(a.Value, -180)
		}
	}
	return p, math.Abs(p.Lat) <= 90 && math.Abs(p.Lng) <= 180
}

// numberOrNaN reads a number that is at least the given one.
func numberOrNaN(raw []byte, least float64) float64 {
	if v, ok := parseNumber(raw); ok && v >= least {
		return v
	}
	return math.NaN()
}

// text is what stands between the last tag and the next one, if the window
// holds all of it. It is valid until the next call of Next.
func (s *Scanner) text() []byte {
	for {
		if i := bytes.IndexByte(s.buf[s.pos:s.end], '<'); i >= 0 {
			return s.buf[s.pos : s.pos+i]
		}
		if s.end-s.pos > maxTag || s.fill() != nil {
			return nil
		}
	}
}
