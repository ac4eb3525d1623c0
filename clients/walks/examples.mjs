// The examples of docs/client-libraries.md, run unchanged.
import assert from 'node:assert/strict'
import { readFile, rm, writeFile } from 'node:fs/promises'

const page = new URL('../../docs/client-libraries.md', import.meta.url)

export default async function examples({ name }) {
  const text = await readFile(page, 'utf8')
  const all = [...text.matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code)
  assert.ok(all.length >= 3)
  const ofLibrary = name === 'junction' ? '@junction-api/sdk' : '@tryvital/vital-node'
  for (const code of all.filter((one) => one.includes(ofLibrary))) assert.notEqual(await said(code), '', code)
}

// said runs a program and returns its output.
async function said(code) {
  const file = new URL(`../node_modules/.example-${process.pid}.mjs`, import.meta.url)
  const { log } = console
  const lines = []
  await writeFile(file, code)
  console.log = (...words) => lines.push(...words)
  try {
    await import(`${file}?${Math.random()}`)
  } finally {
    console.log = log
    await rm(file)
  }
  assert.ok(!lines.includes(false), code)
  return lines.join('\n')
}
