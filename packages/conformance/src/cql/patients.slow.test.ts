import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { evaluateCql, literalText, type LibraryResource } from '@fhir-ops/cql'
import { createTranslator } from '@fhir-ops/cql/translator'
import { r4 } from '@fhir-ops/r4'
import { unitConversion } from '@fhir-ops/registries/ucum'
import { createContext, type OperationContext } from 'fhir-ops/context'
import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { memoryStorage } from 'fhir-ops/memory'
import { expect, test } from 'vitest'
import { describeSuite, suitePath } from '../../../../test/suites.js'
import { alike } from './decisions.js'
import { LIBRARY_HEAD, randomDefinition, VALUE_SET_CODES } from './patient-expressions.js'
import { peerValues } from './peer.js'

const SEED = Number(process.env['FHIR_OPS_CQL_SEED'] ?? 20_200_229)
const DEFINITIONS = Number(process.env['FHIR_OPS_CQL_DEFINITIONS'] ?? 250)
const PATIENTS = Number(process.env['FHIR_OPS_CQL_PATIENTS'] ?? 4)
const NOW = new Date('2020-02-29T12:00:00Z')

describeSuite('synthetic', 'random definitions over synthetic patients, beside cql-execution', () => {
  test('have the same values', { timeout: 1_800_000 }, async () => {
    const elm = await translated()
    const ctx = context()
    const given = { elm, helpers: helpers(), now: NOW, valueSets: VALUE_SET_CODES }
    const counts = { values: 0, refused: 0 }
    const different: object[] = []
    for (const record of records()) {
      const ours = await ourValues(ctx, elm, record)
      const theirs = await peerValues(record, [...ours.keys()], given)
      for (const [name, value] of ours) {
        const other = theirs.get(name) ?? ''
        // A year beyond the last is an error here and in the reference engine (CQL reference, Add), and null in this one.
        if (value.includes('not a date of the years')) counts.refused++
        else if (alike(rounded(value), rounded(other))) counts.values++
        else
          different.push({
            definition: randomDefinition(SEED, Number(name.slice(1))),
            patient: record[0]?.['id'],
            ours: value,
            theirs: other,
          })
      }
    }
    expect(different).toEqual([])
    expect(counts.values).toBeGreaterThan(DEFINITIONS * PATIENTS * 0.8)
  })
})

/** Decimals have 8 digits after the point here; the peer has those of JavaScript. */
function rounded(text: string): string {
  return text.replaceAll(/\b\d{1,20}\.\d{6,40}/g, (digits) => Number(digits).toPrecision(8))
}

/** A library of those definitions that have a type. */
async function translated(): Promise<object> {
  const translator = await createTranslator({ model: r4().types })
  let numbers = Array.from({ length: DEFINITIONS }, (_, number) => number)
  const firstLine = LIBRARY_HEAD.split('\n').length
  for (;;) {
    const source = LIBRARY_HEAD + numbers.map((number) => `define X${number}: ${randomDefinition(SEED, number)}`).join('\n')
    const { elm, problems } = await translator.translate(source)
    const lines = new Set(problems.filter(({ severity }) => severity === 'error').map(({ line = 0 }) => line))
    if (lines.size === 0 && isObject(elm)) return elm
    numbers = numbers.filter((_, index) => !lines.has(index + firstLine))
  }
}

function context(): OperationContext {
  const { indexer, ...release } = r4()
  const valueSets = Object.entries(VALUE_SET_CODES).map(([url, codes], index) => ({
    resourceType: 'ValueSet',
    id: `vs${index}`,
    url,
    status: 'active',
    compose: { include: codes.map(([system, code]) => ({ system, concept: [{ code }] })) },
  }))
  const storage = memoryStorage(valueSets, { indexer })
  return createContext({ ...release, storage, convertUnit: unitConversion(), now: () => NOW, limits: { operationTimeoutMs: 600_000 } })
}

async function ourValues(ctx: OperationContext, elm: object, record: readonly JsonObject[]): Promise<ReadonlyMap<string, string>> {
  const data = Buffer.from(JSON.stringify(elm)).toString('base64')
  const library: LibraryResource = {
    resourceType: 'Library',
    status: 'active',
    type: { text: 'logic-library' },
    content: [{ contentType: 'application/elm+json', data }],
  }
  const input = { library, subject: `Patient/${stringAt(record[0], 'id')}`, data: record }
  const { values, failures } = await evaluateCql(ctx, input, { maxSteps: 100_000_000 })
  return new Map([
    ...[...values].map(([name, value]) => [name, literalText(value)] as const),
    ...[...failures].map(([name, error]) => [name, error.message] as const),
  ])
}

/** FHIRHelpers of the suites of measures, for the peer, which has no conversions of its own. */
function helpers(): object {
  const bundle: JsonObject = JSON.parse(readFileSync(suitePath('measure-tests', 'libraries', 'FHIRHelpers-4.0.1.json'), 'utf8'))
  const contents = objectsAt(bundle, 'entry').flatMap((entry) => objectsAt(objectAt(entry, 'resource'), 'content'))
  const elm = contents.find(({ contentType }) => contentType === 'application/elm+json')
  return JSON.parse(Buffer.from(stringAt(elm, 'data') ?? '', 'base64').toString('utf8'))
}

/** Types, and the element that names the patient. */
const TYPES: readonly (readonly [type: string, subject: string])[] = [
  ...['Observation', 'Condition', 'Encounter', 'Procedure', 'MedicationRequest', 'CarePlan', 'DiagnosticReport'].map(
    (type) => [type, 'subject'] as const,
  ),
  ['Immunization', 'patient'],
  ['AllergyIntolerance', 'patient'],
]

/** Patients, each with what refers to it. */
function records(): readonly (readonly JsonObject[])[] {
  const patients = resourcesOf('Patient').slice(0, PATIENTS)
  const found = new Map(patients.map((patient) => [`Patient/${stringAt(patient, 'id')}`, [patient]]))
  for (const [type, subject] of TYPES)
    for (const resource of resourcesOf(type)) found.get(stringAt(objectAt(resource, subject), 'reference') ?? '')?.push(resource)
  return [...found.values()]
}

function resourcesOf(type: string): readonly JsonObject[] {
  const text = gunzipSync(readFileSync(suitePath('synthetic', 'synthea-r4-150', `${type}.ndjson.gz`))).toString('utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}
