import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createContext } from 'fhir-ops/context'
import { isObject, type JsonObject } from 'fhir-ops/internal/json'
import { memoryStorage } from 'fhir-ops/memory'
import { validate } from 'fhir-ops/validate'
import { r4Definitions, r4TypeModel } from '@fhir-ops/r4'
import { languageTags, mediaTypes, registryDefinitions } from '@fhir-ops/registries'
import { CONTENT_DAMAGES } from './content-damages.js'
import { edited, type Damage, type Edit } from './edit.js'
import { sitesOf, type Site } from './site.js'
import { VALUE_DAMAGES } from './value-damages.js'
import { describeSuite, suitePath } from '../../../../../test/suites.js'

const FOLDER = suitePath('r4-examples')
/** Longer examples repeat themselves. */
const ENOUGH_CHARACTERS = 8_000
const SITES_PER_DAMAGE = 2

const DAMAGES: ReadonlyMap<string, Damage> = new Map([...VALUE_DAMAGES, ...CONTENT_DAMAGES])

const definitions = r4Definitions()
const model = r4TypeModel()
const ctx = createContext({
  storage: memoryStorage(),
  definitions: [definitions, registryDefinitions()],
  codeSystems: [languageTags(), mediaTypes()],
  types: model,
})

/** What R4 forbids and its own published examples do is a warning. */
const WARNED: ReadonlySet<string> = new Set(['narrative without content'])

const ERROR = /^(error|fatal)$/
const WARNING = /^(error|fatal|warning)$/

interface Count {
  done: number
  found: number
  readonly escaped: string[]
}

describeSuite('r4-examples', 'damaged examples of every resource type', () => {
  test('have an error where the damage is', async () => {
    const counts = new Map<string, Count>([...DAMAGES.keys()].map((kind) => [kind, { done: 0, found: 0, escaped: [] }]))
    for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.ndjson'))) {
      await damageAll(await exampleIn(file), counts)
    }
    process.stdout.write(tableOf(counts))
    const escaped = [...counts].flatMap(([kind, count]) => count.escaped.map((one) => `${kind}: ${one}`))
    expect(escaped).toEqual([])
    for (const [kind, { done }] of counts) expect([kind, done]).not.toEqual([kind, 0])
  })
})

interface Example {
  readonly resource: JsonObject
  /** Places that have an error without any damage. */
  readonly errors: ReadonlySet<string | undefined>
}

/** The example of a type with the fewest errors, most of them have none; of those the longest that is not too long. */
async function exampleIn(file: string): Promise<Example> {
  const lines = readFileSync(join(FOLDER, file), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
  const examples: Example[] = []
  for (const line of lines.toSorted((a, b) => distance(a) - distance(b)).slice(0, 10)) {
    const resource: unknown = JSON.parse(line)
    if (isObject(resource)) examples.push({ resource, errors: new Set(await placesIn(line, ERROR)) })
  }
  const [best] = examples.toSorted((a, b) => a.errors.size - b.errors.size)
  if (best === undefined) throw new Error(`${file} has no example.`)
  return best
}

function distance({ length }: string): number {
  return Math.abs(ENOUGH_CHARACTERS - length)
}

async function damageAll({ resource, errors }: Example, counts: ReadonlyMap<string, Count>): Promise<void> {
  const sites = await sitesOf({ model, definitions }, resource)
  for (const [kind, count] of counts) {
    const severities = WARNED.has(kind) ? WARNING : ERROR
    for (const edit of spread(editsOf(kind, sites).filter(({ expected }) => !expected.some((place) => errors.has(place))))) {
      const places = await placesIn(edited(resource, edit), severities)
      count.done++
      if (edit.expected.some((place) => places.includes(place))) count.found++
      else count.escaped.push(`${String(resource['resourceType'])}/${String(resource['id'])} ${edit.expected.join(' or ')}`)
    }
  }
}

function editsOf(kind: string, sites: readonly Site[]): readonly Edit[] {
  return sites.flatMap((site) => DAMAGES.get(kind)?.(site) ?? [])
}

/** Some of many, from all over the resource. */
function spread(edits: readonly Edit[]): readonly Edit[] {
  const step = Math.max(1, Math.ceil(edits.length / SITES_PER_DAMAGE))
  return edits.filter((_, index) => index % step === 0)
}

async function placesIn(text: string, severities: RegExp): Promise<readonly (string | undefined)[]> {
  const { findings } = await validate(ctx, { resource: text })
  return findings.filter(({ severity }) => severities.test(severity)).map(({ expression }) => expression)
}

function tableOf(counts: ReadonlyMap<string, Count>): string {
  const rows = [...counts].map(
    ([kind, { done, found }]) => `| ${kind} | ${done} | ${found} | ${((100 * found) / Math.max(1, done)).toFixed(1)} % |\n`,
  )
  return `| damage | done | found | rate |\n|---|---|---|---|\n${rows.join('')}`
}
