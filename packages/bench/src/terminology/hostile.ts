import { createContext, forRequest, type OperationContext } from 'fhir-ops/context'
import { pacedText } from 'fhir-ops/internal/context'
import { OperationError } from 'fhir-ops/errors'
import { expand, type ExpandInput } from 'fhir-ops/expand'
import { memoryStorage } from 'fhir-ops/memory'
import { parametersOf } from 'fhir-ops/internal/parameters'
import type { JsonObject } from 'fhir-ops/internal/json'
import { translate } from 'fhir-ops/translate'
import { largeMap } from '../content/content.js'
import { markdownTable } from '../markdown.js'
import { stretch } from './stretch.js'
import { valueSetBatchValidateCodeOperation } from 'fhir-ops/internal/operations'

const URL = 'http://example.org/bench/hostile'
const SYSTEM = `${URL}/system`
const CONCEPTS = 60_000

/** How long definitions that are designed to be costly block other work, with the time limit of a server. */
export async function hostile(): Promise<string> {
  const rows: string[][] = []
  for (const [name, hostileCase] of CASES) rows.push([name, ...(await measured(hostileCase))])
  return markdownTable(
    ['definitions made to be costly', 'ms', 'longest stretch ms', 'in processor time ms', 'more memory MB', 'answer'],
    rows,
  )
}

interface Case {
  readonly work: (ctx: OperationContext) => Promise<string>
  /** Resources that are stored only for this case. */
  readonly content?: () => readonly JsonObject[]
}

async function measured({ work, content = () => [] }: Case): Promise<string[]> {
  const imports = Array.from({ length: 5 }, (_, i) => imported(i))
  const ctx = createContext({ storage: memoryStorage([system(), largeMap(), ...imports, ...content()]) })
  await expand(ctx, { valueSet: valueSet([{ system: SYSTEM }]), count: 1 })
  globalThis.gc?.()
  const before = process.memoryUsage().rss
  let highest = before
  const watch = setInterval(() => (highest = Math.max(highest, process.memoryUsage().rss)), 20)
  let answer = ''
  const { ms, longest, busy } = await stretch(async () => {
    answer = await work(forRequest(ctx, {})).catch(codeOf)
  })
  clearInterval(watch)
  return [ms, longest, busy, ((Math.max(highest, process.memoryUsage().rss) - before) / 2 ** 20).toFixed(0), answer]
}

const CASES: ReadonlyMap<string, Case> = new Map<string, Case>([
  ['expand, 2,000 includes and 2,000 excludes', { work: (ctx) => total(ctx, valueSet(parts(2_000, 0), parts(2_000, 1_000))) }],
  [
    'expand, 300 includes of value sets of 8,000 parts',
    { work: (ctx) => total(ctx, valueSet(Array.from({ length: 300 }, (_, i) => ({ valueSet: [importUrl(i % 5)] })))) },
  ],
  [
    'expand, 20,000 unknown code systems',
    { work: (ctx) => total(ctx, valueSet(Array.from({ length: 20_000 }, (_, i) => ({ system: `${URL}/unknown-${i}` })))) },
  ],
  [
    'expand, 200 patterns over 60,000 displays',
    { work: (ctx) => total(ctx, valueSet(Array.from({ length: 200 }, (_, i) => ({ system: SYSTEM, filter: [pattern(i)] })))) },
  ],
  [
    'expand, 60,000 excludes',
    {
      work: (ctx) =>
        total(
          ctx,
          valueSet(
            [{ system: SYSTEM }],
            Array.from({ length: CONCEPTS }, (_, i) => listed(i)),
          ),
        ),
    },
  ],
  [
    'expand, five supplements of 60,000 concepts',
    {
      content: () => SUPPLEMENTS.map((url, i) => supplement(url, i)),
      work: (ctx) => total(ctx, valueSet([{ system: SYSTEM }]), { useSupplement: SUPPLEMENTS }),
    },
  ],
  ['validate 3,000 codes, explained', { work: (ctx) => batch(ctx, 3_000) }],
  ['first use of a map of 100,000 elements', { work: translated }],
  ['translate, 60,000 elements of one code', { content: () => [repeatingMap()], work: translatedOften }],
])

