package query

// nutrients are the columns of a meal, in the units of their names. Two are
// stored in another unit.
//
// Reference 7.5, meal.
var nutrients = []Column{
	number("calories", "energy.value"),
	number("carbohydrate_gram", "macros.carbs"),
	number("protein_gram", "macros.protein"),
	number("alcohol_gram", "macros.alcohol"),
	number("water_gram", "macros.water"),
	number("fibre_gram", "macros.fibre"),
	number("sugar_gram", "macros.sugar"),
	number("cholesterol_gram", "macros.cholesterol"),
	number("saturated_fat_gram", "macros.fats.saturated"),
	number("monounsaturated_fat_gram", "macros.fats.monounsaturated"),
	number("polyunsaturated_fat_gram", "macros.fats.polyunsaturated"),
	number("omega3_fat_gram", "macros.fats.omega3"),
	number("omega6_fat_gram", "macros.fats.omega6"),
	number("total_fat_gram", "macros.fats.total"),

	number("sodium_milligram", "micros.minerals.sodium"),
	number("potassium_milligram", "micros.minerals.potassium"),
	number("calcium_milligram", "micros.minerals.calcium"),
	number("phosphorus_milligram", "micros.minerals.phosphorus"),
	number("magnesium_milligram", "micros.minerals.magnesium"),
	number("iron_milligram", "micros.minerals.iron"),
	number("zinc_milligram", "micros.minerals.zinc"),
	number("fluoride_milligram", "micros.minerals.fluoride"),
	number("chloride_milligram", "micros.minerals.chloride"),

	{Name: "vitamin_a_milligram", Kind: Number, From: "micros.vitamins.vitamin_a", Scale: 0.001}, // stored in µg
	number("vitamin_b1_milligram", "micros.vitamins.vitamin_b1"),
	number("riboflavin_milligram", "micros.vitamins.riboflavin"),
	number("niacin_milligram", "micros.vitamins.niacin"),
	number("pantothenic_acid_milligram", "micros.vitamins.pantothenic_acid"),
	number("vitamin_b6_milligram", "micros.vitamins.vitamin_b6"),
	number("biotin_microgram", "micros.vitamins.biotin"),
	number("vitamin_b12_microgram", "micros.vitamins.vitamin_b12"),
	number("vitamin_c_milligram", "micros.vitamins.vitamin_c"),
	number("vitamin_d_microgram", "micros.vitamins.vitamin_d"),
	number("vitamin_e_milligram", "micros.vitamins.vitamin_e"),
	number("vitamin_k_microgram", "micros.vitamins.vitamin_k"),
	number("folic_acid_microgram", "micros.vitamins.folic_acid"),

	number("chromium_microgram", "micros.trace_elements.chromium"),
	number("copper_milligram", "micros.trace_elements.copper"),
	{Name: "copper_microgram", Kind: Number, From: "micros.trace_elements.copper", Scale: 1000}, // stored in mg
	number("iodine_microgram", "micros.trace_elements.iodine"),
	number("manganese_milligram", "micros.trace_elements.manganese"),
	number("molybdenum_microgram", "micros.trace_elements.molybdenum"),
	number("selenium_microgram", "micros.trace_elements.selenium"),
}
