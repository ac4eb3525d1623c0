package derive

import "hale/internal/wearables"

func source(kind string) wearables.Source {
	return wearables.Source{Provider: "apple_health_kit", Type: kind, AppID: kind}
}
