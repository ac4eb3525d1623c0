package applehealth

import (
	"bytes"
	"errors"
	"io"
	"math"
	"time"

	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/xmlscan"
)

// routeWindow is the window for a route, which is a small file.
const routeWindow = 1 << 17

// maxPoints bounds one route: more than two days at one place a second.
const maxPoints = 200_000

// readGPX reads the points of a route as the Health app writes it: GPX 1.1, times in
// UTC. Points before a cut or damage count. Points without a plausible position or time
// are left out.
func readGPX(in io.Reader) ([]derive.Point, error) {
	var points []derive.Point
	s := xmlscan.NewSize(in, routeWindow)
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
			if tag.Kind != xmlscan.Opening {
				if inPoint && timed {
					points = append(points, p)
				}
				inPoint = false
				continue
			}
			p, inPoint = placeOf(tag)
			timed = false
		case "ele", "time", "speed":
			if !inPoint || tag.Kind != xmlscan.Opening {
				continue
			}
			text := bytes.TrimSpace(s.Text()) // the tag is not valid after this
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

func placeOf(tag *xmlscan.Tag) (derive.Point, bool) {
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
	if v, ok := xmlscan.Number(raw); ok && v >= least {
		return v
	}
	return math.NaN()
}
