package healthconnect

import (
	"context"
	"strconv"
	"strings"

	"hale/internal/wearables"
)

// sources holds the apps and devices of an export.
type sources struct {
	packages map[int64]string // by row of the app
	devices  map[int64]string // source type by row of the device; "" if the device states no type
	// order is the person's own order of apps, by category of data.
	order map[int64][]int64
}

// These bound apps and devices, and the order of apps of a category. The reader searches
// the order for each pair of copies. A phone has some dozens of apps.
const (
	maxSources = 10_000
	maxOrder   = 100
)

func (db *database) sources(ctx context.Context) (*sources, error) {
	s := &sources{packages: map[int64]string{}, devices: map[int64]string{}, order: map[int64][]int64{}}
	if db.has("application_info_table", "row_id", "package_name") {
		err := db.query(ctx, `SELECT row_id, package_name FROM application_info_table LIMIT `+strconv.Itoa(maxSources), 2, func(row []any) error {
			if id, ok := integer(row[0]); ok {
				s.packages[id] = packageName(text(row[1]))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if db.has("device_info_table", "row_id", "device_type") {
		err := db.query(ctx, `SELECT row_id, device_type FROM device_info_table LIMIT `+strconv.Itoa(maxSources), 2, func(row []any) error {
			id, ok := integer(row[0])
			kind, _ := integer(row[1])
			if ok {
				s.devices[id] = deviceTypes[kind]
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return s, db.readOrder(ctx, s)
}

// readOrder reads the order of apps that the person chose in the settings.
func (db *database) readOrder(ctx context.Context, s *sources) error {
	const table = "health_data_category_priority_table"
	if !db.has(table, "health_data_category", "app_id_priority_order") {
		return nil
	}
	return db.query(ctx, `SELECT health_data_category, app_id_priority_order FROM `+table+` LIMIT 100`, 2, func(row []any) error {
		category, ok := integer(row[0])
		if !ok {
			return nil
		}
		for part := range strings.SplitSeq(text(row[1]), ",") {
			if app, err := strconv.ParseInt(strings.TrimSpace(part), 10, 64); err == nil && len(s.order[category]) < maxOrder {
				s.order[category] = append(s.order[category], app)
			}
		}
		return nil
	})
}

// deviceTypes maps the platform's numbers to source types. We have no source type for
// glasses and displays. A band is worn like a watch.
var deviceTypes = map[int64]string{1: "watch", 2: "phone", 3: "scale", 4: "ring", 6: "watch", 7: "chest_strap"}

// makers lists apps of one type of device, for the many records that do not name their
// device.
var makers = []struct{ prefix, sourceType string }{
	{"com.renpho", "scale"},
	{"com.qingniu", "scale"},
	{"com.xiaomi.wearable", "watch"},
	{"com.mi.health", "watch"},
	{"com.huami", "watch"},
	{"com.fitbit", "watch"},
	{"com.garmin", "watch"},
	{"com.polar", "watch"},
	{"com.suunto", "watch"},
	{"com.ouraring", "ring"},
	{"com.google.android.apps.fitness", "phone"},
}

// manual marks typed records on the platform; methodAutomatic and methodActive mark those of a
// device.
const (
	methodActive    = 1
	methodAutomatic = 2
	manual          = 3
)

// of returns the source of a record: typed in, by its device, or otherwise by its app.
func (s *sources) of(app, device, method int64) wearables.Source {
	source := wearables.Source{Provider: Provider, Type: "unknown", AppID: s.packages[app]}
	switch kind := s.devices[device]; {
	case method == manual:
		source.Type = "app"
	case kind != "":
		source.Type = kind
	default:
		for _, m := range makers {
			if strings.HasPrefix(source.AppID, m.prefix) {
				source.Type = m.sourceType
			}
		}
	}
	return source
}

// rank returns the position of an app in the person's order for a category. Apps that are
// not in it come last.
func (s *sources) rank(category, app int64) int {
	for i, a := range s.order[category] {
		if a == app {
			return i
		}
	}
	return maxOrder
}

// longestPackage bounds the name of an app, in bytes.
const longestPackage = 200

// packageName returns a name such as com.example.app, or "" if the text has another form.
func packageName(s string) string {
	if len(s) > longestPackage || !strings.Contains(s, ".") {
		return ""
	}
	for part := range strings.SplitSeq(s, ".") {
		if !isName(part) {
			return ""
		}
	}
	return s
}
