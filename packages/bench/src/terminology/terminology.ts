import { expand } from 'fhir-ops/expand'
import { lookup } from 'fhir-ops/lookup'
import { subsumes } from 'fhir-ops/subsumes'
import { translate } from 'fhir-ops/translate'
import { validateInValueSet } from 'fhir-ops/validate-code'
import { createContext, type OperationContext } from 'fhir-ops/context'
import type { JsonObject } from 'fhir-ops/json'
import { memoryStorage } from 'fhir-ops/memory'
import { clinicalCode, clinicalSystem, CLINICAL_SYSTEM, FULL_SHAPE } from '../content/clinical-system.js'
import { LARGE_SYSTEM, largeMap } from '../content/content.js'
import { markdownTable } from '../markdown.js'
import { timed } from '../timing.js'

type Row = readonly [name: string, call: () => unknown]

/** Microseconds of terminology operations as function calls over a system of the size of a large clinical terminology, in memory. */
export async function terminology(): Promise<string> {
  const before = heapBytes()
  const ctx = createContext({
    storage: memoryStorage([clinicalSystem(FULL_SHAPE), largeMap(), ...valueSets()]),
    limits: { operationTimeoutMs: 60_000 },
  })
  const loaded = heapBytes()
  const hierarchy = await stretch(() => subsumes(ctx, { system: CLINICAL_SYSTEM, codeA: clinicalCode(0), codeB: clinicalCode(9) }))
  const opened = heapBytes()
  const texts = await stretch(() => expand(ctx, { url: ALL, filter: 'zz', count: 1 }))
  const indexed = heapBytes()
  const rows: string[][] = []
  for (const [name, call] of [...pointRows(ctx), ...pageRows(ctx), ...typeaheadRows(ctx)]) {
    const { p50, p99, calls } = await timed(call)
    rows.push([name, p50.toFixed(1), p99.toFixed(1), String(calls)])
  }
  const perConcept = (bytes: number): string => (bytes / FULL_SHAPE.concepts).toFixed(0)
  return [
    `${FULL_SHAPE.concepts} concepts, ${FULL_SHAPE.designations} designations`,
    markdownTable(['in-process, memory', 'p50 µs', 'p99 µs', 'calls'], rows),
    markdownTable(
      ['', 'bytes per concept', 'ms', 'longest stretch ms'],
      [
        ['resource', perConcept(loaded - before), '', ''],
        ['codes and hierarchy, at first use', perConcept(opened - loaded), hierarchy.ms, hierarchy.longest],
        ['text index, at first filter', perConcept(indexed - opened), texts.ms, texts.longest],
      ],
    ),
  ].join('\n\n')
}

const ALL = 'http://example.org/bench/clinical/all'
const BRANCH = 'http://example.org/bench/clinical/branch'
const KIND = 'http://example.org/bench/clinical/kind'

function valueSets(): readonly JsonObject[] {
  const branch = { property: 'concept', op: 'is-a', value: clinicalCode(0) }
  const kind = { property: 'kind', op: '=', value: 'disorder' }
  return [valueSet('all', ALL, []), valueSet('branch', BRANCH, [branch]), valueSet('kind', KIND, [branch, kind])]
}

function valueSet(id: string, url: string, filter: readonly JsonObject[]): JsonObject {
  const include = [{ system: CLINICAL_SYSTEM, ...(filter.length > 0 && { filter }) }]
  return { resourceType: 'ValueSet', id: `clinical-${id}`, url, status: 'active', compose: { include } }
}

function pointRows(ctx: OperationContext): readonly Row[] {
  let turn = 0
  const next = (): string => clinicalCode((turn = (turn + 7_919) % FULL_SHAPE.concepts))
  const system = CLINICAL_SYSTEM
  const valid = (url: string): unknown =>
    validateInValueSet(ctx, { url, value: { kind: 'coding', codings: [{ system, code: next(), path: 'Coding' }] } })
  return [
    ['lookup', () => lookup(ctx, { system, code: next() })],
    ['subsumes', () => subsumes(ctx, { system, codeA: next(), codeB: next() })],
    ['validate-code, is-a', () => valid(BRANCH)],
    ['validate-code, is-a and property', () => valid(KIND)],
    [
      'translate, map of 100,000 elements',
      () => translate(ctx, { url: 'http://example.org/bench/map', coding: { system: LARGE_SYSTEM, code: 'c77777' } }),
    ],
  ]
}

function pageRows(ctx: OperationContext): readonly Row[] {
  return [
    ['is-a, page of 20', () => expand(ctx, { url: BRANCH, count: 20 })],
    ['is-a, page of 20 at offset 100,000', () => expand(ctx, { url: BRANCH, count: 20, offset: 100_000 })],
    ['is-a and property, page of 20', () => expand(ctx, { url: KIND, count: 20 })],
    ['is-a, property and two letters, page of 20', () => expand(ctx, { url: KIND, filter: 'st', count: 20 })],
  ]
}

/** Beginnings of words of every commonness, as people type them. */
function typeaheadRows(ctx: OperationContext): readonly Row[] {
  const typed = (filters: readonly string[]): (() => unknown) => {
    let turn = 0
    return () => expand(ctx, { url: ALL, filter: filters[turn++ % filters.length], count: 20 })
  }
  return [
    ['typeahead, two letters', typed(['st', 'ch', 'pr', 'be', 'va', 'lo', 'mi', 'so'])],
    ['typeahead, three letters', typed(['sta', 'che', 'pri', 'ben', 'val', 'lom', 'mio', 'sor'])],
    ['typeahead, four letters', typed(['stae', 'chel', 'prib', 'bena', 'vali', 'lomo', 'mioc', 'sora'])],
    ['typeahead, two words', typed(['st ch', 'pri be', 'va lom', 'so mi', 'sta pr', 'ben st', 'che so', 'mi va'])],
    ['typeahead, two letters, page at offset 1,000', () => expand(ctx, { url: ALL, filter: 'st', count: 20, offset: 1_000 })],
  ]
}

interface Stretch {
  readonly ms: string
  /** The longest time in which no other work ran. */
  readonly longest: string
}

async function stretch(work: () => Promise<unknown>): Promise<Stretch> {
  let last = performance.now()
  let longest = 0
  const beat = setInterval(() => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
  })
  const start = performance.now()
  await work()
  clearInterval(beat)
  return { ms: (performance.now() - start).toFixed(0), longest: longest.toFixed(0) }
}

function heapBytes(): number {
  globalThis.gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
