import { expand, expandStream } from 'fhir-ops/expand'
import { lookup } from 'fhir-ops/lookup'
import { subsumes } from 'fhir-ops/subsumes'
import { translate } from 'fhir-ops/translate'
import { validateCode } from 'fhir-ops/validate-code'
import type { OperationContext } from 'fhir-ops/context'
import { FULL_SHAPE } from '../content/clinical-system.js'
import { LARGE_SYSTEM } from '../content/content.js'

/** The synthetic system in one store. */
export interface ClinicalSubject {
  readonly ctx: OperationContext
  readonly system: string
  readonly code: (place: number) => string
  /** Canonicals of value sets: all codes; those below the first one; those of them with one kind. */
  readonly all: string
  readonly branch: string
  readonly kind: string
  /** The value set `kind` as an ECL refinement; absent if the system has no ECL. */
  readonly refinement?: string
}

/** Calls by the names of their rows; a subject without ECL has fewer. */
export function clinicalCalls(subject: ClinicalSubject): ReadonlyMap<string, () => unknown> {
  return new Map([...pointCalls(subject), ...pageCalls(subject), ...typeaheadCalls(subject)])
}

type Row = readonly [name: string, call: () => unknown]

function pointCalls({ ctx, system, code, branch, kind }: ClinicalSubject): readonly Row[] {
  let turn = 0
  const codes = Array.from({ length: FULL_SHAPE.concepts }, (_, place) => code(place))
  const next = (): string => codes[(turn = (turn + 7_919) % codes.length)] ?? ''
  const valid = (url: string): unknown => validateCode(ctx, { url, coding: { system, code: next() } })
  return [
    ['lookup', () => lookup(ctx, { system, code: next() })],
    ['subsumes', () => subsumes(ctx, { system, codeA: next(), codeB: next() })],
    ['validate-code, is-a', () => valid(branch)],
    ['validate-code, is-a and property', () => valid(kind)],
    [
      'translate, map of 100,000 elements',
      () =>
        translate(ctx, {
          url: 'http://example.org/bench/map',
          coding: { system: LARGE_SYSTEM, code: `c${(turn = (turn + 7_919) % 100_000)}` },
        }),
    ],
  ]
}

function pageCalls({ ctx, branch, kind, refinement }: ClinicalSubject): readonly Row[] {
  return [
    ['is-a, page of 20', () => expand(ctx, { url: branch, count: 20 })],
    ['is-a, page of 20 at offset 100,000', () => expand(ctx, { url: branch, count: 20, offset: 100_000 })],
    ['is-a and property, page of 20', () => expand(ctx, { url: kind, count: 20 })],
    ['is-a, property and two letters, page of 20', () => expand(ctx, { url: kind, filter: 'st', count: 20 })],
    ...(refinement === undefined ? [] : [['ECL refinement, page of 20', () => expand(ctx, { url: refinement, count: 20 })] as const]),
    ['stream of 100,000 codes', () => drained(expandStream(ctx, { url: branch, count: 100_000 }))],
  ]
}

/** Calls with prefixes of words of every frequency, as people type them. */
function typeaheadCalls({ ctx, all }: ClinicalSubject): readonly Row[] {
  const typed = (filters: readonly string[]): (() => unknown) => {
    let turn = 0
    return () => expand(ctx, { url: all, filter: filters[turn++ % filters.length], count: 20 })
  }
  return [
    ...Object.entries(TYPED).map(([name, filters]): Row => [`typeahead, ${name}`, typed(filters)]),
    ['typeahead, two letters, page at offset 1,000', () => expand(ctx, { url: all, filter: 'st', count: 20, offset: 1_000 })],
  ]
}

/** Typed texts by the names of rows. */
export const TYPED: Readonly<Record<string, readonly string[]>> = {
  'two letters': ['st', 'ch', 'pr', 'be', 'va', 'lo', 'mi', 'so'],
  'three letters': ['sta', 'che', 'pri', 'ben', 'val', 'lom', 'mio', 'sor'],
  'four letters': ['stae', 'chel', 'prib', 'bena', 'vali', 'lomo', 'mioc', 'sora'],
  'two words': ['st ch', 'pri be', 'va lom', 'so mi', 'sta pr', 'ben st', 'che so', 'mi va'],
}

async function drained(codes: AsyncIterable<unknown>): Promise<number> {
  let count = 0
  for await (const _ of codes) count++
  return count
}
