import { createContext, forRequest, type OperationContext } from 'fhir-ops/context'
import { pacedText } from 'fhir-ops/internal/context'
import { OperationError } from 'fhir-ops/errors'
import { expand } from 'fhir-ops/expand'
import { memoryStorage } from 'fhir-ops/memory'
import { parametersOf } from 'fhir-ops/internal/parameters'
import type { JsonObject } from 'fhir-ops/internal/json'
import { translate } from 'fhir-ops/translate'
import { valueSetBatchValidateCodeOperation } from 'fhir-ops/internal/validate-code'
import { largeMap } from '../content/content.js'
import { markdownTable } from '../markdown.js'
import { stretch } from './stretch.js'

const URL = 'http://example.org/bench/hostile'
const SYSTEM = `${URL}/system`
const CONCEPTS = 60_000

/** How long definitions that were made to be costly keep everything else waiting, with the time limit of a server. */
export async function hostile(): Promise<string> {
  const rows: string[][] = []
  for (const [name, work] of CASES) rows.push([name, ...(await measured(work))])
  return markdownTable(
    ['definitions made to be costly', 'ms', 'longest stretch ms', 'in processor time ms', 'more memory MB', 'answer'],
    rows,
  )
}

type Case = (ctx: OperationContext) => Promise<string>

async function measured(work: Case): Promise<string[]> {
  const ctx = createContext({ storage: memoryStorage([system(), largeMap(), ...Array.from({ length: 5 }, (_, i) => imported(i))]) })
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
  ['expand, 2,000 includes and 2,000 excludes', (ctx) => total(ctx, valueSet(parts(2_000, 0), parts(2_000, 1_000)))],
  [
    'expand, 300 includes of value sets of 8,000 parts',
    (ctx) => total(ctx, valueSet(Array.from({ length: 300 }, (_, i) => ({ valueSet: [importUrl(i % 5)] })))),
  ],
  [
    'expand, 20,000 unknown code systems',
    (ctx) => total(ctx, valueSet(Array.from({ length: 20_000 }, (_, i) => ({ system: `${URL}/unknown-${i}` })))),
  ],
  [
    'expand, 200 patterns over 60,000 displays',
    (ctx) => total(ctx, valueSet(Array.from({ length: 200 }, (_, i) => ({ system: SYSTEM, filter: [pattern(i)] })))),
  ],
  ['validate 3,000 codes, explained', (ctx) => batch(ctx, 3_000)],
  ['first use of a map of 100,000 elements', (ctx) => translated(ctx)],
])

async function total(ctx: OperationContext, set: JsonObject): Promise<string> {
  return `${(await expand(ctx, { valueSet: set, count: 10 })).total} codes`
}

async function translated(ctx: OperationContext): Promise<string> {
  const { result } = await translate(ctx, {
    url: 'http://example.org/bench/map',
    coding: { code: 'c7', system: 'http://example.org/bench/system' },
  })
  return String(result)
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
