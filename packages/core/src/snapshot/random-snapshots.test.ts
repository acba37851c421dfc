import fc from 'fast-check'
import { createContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { objectAt, objectsAt, type JsonObject } from 'fhir-ops/internal/json'
import { memoryStorage } from 'fhir-ops/memory'
import { r4 } from '@fhir-ops/r4'
import { expect, test } from 'vitest'
import { rounds } from '../../../../test/effort.js'
import { generateSnapshot } from './index.js'

const SD = 'http://hl7.org/fhir/StructureDefinition/'
const ctx = createContext({ storage: memoryStorage(), ...r4() })
const TYPES = ['Patient', 'Observation', 'Questionnaire', 'Bundle', 'Extension', 'Quantity']
const STEPS = [
  'name',
  'item',
  'component',
  'code',
  'coding',
  'extension',
  'value[x]',
  'valueQuantity',
  'valueString',
  'system',
  'entry',
  'resource',
  'id',
  'no',
  '',
]

const elements = (type: string): fc.Arbitrary<JsonObject[]> =>
  fc.array(
    fc.record(
      {
        path: fc.array(fc.constantFrom(...STEPS), { maxLength: 4 }).map((steps) => [type, ...steps].join('.')),
        sliceName: fc.constantFrom('a', 'b', 'a/b', 'valueQuantity', ''),
        min: fc.constantFrom(0, 1, -1, 'x'),
        max: fc.constantFrom('0', '1', '*', 3),
        short: fc.constantFrom('...more', 'text', 7),
        slicing: fc.constantFrom({ rules: 'open' }, { rules: 'closed', discriminator: [{ type: 'value', path: '$this' }] }, 'x'),
        type: fc.constantFrom(
          [{ code: 'Quantity' }],
          [{ code: 'Reference', profile: [`${SD}Nothing`] }],
          [{}],
          [{ code: 'string' }, { code: 'Coding' }],
          'x',
        ),
        contentReference: fc.constantFrom('#Questionnaire.item', '#', ''),
        constraint: fc.constantFrom([{ key: 'a' }], [{ key: 'ele-1', expression: 'true' }], ['x']),
      },
      { requiredKeys: ['path'] },
    ),
    { maxLength: 12 },
  )

/** Definitions on one another, the last of a type of FHIR. */
const chains = fc.constantFrom(...TYPES).chain((type) =>
  fc.array(elements(type), { minLength: 1, maxLength: 3 }).map((layers) =>
    layers.map((element, index) => ({
      resourceType: 'StructureDefinition',
      id: `p${index}`,
      url: `http://example.org/p${index}`,
      type,
      derivation: 'constraint',
      baseDefinition: index + 1 === layers.length ? SD + type : `http://example.org/p${index + 1}`,
      differential: { element },
    })),
  ),
)

test('a snapshot of any differential keeps all elements of the base, each once, in their order, or is refused with a reason', async () => {
  await fc.assert(
    fc.asyncProperty(chains, async (chain) => {
      const own = createContext({ storage: memoryStorage(chain), ...r4() })
      const [definition] = chain
      if (definition === undefined) return
      const base = idsOf((await generateSnapshot(ctx, { url: SD + definition.type })).definition)
      const made = await generateSnapshot(own, { definition }).catch((error: unknown) => {
        if (error instanceof OperationError) return error.message
        throw error
      })
      if (typeof made === 'string') {
        expect(made).toMatch(/no differential|differential is of/)
        return
      }
      const ids = idsOf(made.definition)
      expect(new Set(ids).size).toBe(ids.length)
      expect(ids.filter((id) => base.includes(id))).toEqual(base)
    }),
    { numRuns: rounds({ quick: 40, all: 150 }) },
  )
})

test('a definition of many elements lets others run, and one of too many is refused', async () => {
  const slices = (count: number): JsonObject[] =>
    Array.from({ length: count }, (_, index) => ({ path: 'Observation.component', sliceName: `s${index}` }))
  const slicing = { discriminator: [{ type: 'value', path: 'code' }], rules: 'open' }
  const definition = (count: number): object => ({
    resourceType: 'StructureDefinition',
    url: 'http://example.org/large',
    type: 'Observation',
    derivation: 'constraint',
    baseDefinition: `${SD}Observation`,
    differential: { element: [{ path: 'Observation.component', slicing }, ...slices(count)] },
  })
  let turns = 0
  let isDone = false
  const count = (): void => {
    turns++
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  const { problems } = await generateSnapshot(ctx, { definition: definition(3000) })
  isDone = true
  expect(problems).toEqual([])
  expect(turns).toBeGreaterThan(3)
  await expect(generateSnapshot(ctx, { definition: definition(12_000) })).rejects.toMatchObject({ code: 'too-costly' })
  const deep = { ...definition(0), type: 'Questionnaire', baseDefinition: `${SD}Questionnaire` }
  const element = [{ path: `Questionnaire${'.item'.repeat(50_000)}.text` }]
  await expect(generateSnapshot(ctx, { definition: { ...deep, differential: { element } } })).rejects.toMatchObject({ code: 'too-costly' })
})

function idsOf(definition: JsonObject): readonly unknown[] {
  return objectsAt(objectAt(definition, 'snapshot'), 'element').map(({ id }) => id)
}
