// Validates bundles of FHIR R4, one JSON text per line of the standard input. The library
// fhir has the structures and value sets of the standard. The program prints the problems
// of each bundle as a JSON list in a line.
import fhir from 'fhir';
import { createInterface } from 'node:readline';

const validator = new fhir.Fhir();
for await (const line of createInterface({ input: process.stdin })) {
	const bundle = JSON.parse(line);
	const found = [];
	for (const resource of [bundle, ...(bundle.entry ?? []).map((e) => e.resource)]) {
		const { messages } = validator.validate(resource, { errorOnUnexpected: true });
		for (const m of messages ?? []) {
			if (m.severity === 'error' || m.severity === 'fatal') found.push(`${resource.resourceType}: ${m.location}: ${m.message}`);
		}
	}
	console.log(JSON.stringify([...new Set(found)]));
}
