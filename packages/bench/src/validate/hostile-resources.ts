import { r4 } from '@fhir-ops/r4'
import { createContext, forRequest } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import type { JsonObject } from 'fhir-ops/internal/json'
import { memoryStorage } from 'fhir-ops/memory'
import { validate } from 'fhir-ops/validate'
import { markdownTable } from '../markdown.js'
import { stretch } from '../terminology/stretch.js'

const many = <T>(count: number, make: (index: number) => T): readonly T[] => Array.from({ length: count }, (_, index) => make(index))
const loinc = (code: string): JsonObject => ({ coding: [{ system: 'http://loinc.org', code }] })
const withNarrative = (inside: string): JsonObject => ({
  resourceType: 'Patient',
  text: { status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">${inside}</div>` },
})

const NAME = 'http://hl7.org/fhir/SearchParameter/individual-family'

const RESOURCES: readonly (readonly [string, () => JsonObject])[] = [
  [
    '30,000 unknown extensions',
    () => ({ resourceType: 'Patient', extension: many(30_000, (i) => ({ url: `http://x.y/${i}`, valueCode: 'a' })) }),
  ],
  ['30,000 names', () => ({ resourceType: 'Patient', name: many(30_000, (i) => ({ family: `${i}`, given: ['a'] })) })],
  ['200,000 given names', () => ({ resourceType: 'Patient', name: [{ given: many(200_000, String) }] })],
  [
    '20,000 components in slices',
    () => ({
      resourceType: 'Observation',
      status: 'final',
      code: loinc('85354-9'),
      component: many(20_000, (i) => ({ code: loinc(`${i}`) })),
    }),
  ],
  ['narrative of 10 MB of tags', () => withNarrative('<p>a</p>'.repeat(1_300_000))],
  ['narrative of 10 MB of references', () => withNarrative('&amp;'.repeat(2_000_000))],
  [
    'Bundle of 20,000 entries',
    () => ({
      resourceType: 'Bundle',
      type: 'collection',
      entry: many(20_000, (i) => ({
        fullUrl: `http://x.y/Basic/${i}`,
        resource: { resourceType: 'Basic', id: `${i}`, code: { text: 'x' } },
      })),
    }),
  ],
  [
    'code system of 50,000 concepts',
    () => ({
      resourceType: 'CodeSystem',
      url: 'http://x.y/c',
      status: 'active',
      content: 'complete',
      concept: many(50_000, (i) => ({ code: `c${i}` })),
    }),
  ],
  ['tree of 64,000 parameters', () => ({ resourceType: 'Parameters', parameter: many(40, () => parameterTree(2)) })],
  ['100,000 unknown names', () => ({ resourceType: 'Patient', ...Object.fromEntries(many(100_000, (i) => [`p${i}`, 1])) })],
  [
    'profile of 5,000 slices',
    () => ({
      resourceType: 'StructureDefinition',
      url: 'http://x.y/p',
      name: 'P',
      status: 'active',
      kind: 'resource',
      abstract: false,
      type: 'Patient',
      baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Patient',
      derivation: 'constraint',
      differential: {
        element: [
          { path: 'Patient' },
          { path: 'Patient.identifier', slicing: { discriminator: [{ type: 'value', path: 'system' }], rules: 'open' } },
          ...many(5_000, (i) => [
            { path: 'Patient.identifier', sliceName: `s${i}` },
            { path: 'Patient.identifier.system', min: 1, fixedUri: `http://x.y/${i}` },
          ]).flat(),
        ],
      },
    }),
  ],
  [
    'questionnaire of 10,000 items',
    () => ({
      resourceType: 'Questionnaire',
      status: 'active',
      item: many(10_000, (i) => ({
        linkId: `q${i}`,
        type: 'boolean',
        ...(i > 0 && { enableWhen: [{ question: `q${i - 1}`, operator: 'exists', answerBoolean: true }] }),
      })),
    }),
  ],
  [
    'response to a questionnaire of 10,000 items',
    () => ({
      resourceType: 'QuestionnaireResponse',
      contained: [
        { resourceType: 'Questionnaire', id: 'q', status: 'active', item: many(10_000, (i) => ({ linkId: `q${i}`, type: 'string' })) },
      ],
      questionnaire: '#q',
      status: 'completed',
      item: many(10_000, (i) => ({ linkId: `q${i}`, answer: [{ valueString: 'a' }] })),
    }),
  ],
  [
    'capabilities of 30,000 search parameters',
    () => ({
      resourceType: 'CapabilityStatement',
      status: 'active',
      date: '2026',
      kind: 'capability',
      fhirVersion: '4.0.1',
      format: ['json'],
      rest: [{ mode: 'server', searchParam: many(30_000, (i) => ({ name: `p${i}`, type: 'string', definition: NAME })) }],
    }),
  ],
  ['narrative of 100,000 links', () => withNarrative(many(100_000, (i) => `<a href="#x${i}">a</a>`).join(''))],
]

function parameterTree(depth: number): JsonObject {
  return { name: 'a', ...(depth === 0 ? { valueCode: 'b' } : { part: many(40, () => parameterTree(depth - 1)) }) }
}

/** How long resources that are designed to be costly block other work, with the time limit of a server. */
export async function hostileResources(): Promise<string> {
  const ctx = createContext({ storage: memoryStorage(), ...r4() })
  const rows: string[][] = []
  for (const [name, make] of RESOURCES) {
    const resource = JSON.stringify(make())
    let answer = ''
    const { ms, longest, busy } = await stretch(async () => (answer = await answerTo(forRequest(ctx, {}), resource)))
    rows.push([name, ms, longest, busy, answer])
  }
  return markdownTable(['resource, from text', 'ms', 'longest stretch ms', 'in processor time ms', 'answer'], rows)
}

async function answerTo(ctx: Parameters<typeof validate>[0], resource: string): Promise<string> {
  try {
    return `${(await validate(ctx, { resource })).findings.length} findings`
  } catch (error) {
    if (error instanceof OperationError) return error.code
    throw error
  }
}
