package places

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
)

// WriteSites writes sites as the CSV that ReadSites reads.
func WriteSites(w io.Writer, sites []Site) error {
	out := csv.NewWriter(w)
	if err := out.Write(siteFields); err != nil {
		return err
	}
	for _, s := range sites {
		err := out.Write([]string{
			s.Lab, s.Code, s.Name, s.FirstLine, s.SecondLine, s.City, s.State, s.ZIP, decimal(s.Lat), decimal(s.Lng),
			s.Phone, s.Fax, s.Website, s.TimeZone, strings.Join(s.Capabilities.Names(), ";"), hoursText(s.Hours),
			strconv.FormatBool(s.Active), dateText(s.ValidFrom), dateText(s.ValidTo),
		})
		if err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
