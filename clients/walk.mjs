// Walks through the whole service with one of the reference's own client libraries. They
// decode strictly and throw if a member is missing or has another type.
//
//	HALE_URL=… HALE_API_KEY=sk_… node walk.mjs junction|vital [WALK …]
//
// Each line of the output is one JSON object: {walk, error} for a walk that ended,
// without an error if it succeeded. The last line is {uncalled}, the methods that no walk
// called with success.
import { readdir } from 'node:fs/promises'
import { inWords, library } from './libraries.mjs'

const [name, ...only] = process.argv.slice(2)
const through = library(name, process.env.HALE_URL, process.env.HALE_API_KEY)

const walks = (await readdir(new URL('walks/', import.meta.url)))
  .filter((file) => file.endsWith('.mjs'))
  .map((file) => file.slice(0, -'.mjs'.length))
  .filter((walk) => only.length === 0 || only.includes(walk))

for (const walk of walks) {
  const { default: run } = await import(`./walks/${walk}.mjs`)
  try {
    await run(through)
    console.log(JSON.stringify({ walk }))
  } catch (error) {
    console.log(JSON.stringify({ walk, error: inWords(error) }))
  }
}
console.log(JSON.stringify({ uncalled: through.uncalled() }))
