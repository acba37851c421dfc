import { readdirSync, readFileSync } from 'node:fs'
import { createContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { validate } from 'fhir-ops/validate'
import { expect, test } from 'vitest'
import { releaseOf } from './release.js'

const file = (name: string): Uint8Array => readFileSync(new URL(`../dist/${name}`, import.meta.url))
const json = (name: string): unknown => JSON.parse(new TextDecoder().decode(file(name)))

test('the files that a host has read make the release', async () => {
  const release = releaseOf({
    definitions: file('definitions.pack'),
    types: json('types.json'),
    searchParameters: json('search-parameters.json'),
  })
  const ctx = createContext({ storage: memoryStorage(), ...release })
  const { findings } = await validate(ctx, { resource: { resourceType: 'Patient', gender: 'x' } })
  expect(findings.map(({ expression }) => expression)).toContain('Patient.gender')
})

test('search parameters may be given by a function, which is asked when something searches, once', () => {
  let asked = 0
  const searchParameters = (): unknown => {
    asked++
    return json('search-parameters.json')
  }
  const { search } = releaseOf({ definitions: file('definitions.pack'), types: json('types.json'), searchParameters })
  expect(asked).toBe(0)
  expect(search.parameters.find('Patient', 'birthdate')).toMatchObject({ type: 'date' })
  expect(search.parameters.of('Observation').length).toBeGreaterThan(30)
  expect(asked).toBe(1)
})

test('other files are refused', () => {
  expect(() => releaseOf({ definitions: new Uint8Array(9), types: {}, searchParameters: [] })).toThrow(TypeError)
  expect(() => releaseOf({ definitions: file('definitions.pack'), types: [], searchParameters: [] })).toThrow('types.json')
})

test('nothing of Node is imported, so that the modules can be bundled for browsers and the edge', () => {
  for (const name of readdirSync(new URL('../dist', import.meta.url)).filter((other) => other.endsWith('.js')))
    expect(new TextDecoder().decode(file(name))).not.toMatch(/(from|import)\s*\(?["']node:/)
})
