import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import { cqlLanguage } from '@fhir-ops/cql'
import { createTranslator, type CqlTranslator } from '@fhir-ops/cql/translator'
import { r4 } from '@fhir-ops/r4'
import { unitConversion } from '@fhir-ops/registries/ucum'
import { createContext } from 'fhir-ops/context'
import { evaluateMeasure, toMeasureReport } from 'fhir-ops/evaluate'
import { OperationError } from 'fhir-ops/errors'
import type { JsonObject } from 'fhir-ops/internal/json'
import { memoryStorage } from 'fhir-ops/memory'
import { beforeAll, describe, expect, test } from 'vitest'
import { DECISIONS, type Difference } from './probes/decisions.js'
import { randomProbe, type Probe } from './probes/measures.js'
import { normalReport } from './probes/normal-report.js'
import { CLINIC } from './probes/clinic.js'
import { LIBRARY, RECORDS, type Resource } from './probes/ward.js'
import { WRITTEN } from './probes/written.js'

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
    const reports = (await askedOracle(ORACLE ?? '')).map((line): JsonObject => JSON.parse(line))
    const facts = WORLDS.flatMap(({ probes }) => probes).map(({ name }, at) => [name, ...normalReport(reports[at] ?? {})].join('\t'))
    writeFileSync(FILE, gzipSync(facts.join('\n'), { level: 9 }))
  })

  test('differ only where it has been decided', async () => {
    const facts = gunzipSync(readFileSync(FILE)).toString('utf8').split('\n')
    const known = new Map(facts.map((fact) => fact.split('\t')).map(([name, ...lines]) => [name, lines]))
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

/** Every line that differs, with the reason: one that a decision covers by its pattern, but that nobody has looked at, shows as a change of the file. */
function linesOf(difference: Difference): readonly string[] {
  const signed = (lines: readonly string[], sign: string): readonly string[] =>
    lines.map((line) => {
      const decision = DECISIONS.find(({ explains }) => explains(line, difference))?.name ?? 'undecided'
      return `${[decision, difference.probe.name, `${sign} ${line}`].join('\t')}\n`
    })
  return [...signed(difference.ours, 'ours'), ...signed(difference.reference, 'reference')]
}

async function askedOracle(command: string): Promise<readonly string[]> {
  const lines = WORLDS.flatMap(({ resources, probes }) => {
    const all = [...resources, ...probes.map(({ measure }) => measure)]
    const bundle = { resourceType: 'Bundle', type: 'collection', entry: all.map((resource) => ({ resource })) }
    return [bundle, ...probes.map(({ measure: { id }, call }) => ({ operation: 'evaluate-measure', measure: id, ...call }))]
  })
  const program = spawn(command, { shell: true, stdio: ['pipe', 'pipe', 'ignore'] })
  program.stdin.on('error', () => program.kill())
  program.stdin.end(lines.map((line) => JSON.stringify(line)).join('\n'))
  return (await text(program.stdout)).trimEnd().split('\n')
}

/** Our report; a call that is refused is reported as such. */
async function ourReport({ measure, call }: Probe, resources: readonly Resource[]): Promise<JsonObject> {
  const storage = memoryStorage([measure, ...resources], { indexer: release.indexer })
  const ctx = createContext({ ...release, types, convertUnit: unitConversion(), storage })
  try {
    const result = await evaluateMeasure(ctx, { measure: measure.id, ...call }, { languages: [cqlLanguage({ translator })] })
    return JSON.parse(JSON.stringify(toMeasureReport(result)))
  } catch (error) {
    if (error instanceof OperationError) return { error: error.message }
    throw error
  }
}