const SUPPLEMENTS: readonly string[] = Array.from({ length: 5 }, (_, i) => `${URL}/supplement-${i}`)

async function total(ctx: OperationContext, set: JsonObject, options: Pick<ExpandInput, 'useSupplement'> = {}): Promise<string> {
  return `${(await expand(ctx, { valueSet: set, count: 10, ...options })).total} codes`
}

async function translated(ctx: OperationContext): Promise<string> {
  const { result } = await translate(ctx, {
    url: 'http://example.org/bench/map',
    coding: { code: 'c7', system: 'http://example.org/bench/system' },
  })
  return String(result)
}

async function translatedOften(ctx: OperationContext): Promise<string> {
  const { matches } = await translate(ctx, { url: `${URL}/repeating`, coding: { system: SYSTEM, code: 'c' } })
  return `${matches.length} matches`
}

function repeatingMap(): JsonObject {
  const element = Array.from({ length: CONCEPTS }, (_, i) => ({ code: 'c', target: [{ code: `t${i}`, equivalence: 'equal' }] }))
  return {
    resourceType: 'ConceptMap',
    id: 'repeating',
    url: `${URL}/repeating`,
    status: 'active',
    group: [{ source: SYSTEM, target: URL, element }],
  }
}

function supplement(url: string, i: number): JsonObject {
  const concept = Array.from({ length: CONCEPTS }, (_, n) => ({ code: `c${n}`, designation: [{ language: 'de', value: `Begriff ${n}` }] }))
  const header = { resourceType: 'CodeSystem', id: `supplement-${i}`, url, status: 'active', content: 'supplement', supplements: SYSTEM }
  return { ...header, concept }
}

function listed(i: number): JsonObject {
  return { system: SYSTEM, concept: [{ code: `c${i}` }] }
}

async function batch(ctx: OperationContext, size: number): Promise<string> {
  const parameter = Array.from({ length: size }, (_, i) => ({
    name: 'validation',
    resource: {
      resourceType: 'Parameters',
      parameter: [
        { name: 'url', valueUri: importUrl(i % 5) },
        { name: '_explain', valueBoolean: true },
        { name: 'coding', valueCoding: { system: SYSTEM, code: `x${i}` } },
      ],
    },
  }))
  const parameters = parametersOf({ resourceType: 'Parameters', parameter })
  const { resource } = await valueSetBatchValidateCodeOperation.run(ctx, { type: 'ValueSet', method: 'POST', parameters, strict: false })
  return `${(await pacedText({ ...ctx, deadline: undefined }, resource)).length} characters`
}

function codeOf(error: unknown): string {
  if (error instanceof OperationError) return error.code
  throw error
}

function system(): JsonObject {
  const concept = Array.from({ length: CONCEPTS }, (_, i) => ({ code: `c${i}`, display: `Concept number ${i} of many` }))
  return { resourceType: 'CodeSystem', id: 'hostile', url: SYSTEM, status: 'active', content: 'complete', concept }
}

function parts(count: number, from: number): readonly JsonObject[] {
  return Array.from({ length: count }, (_, i) => ({
    system: SYSTEM,
    filter: [{ property: 'concept', op: 'is-a', value: `c${from + i}` }],
  }))
}

function pattern(i: number): JsonObject {
  return { property: 'display', op: 'regex', value: `(Concept|number|[0-9a-z ])*${i} of many` }
}

function importUrl(i: number): string {
  return `${URL}/imported-${i}`
}

function imported(i: number): JsonObject {
  return { ...valueSet(parts(8_000, i)), id: `imported-${i}`, url: importUrl(i) }
}

function valueSet(include: readonly JsonObject[], exclude: readonly JsonObject[] = []): JsonObject {
  return { resourceType: 'ValueSet', status: 'active', compose: { include, ...(exclude.length > 0 && { exclude }) } }
}
