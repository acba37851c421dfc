import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHandler } from '@fhir-ops/handler'
import { r4 } from '@fhir-ops/r4'
import { openSqlite } from '@fhir-ops/sqlite'
import { createContext } from 'fhir-ops/context'
import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import { createSessions } from 'fhir-ops/sessions'
import type { Storage } from 'fhir-ops/storage'
import { expect, test } from 'vitest'
import { rounds } from '../../../../test/effort.js'
import { randomOf, type Random } from '../fuzz/random.js'
import { OPERATION_PATHS } from './oracle/ours.js'
import { questionsOf, type Parameter } from './oracle/questions.js'
import { worldOf, type World } from './oracle/world.js'

const { indexer } = r4()
const BASE = 'http://fhir.example.org'
const ROUNDS = rounds({ quick: 4, all: 80 })

/** Sends requests to a handler over a storage. Clock and ids are the same everywhere, so that answers can be compared. */
function serviceOver(storage: Storage) {
  const handler = createHandler({
    context: createContext({ storage, now: () => new Date('2026-01-01T00:00:00Z'), newId: () => '00000000-0000-4000-8000-000000000000' }),
    sessions: createSessions({ store: memorySessionStore() }),
    baseUrl: BASE,
    auth: 'off',
    defaultPolicy: 'deny',
  })
  const send = async (method: string, path: string, body?: object): Promise<{ readonly status: number; readonly body: JsonObject }> => {
    const request = {
      method,
      headers: { 'content-type': 'application/fhir+json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }
    const response = await handler(new Request(`${BASE}/fhir/R4/${path}`, request))
    const text = await response.text()
    const json: unknown = text === '' ? {} : JSON.parse(text)
    return { status: response.status, body: isObject(json) ? json : {} }
  }
  const call = (path: string, parameter: readonly object[]) => send('POST', path, { resourceType: 'Parameters', parameter })
  return { send, call }
}

type Service = ReturnType<typeof serviceOver>

function resourcesOf({
  systems,
  valueSets,
  maps,
}: World): readonly (JsonObject & { readonly resourceType: string; readonly id: string })[] {
  return [...systems, ...valueSets, ...maps].map((resource, index) => ({ ...resource, id: String(index) }))
}

/** The codes of an expansion, without those below them; `undefined` when it is refused. */
async function listed(service: Service, parameters: readonly object[]): Promise<readonly JsonObject[] | undefined> {
  const { status, body } = await service.call(OPERATION_PATHS.expand, [{ name: 'excludeNested', valueBoolean: true }, ...parameters])
  return status === 200 ? objectsAt(objectAt(body, 'expansion'), 'contains') : undefined
}

const SIZE = 3

/** Parameters that are not about pages and nesting. */
function withoutPage(parameters: readonly Parameter[]): readonly Parameter[] {
  return parameters.filter(({ name }) => !['count', 'offset', 'excludeNested'].includes(name))
}

test('pages of an expansion join to the whole, and a text filter selects from it what has its words', async () => {
  for (let seed = 0; seed < ROUNDS; seed++) {
    const random = randomOf(17, seed)
    const world = worldOf(random)
    const service = serviceOver(memoryStorage(resourcesOf(world)))
    const expansions = questionsOf(random, world).filter(({ operation }) => operation === 'expand')
    for (const asked of expansions.map(({ parameters }) => withoutPage(parameters))) {
      const all = await listed(service, asked)
      if (all === undefined) continue
      expect(await pages(service, asked, all.length)).toEqual(all)
      const found = await listed(service, [...asked, { name: 'filter', valueString: random.one(['a', 'dis', 'own b', 'text']) }])
      expect(all).toEqual(expect.arrayContaining([...(found ?? [])]))
      for (const entry of all) expect(await alike(service, asked, entry)).toContainEqual(entry)
    }
  }
})

async function pages(service: Service, asked: readonly object[], total: number): Promise<readonly JsonObject[]> {
  const joined: JsonObject[] = []
  for (let offset = 0; offset <= total; offset += SIZE) {
    const page = [
      { name: 'offset', valueInteger: offset },
      { name: 'count', valueInteger: SIZE },
    ]
    joined.push(...((await listed(service, [...asked, ...page])) ?? []))
  }
  return joined
}

/** The codes that the first word of an entry's display finds; those of its code where it has none. */
async function alike(service: Service, asked: readonly object[], entry: JsonObject): Promise<readonly JsonObject[]> {
  const word = stringAt(entry, 'display')?.split(' ', 1)[0] ?? stringAt(entry, 'code')
  return (await listed(service, [...asked, { name: 'filter', valueString: word }])) ?? []
}

test('definitions that come with a request are used as stored ones are', async () => {
  const empty = serviceOver(memoryStorage())
  for (let seed = 0; seed < ROUNDS; seed++) {
    const random = randomOf(18, seed)
    const world = worldOf(random)
    const resources = resourcesOf(world)
    const service = serviceOver(memoryStorage(resources))
    const given = resources.map((resource) => ({ name: 'tx-resource', resource }))
    for (const { operation, parameters } of questionsOf(random, world)) {
      const stored = await service.call(OPERATION_PATHS[operation], parameters)
      expect(await empty.call(OPERATION_PATHS[operation], [...parameters, ...given]), JSON.stringify(parameters)).toEqual(stored)
    }
  }
})

test('$subsumes agrees with the filters is-a and generalizes, and $closure with both', async () => {
  for (let seed = 0; seed < ROUNDS; seed++) {
    const world = worldOf(randomOf(19, seed))
    // Parts and groups do not subsume, and filters go by any hierarchy.
    const systems = world.systems.map((system) => ({ ...system, hierarchyMeaning: 'is-a' }))
    const service = serviceOver(memoryStorage(resourcesOf({ ...world, systems })))
    const system = 'http://x/cs/a'
    const below = async (op: string, value: string): Promise<ReadonlySet<unknown>> => {
      const compose = { include: [{ system, filter: [{ property: 'concept', op, value }] }] }
      const valueSet = { resourceType: 'ValueSet', status: 'active', compose }
      return new Set(((await listed(service, [{ name: 'valueSet', resource: valueSet }])) ?? []).map(({ code }) => code))
    }
    const codes = (await listed(service, [{ name: 'valueSet', resource: wholeOf(system) }]))?.map((entry) => stringAt(entry, 'code') ?? '')
    if (codes === undefined || codes.length === 0) continue
    const above: string[] = []
    for (const code of codes) {
      const [isA, generalizes] = [await below('is-a', code), await below('generalizes', code)]
      const outcomes = await Promise.all(codes.map((other) => relation(service, system, [code, other])))
      expect([code, ...outcomes]).toEqual([
        code,
        ...codes.map((other) => relationBy(code === other, isA.has(other), generalizes.has(other))),
      ])
      above.push(...codes.filter((_, i) => outcomes[i] === 'subsumed-by').map((other) => `${code} ${other}`))
    }
    expect(await closureOf(service, system, codes)).toEqual(above.sort())
  }
})

function wholeOf(system: string): JsonObject {
  return { resourceType: 'ValueSet', status: 'active', compose: { include: [{ system }] } }
}

async function relation(service: Service, system: string, [codeA, codeB]: readonly [string, string]): Promise<unknown> {
  const codes = [
    { name: 'codeA', valueCode: codeA },
    { name: 'codeB', valueCode: codeB },
  ]
  const { body } = await service.call(OPERATION_PATHS.subsumes, [{ name: 'system', valueUri: system }, ...codes])
  return objectsAt(body, 'parameter')[0]?.['valueCode']
}

function relationBy(isSame: boolean, isBelow: boolean, isAbove: boolean): string {
  if (isSame) return 'equivalent'
  if (isBelow === isAbove) return isBelow ? 'equivalent' : 'not-subsumed'
  return isBelow ? 'subsumes' : 'subsumed-by'
}

/** The pairs of a closure table to which the codes are added in two calls, each as `below above`. */
async function closureOf(service: Service, system: string, codes: readonly string[]): Promise<readonly string[]> {
  const name = { name: 'name', valueString: 'all' }
  await service.call('$closure', [name])
  const half = codes.length >>> 1
  const pairs: string[] = []
  for (const part of [codes.slice(half), codes.slice(0, half)].filter(({ length }) => length > 0)) {
    const { body } = await service.call('$closure', [name, ...part.map((code) => ({ name: 'concept', valueCoding: { system, code } }))])
    for (const element of objectsAt(body, 'group').flatMap((group) => objectsAt(group, 'element')))
      for (const target of objectsAt(element, 'target')) pairs.push(`${stringAt(element, 'code')} ${stringAt(target, 'code')}`)
  }
  return pairs.sort()
}

test('answers after changes are those of a new server, over memory and SQLite', async () => {
  for (let seed = 0; seed < rounds({ quick: 1, all: 10 }); seed++) {
    const folder = mkdtempSync(join(tmpdir(), 'agreement-'))
    const sqlite = await openSqlite(join(folder, 'content.db'))
    await afterChanges(randomOf(20, seed), [serviceOver(memoryStorage([], { indexer })), serviceOver(sqlite.storage)])
    await sqlite.close()
    rmSync(folder, { recursive: true })
  }
})

async function afterChanges(random: Random, services: readonly Service[]): Promise<void> {
  const worlds = [worldOf(random), worldOf(random)]
  const questions = worlds.flatMap((world) => questionsOf(random, world))
  const pool = worlds.flatMap((world, i) => resourcesOf(world).map((resource) => ({ ...resource, id: `${i}-${resource.id}` })))
  const current = new Map<string, JsonObject>()
  for (let round = 0; round < 8; round++) {
    const changes = changesOf(random, pool, current)
    for (const service of services) await change(service, changes)
    const fresh = serviceOver(
      memoryStorage(
        [...current.values()].map((resource) => structuredClone(resource)),
        { indexer },
      ),
    )
    for (const { operation, parameters } of questions.filter(() => random.seldom(4))) {
      const answers = await Promise.all([fresh, ...services].map((service) => service.call(OPERATION_PATHS[operation], parameters)))
      expect(new Set(answers.map(comparable)).size, JSON.stringify({ operation, parameters })).toBe(1)
    }
  }
}

async function change(service: Service, changes: readonly Change[]): Promise<void> {
  for (const { path, resource } of changes) await service.send(resource === undefined ? 'DELETE' : 'PUT', path, resource)
}

interface Change {
  readonly path: string
  /** Absent for a deletion. */
  readonly resource?: JsonObject
}

/** Draws a few changes, and applies them to the current resources. */
function changesOf(
  random: Random,
  pool: readonly (JsonObject & { readonly resourceType: string; readonly id: string })[],
  current: Map<string, JsonObject>,
): readonly Change[] {
  return Array.from({ length: 1 + random.whole(6) }, () => {
    const resource = random.one(pool)
    const path = `${resource.resourceType}/${resource.id}`
    if (current.has(path) && random.seldom(3)) {
      current.delete(path)
      return { path }
    }
    current.set(path, resource)
    return { path, resource }
  })
}

/** An answer as text, without the ids and versions that a storage gives. */
function comparable(answer: object): string {
  return JSON.stringify(answer, (name, value: unknown) => (['id', 'meta', 'identifier', 'timestamp'].includes(name) ? undefined : value))
}
