import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import { cqlLanguage, cqlOperations } from '@fhir-ops/cql'
import { createTranslator, type CqlTranslator } from '@fhir-ops/cql/translator'
import { createHandler } from '@fhir-ops/handler'
import { r4 } from '@fhir-ops/r4'
import { unitConversion } from '@fhir-ops/registries/ucum'
import { createContext, type OperationContext } from 'fhir-ops/context'
import { collectData, evaluateMeasure, measureOperations, toMeasureReport } from 'fhir-ops/evaluate'
import { OperationError } from 'fhir-ops/errors'
import type { JsonObject } from 'fhir-ops/internal/json'
import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import { createSessions } from 'fhir-ops/sessions'
import { beforeAll, describe, expect, test } from 'vitest'
import { answerLines, differingLines, operationCalls } from './probes/calls.js'
import { DECISIONS, type Difference } from './probes/decisions.js'
import { randomProbe, type Probe } from './probes/measures.js'
import { normalReport } from './probes/normal-report.js'
import { CLINIC } from './probes/clinic.js'
import { LIBRARY, RECORDS, type Resource } from './probes/ward.js'
import { WRITTEN } from './probes/written.js'

const CALLS_FILE = fileURLToPath(new URL('../../measure-oracle/calls.txt.gz', import.meta.url))
const FILE = fileURLToPath(new URL('../../measure-oracle/facts.txt.gz', import.meta.url))
/** A command that evaluates Measures by clinical reasoning, to ask it anew. */
const ORACLE = process.env['FHIR_OPS_MEASURE_ORACLE']
const COUNT = 240
/** Probes, with the resources that they are evaluated over. */
const WORLDS: readonly { readonly resources: readonly Resource[]; readonly probes: readonly Probe[] }[] = [
  { resources: [LIBRARY, ...RECORDS], probes: Array.from({ length: COUNT }, (_, number) => randomProbe(number)) },
  { resources: CLINIC, probes: WRITTEN },
]

const { types, ...release } = r4()
let translator: CqlTranslator
beforeAll(async () => {
  translator = await createTranslator({ model: types })
})

describe('random and written Measures, and what clinical reasoning reports for them', () => {
  test.runIf(ORACLE !== undefined)('are asked anew', async () => {
    const reports = (await askedOracle(ORACLE ?? '', probeLines())).map((line): JsonObject => JSON.parse(line))
    const facts = WORLDS.flatMap(({ probes }) => probes).map(({ name }, at) => [name, ...normalReport(reports[at] ?? {})].join('\t'))
    writeFileSync(FILE, gzipSync(facts.join('\n'), { level: 9 }))
  })

  test('differ only where it has been decided', async () => {
    const known = knownFacts(FILE)
    const differences: Difference[] = []
    for (const { resources, probes } of WORLDS)
      for (const probe of probes) {
        const [ours, reference] = [normalReport(await ourReport(probe, resources)), known.get(probe.name) ?? []]
        const only = (some: readonly string[], others: readonly string[]): readonly string[] =>
          some.filter((line) => !others.includes(line))
        differences.push({ probe, ours: only(ours, reference), reference: only(reference, ours) })
      }
    const lines = differences.flatMap(linesOf)
    expect(lines.filter((line) => line.startsWith('undecided'))).toEqual([])
    expect(known.size).toBe(COUNT + WRITTEN.length)
    expect(differences.filter((one) => linesOf(one).length === 0).length).toBeGreaterThan(COUNT / 2)
    await expect(lines.join('')).toMatchFileSnapshot('../../measure-oracle/differences.tsv')
  })
})

describe('calls of $cql, Library/$evaluate and $data-requirements, and what clinical reasoning answers', () => {
  const calls = operationCalls(WRITTEN.filter((_, index) => index % 12 === 0).map(({ measure }) => measure))

  test.runIf(ORACLE !== undefined)('are asked anew', async () => {
    const resources = [...CLINIC, ...WRITTEN.map(({ measure }) => measure)]
    const answers = await askedOracle(ORACLE ?? '', [bundleOf(resources), ...calls.map(({ reference }) => reference)])
    const facts = calls.map(({ name }, at) => [name, ...answerLines(JSON.parse(answers[at] ?? '{}'))].join('\t'))
    writeFileSync(CALLS_FILE, gzipSync(facts.join('\n'), { level: 9 }))
  })

  test('differ only where it has been decided', async () => {
    const known = knownFacts(CALLS_FILE)
    const handler = operationsOver([...CLINIC, ...WRITTEN.map(({ measure }) => measure)])
    const lines: string[] = []
    for (const { name, path, body } of calls) {
      const request = { method: 'POST', headers: { 'content-type': 'application/fhir+json' }, body: JSON.stringify(body) }
      const response = await handler(new Request(`http://localhost/fhir/R4/${path}`, request))
      const [ours, reference] = [answerLines(JSON.parse(await response.text())), known.get(name) ?? []]
      expect(response.status, name).toBeLessThan(500)
      const only = (some: readonly string[], others: readonly string[]): readonly string[] => some.filter((line) => !others.includes(line))
      lines.push(...differingLines(name, only(ours, reference), only(reference, ours)))
    }
    await handler.close()
    expect(lines.filter((line) => line.startsWith('undecided'))).toEqual([])
    expect(known.size).toBe(calls.length)
    await expect(lines.join('')).toMatchFileSnapshot('../../measure-oracle/calls-differences.tsv')
  })
})

