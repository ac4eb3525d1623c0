package applehealth

// nutrition has the three nutrients that are series of their own. The other
// dietary types belong to meals, which an export tells only in part: they are
// counted and not kept.
var nutrition = []rule{
	{name: quantity + "DietaryWater", shape: span, resource: "water", units: inMillilitres},
	{name: quantity + "DietaryCaffeine", shape: span, resource: "caffeine", units: inGrams},
	{name: quantity + "DietaryCarbohydrates", shape: span, resource: "carbohydrates", units: inGrams},
}
