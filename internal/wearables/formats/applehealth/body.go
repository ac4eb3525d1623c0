package applehealth

// body maps measurements of the body. Height has no series, but a field of the profile.
var body = []rule{
	{name: quantity + "BodyMass", resource: "body_weight", units: inKilograms},
	{name: quantity + "BodyFatPercentage", resource: "body_fat", units: inPercent},
	{name: quantity + "BodyMassIndex", shape: span, resource: "body_mass_index", units: inCount},
	{name: quantity + "LeanBodyMass", shape: span, resource: "lean_body_mass", units: inKilograms},
	{name: quantity + "WaistCircumference", shape: span, resource: "waist_circumference", units: inCentimetres},
	{name: quantity + "Height", shape: height, units: inCentimetres},
}
