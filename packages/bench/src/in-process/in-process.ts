import { forRequest } from 'fhir-ops/context'
import { expand } from 'fhir-ops/expand'
import { translate } from 'fhir-ops/translate'
import { validate } from 'fhir-ops/validate'
import { validateCode } from 'fhir-ops/validate-code'
import { createBots, execute } from 'fhir-ops/execute'
import { openBotSandbox } from '@fhir-ops/bot-sandbox'
import {
  BOT,
  LARGE_BOT,
  LARGE_SYSTEM,
  largeCodeSystem,
  largeMap,
  MINIMAL_PATIENT,
  NAMED_PATIENT,
  OBSERVATION,
  PATIENT,
} from '../content/content.js'
import { contextWith } from '../context.js'
import { markdownTable } from '../markdown.js'
import { timed, type Timing } from '../timing.js'

/** Time in microseconds of each operation as a function call, over memory, one after the other. */
export async function inProcess(): Promise<string> {
  const ctx = contextWith([...largeCodeSystem(), largeMap(), BOT, LARGE_BOT])
  const runtime = openBotSandbox()
  const bots = createBots({ runtime })
  const coding = { system: LARGE_SYSTEM, code: 'c77777' }
  const url = 'http://example.org/bench/all'
  const calls: readonly (readonly [string, () => unknown])[] = [
    ['translate, map of 100,000 elements', () => translate(ctx, { url: 'http://example.org/bench/map', coding })],
    ['expand, page of 20 at the start of 100,000', () => expand(ctx, { url, count: 20 })],
    ['expand, page of 20 at offset 90,000', () => expand(ctx, { url, count: 20, offset: 90_000 })],
    ['expand, filter of one word, page of 20', () => expand(ctx, { url, filter: 'frac', count: 20 })],
    ['expand, filter of two words, page of 20', () => expand(ctx, { url, filter: 'acu bur', count: 20 })],
    ['validate-code in the value set of 100,000', () => validateCode(ctx, { url, coding })],
    ['validate, minimal Patient', () => validate(ctx, { resource: MINIMAL_PATIENT })],
    ['validate, Patient', () => validate(ctx, { resource: PATIENT })],
    [
      'validate, Patient, with a profile that comes with the call',
      () => validate(forRequest(ctx, { resources: [NAMED_PATIENT] }), { resource: PATIENT, profiles: [NAMED_PATIENT.url] }),
    ],
    ['validate, Observation with bindings', () => validate(ctx, { resource: OBSERVATION })],
    ['execute, stored bot in the sandbox', () => execute({ ...ctx, bots }, { bot: { id: 'echo' }, input: { a: 1 } })],
    ['execute, stored bot of 160 kB', () => execute({ ...ctx, bots }, { bot: { id: LARGE_BOT.id }, input: { a: 1 } })],
  ]
  const rows: string[][] = []
  for (const [name, call] of calls) rows.push(cells(name, await timed(call)))
  await runtime.close()
  return markdownTable(['in-process, memory storage', 'p50 µs', 'p99 µs', 'calls'], rows)
}

function cells(name: string, { p50, p99, calls }: Timing): string[] {
  return [name, p50.toFixed(1), p99.toFixed(1), String(calls)]
}
