package documents

import "hale/internal/labs/catalogue"

// beforeOf and afterOf say what to do by the method of collection.
var (
	beforeOf = map[catalogue.Method][]string{
		catalogue.TestKit: {
			"Check that the box is whole, that everything on its list is in it, and that it has not expired.",
			"Read all steps before you begin. Plan to send the sample on the day on which you collect it, Monday to Thursday.",
			"Write your full name, date of birth, and the date and time of collection on the label, with a pen that does not smear.",
			"Wash your hands with warm water and soap, and dry them.",
		},
		catalogue.WalkIn: {
			"Bring the requisition, on paper or on your phone, and an identification with your photograph.",
			"Drink plenty of water the day before and in the morning, unless you were told not to.",
			"Wear sleeves that roll up above the elbow.",
			"Tell the staff when you take blood thinners, faint easily, or are allergic to latex or adhesive tape.",
		},
		catalogue.AtHome: {
			"Have an identification with your photograph ready, and a chair and a table in good light.",
			"Drink plenty of water the day before and in the morning, unless you were told not to.",
			"Keep pets in another room during the visit.",
			"Tell the phlebotomist when you take blood thinners, faint easily, or are allergic to latex or adhesive tape.",
		},
		catalogue.OnSite: {
			"For the person who collects: ask the patient for full name and date of birth, and compare both with the requisition.",
			"Check tubes and containers: the kind that the lab asks for, and not expired.",
			"Print the labels, and have them at hand before you begin.",
		},
	}
	afterOf = map[catalogue.Method][]string{
		catalogue.TestKit: {
			"Put the sample into the bag with the absorbent pad, close it, and put the bag into the box.",
			"Stick the return label that came with the kit on the box. Do not use another one.",
			"Hand it to the carrier today. Do not leave it in a car, in the sun or in a mailbox over night.",
		},
		catalogue.WalkIn: {
			"Press on the place for five minutes, and keep the bandage on for an hour.",
			"Do not lift anything heavy with that arm for the rest of the day.",
		},
		catalogue.AtHome: {
			"Press on the place for five minutes, and keep the bandage on for an hour.",
			"Before the phlebotomist leaves, read the labels: your name and date of birth must be on each.",
		},
		catalogue.OnSite: {
			"Label each tube in front of the patient: name, date of birth, date and time. Never label before.",
			"Enclose the requisition, keep the temperature that the lab asks for, and hand the samples to its courier.",
			"Report that the sample was drawn, so that the order goes on.",
		},
	}
)

// stepsKey says who collects what.
type stepsKey struct {
	self   bool
	sample catalogue.SampleType
}

// self reports that people collect the sample themselves.
func self(m catalogue.Method) bool { return m == catalogue.TestKit }

// stepsOf are the steps of a collection.
var stepsOf = map[stepsKey][]string{
	{true, catalogue.DriedBloodSpot}: {
		"Warm your hand, and let the arm hang for a minute. Clean the tip of the ring or middle finger with the alcohol pad and let it dry.",
		"Press the lancet firmly on the side of the tip. Wipe the first drop away with the gauze.",
		"Let a large drop fall on each circle of the card. Do not touch the paper, and do not put a second drop on a spot that is there.",
		"Fill every circle. When the blood stops, use the second lancet on another finger.",
		"Let the card dry in the open, lying flat, for at least 30 minutes and away from sun and heat. Close it only when it is dry.",
	},
	{true, catalogue.ArmCollector}: {
		"Choose the upper arm, and rub it with the warm pack for two minutes. Clean it with the alcohol pad and let it dry.",
		"Stick the device on the skin, and press the button until it clicks.",
		"Stay seated with the arm hanging. It takes three to five minutes until the tube is filled up to the mark.",
		"Take the device off, cover the place, pull the tube out and close it with its cap until it clicks.",
		"Turn the tube over gently ten times. Do not shake it.",
	},
	{true, catalogue.Serum}: {
		"Warm your hand, and clean the tip of the ring or middle finger with the alcohol pad. Let it dry.",
		"Press the lancet firmly on the side of the tip. Wipe the first drop away with the gauze.",
		"Hold the finger over the tube and let the drops fall in, up to the upper mark. Do not press hard: it spoils the sample.",
		"Close the tube until it clicks, and turn it over gently five times. Let it stand upright for 30 minutes.",
	},
	{true, catalogue.Saliva}: {
		"Do not eat, drink, smoke, chew gum or brush your teeth for 30 minutes before.",
		"Let saliva gather, and spit gently into the funnel until the liquid reaches the mark. Bubbles do not count.",
		"Close the lid firmly, so that the liquid in it runs down. Take the funnel off and put the cap on.",
		"Turn the tube over ten times.",
	},
	{true, catalogue.Urine}: {
		"Use the first urine of the morning unless you were told otherwise. Clean yourself with the wipe.",
		"Begin in the toilet, then hold the cup into the stream, and end in the toilet.",
		"Fill the tube up to the mark, and close it until it clicks. Do not touch the inside of cup or tube.",
	},
	{true, catalogue.Stool}: {
		"Spread the paper over the toilet seat. The sample must touch neither water nor urine.",
		"Take small pieces from several places with the spoon in the cap, and fill the tube up to the mark, not more.",
		"Close it firmly and shake it until the pieces float in the liquid. Flush the paper, and wash your hands.",
	},
	{false, catalogue.Serum}: {
		"Blood is drawn from a vein of the arm, mostly less than four spoonfuls, and it takes five minutes.",
	},
	{false, catalogue.DriedBloodSpot}: {
		"A finger is pricked, and drops of blood are put on a card, which dries for 30 minutes.",
	},
	{false, catalogue.ArmCollector}: {
		"A small device on the upper arm takes a few drops of blood within five minutes.",
	},
	{false, catalogue.Saliva}: {
		"You spit into a tube. Do not eat, drink, smoke or brush your teeth for 30 minutes before.",
	},
	{false, catalogue.Urine}: {
		"You fill a cup in private: begin in the toilet, then hold the cup into the stream. Do not empty your bladder in the hour before.",
	},
	{false, catalogue.Stool}: {
		"You get a container to take home. Collect with the spoon in its cap; neither water nor urine may touch the sample.",
	},
}