/** The operations over resources, as a server has them. */
function operationsOver(resources: readonly Resource[]): ReturnType<typeof createHandler> {
  return createHandler({
    context: contextOver(resources, { operationTimeoutMs: PATIENCE_MS }),
    sessions: createSessions({ store: memorySessionStore() }),
    baseUrl: 'http://localhost',
    auth: 'off',
    defaultPolicy: 'allow-authenticated',
    indexer: release.indexer,
    operations: [...measureOperations({ languages: [cqlLanguage({ translator })] }), ...cqlOperations({ translator })],
  })
}

/** The translator shares the thread here. */
const PATIENCE_MS = 60_000

test('what $collect-data gives is enough to evaluate a Measure over nothing else', async () => {
  const different: string[] = []
  let compared = 0
  for (const { resources, probes } of WORLDS)
    for (const probe of probes.filter((_, index) => index % 3 === 0)) {
      const collected = await collectedBy(probe, resources)
      if (collected === undefined) continue
      compared += 1
      const [whole, over] = [await ourReport(probe, resources), await ourReport(probe, collected)]
      if (normalReport(whole).join() !== normalReport(over).join()) different.push(probe.name)
    }
  expect(different).toEqual([])
  expect(compared).toBeGreaterThan(100)
})

/** The collected resources, with the definitions and those that subjects are named by; `undefined` for a Measure that is refused. */
async function collectedBy({ measure, call }: Probe, resources: readonly Resource[]): Promise<readonly Resource[] | undefined> {
  const { periodStart, periodEnd, subject, practitioner } = call
  const ctx = contextOver([measure, ...resources])
  try {
    const found = await collectData(
      ctx,
      { measure: measure.id, periodStart, periodEnd, subject, practitioner },
      { languages: [cqlLanguage({ translator })] },
    )
    const kept = new Set(found.resources.map(({ type, id }) => `${type}/${id}`))
    return resources.filter(({ resourceType, id }) => !CLINICAL.has(resourceType) || kept.has(`${resourceType}/${id}`))
  } catch (error) {
    if (error instanceof OperationError) return undefined
    throw error
  }
}

const CLINICAL = new Set(['Patient', 'Encounter', 'Condition', 'Observation', 'Procedure', 'MedicationRequest'])

/** What clinical reasoning reported, in normalized lines by name. */
function knownFacts(file: string): ReadonlyMap<string, readonly string[]> {
  const facts = gunzipSync(readFileSync(file)).toString('utf8').split('\n')
  return new Map(facts.map((fact) => fact.split('\t')).map(([name = '', ...lines]) => [name, lines]))
}

/** Every line that differs, with the reason: one that a decision covers by its pattern, but that nobody has looked at, shows as a change of the file. */
function linesOf(difference: Difference): readonly string[] {
  const signed = (lines: readonly string[], sign: string): readonly string[] =>
    lines.map((line) => {
      const decision = DECISIONS.find(({ explains }) => explains(line, difference))?.name ?? 'undecided'
      return `${[decision, difference.probe.name, `${sign} ${line}`].join('\t')}\n`
    })
  return [...signed(difference.ours, 'ours'), ...signed(difference.reference, 'reference')]
}

function probeLines(): readonly JsonObject[] {
  return WORLDS.flatMap(({ resources, probes }) => {
    const bundle = bundleOf([...resources, ...probes.map(({ measure }) => measure)])
    return [bundle, ...probes.map(({ measure: { id }, call }) => ({ operation: 'evaluate-measure', measure: id, ...call }))]
  })
}

function bundleOf(resources: readonly Resource[]): JsonObject {
  return { resourceType: 'Bundle', type: 'collection', entry: resources.map((resource) => ({ resource })) }
}

async function askedOracle(command: string, lines: readonly JsonObject[]): Promise<readonly string[]> {
  const program = spawn(command, { shell: true, stdio: ['pipe', 'pipe', 'ignore'] })
  program.stdin.on('error', () => program.kill())
  program.stdin.end(lines.map((line) => JSON.stringify(line)).join('\n'))
  return (await text(program.stdout)).trimEnd().split('\n')
}

function contextOver(resources: readonly Resource[], limits: { readonly operationTimeoutMs?: number } = {}): OperationContext {
  const storage = memoryStorage(resources, { indexer: release.indexer })
  return createContext({ ...release, types, convertUnit: unitConversion(), storage, limits })
}

/** Our report; a call that is refused is reported as such. */
async function ourReport({ measure, call }: Probe, resources: readonly Resource[]): Promise<JsonObject> {
  const ctx = contextOver([measure, ...resources])
  try {
    const result = await evaluateMeasure(ctx, { measure: measure.id, ...call }, { languages: [cqlLanguage({ translator })] })
    return JSON.parse(JSON.stringify(toMeasureReport(result)))
  } catch (error) {
    if (error instanceof OperationError) return { error: error.message }
    throw error
  }
}
