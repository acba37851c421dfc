import fc from 'fast-check'
import { expect, it } from 'vitest'
import { rounds } from '../../../../test/effort.js'
import { codeSystem, contextOf, cs, valueSet, vs } from '../../test/terminology-content.js'
import { createContext, type OperationContext } from '../context/index.js'
import { OperationError } from '../errors/index.js'
import type { JsonObject } from '../json/index.js'
import { memoryStorage } from '../memory/index.js'
import { plannedValueSet } from '../terminology/index.js'
import { quickValidation, answerInValueSet } from './validate-code.js'
import { givenValue, type LooseValueSetInput } from './input.js'

const STANDARDS_STATUS = 'http://hl7.org/fhir/StructureDefinition/structuredefinition-standards-status'

/** Mostly absent, as most of what can be said in a definition or asked in a request is not. */
function seldom<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: 7, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary })
}

const concept = (code: string): fc.Arbitrary<JsonObject> =>
  fc.record({
    code: fc.constant(code),
    display: fc.constantFrom('One', 'Two', undefined),
    designation: seldom(fc.constant([{ value: 'Eins', language: 'de' }])),
    property: seldom(
      fc.constantFrom(
        [{ code: 'inactive', valueBoolean: true }],
        [{ code: 'notSelectable', valueBoolean: true }],
        [{ code: 'status', valueCode: 'deprecated' }],
      ),
    ),
    concept: fc.constant([{ code: `${code}1`, display: 'Below' }]),
  })

const listed = fc.record({
  code: fc.constantFrom('a', 'A', 'b1', 'x'),
  display: seldom(fc.constantFrom('Listed', 'One')),
  extension: seldom(fc.constant([{ url: STANDARDS_STATUS, valueCode: 'deprecated' }])),
})

const filter = fc.constantFrom(
  { property: 'concept', op: 'is-a', value: 'a' },
  { property: 'display', op: 'regex', value: 'O.*' },
  { property: 'concept', op: 'near', value: 'a' },
)

const element = fc.record({
  system: fc.constantFrom(cs('s'), cs('s'), cs('other'), cs('gone')),
  version: seldom(fc.constantFrom('1', '9')),
  concept: seldom(fc.array(listed, { minLength: 1, maxLength: 2 })),
  filter: seldom(fc.array(filter, { minLength: 1, maxLength: 2 })),
  valueSet: seldom(fc.constantFrom([vs('inner')], [vs('gone')])),
})

const definition = fc.record({
  concepts: fc.tuple(concept('a'), concept('b')),
  status: fc.constantFrom('active', 'active', 'active', 'draft'),
  caseSensitive: fc.constantFrom(true, false, undefined),
  content: fc.constantFrom('complete', 'complete', 'complete', 'fragment'),
  include: fc.array(element, { minLength: 1, maxLength: 2 }),
  exclude: seldom(fc.tuple(element)),
  language: seldom(fc.constant('de')),
  inactive: seldom(fc.boolean()),
})

const coding = fc.record({
  system: fc.constantFrom(cs('s'), cs('s'), cs('s'), cs('other'), cs('gone'), undefined),
  version: seldom(fc.constantFrom('1', '9')),
  code: fc.constantFrom('a', 'A', 'a1', 'b', 'b1', 'x', '__proto__'),
  display: seldom(fc.constantFrom('One', 'one', 'Eins', 'Listed', 'Wrong')),
})

const input = fc.record({
  value: fc.oneof(
    { weight: 2, arbitrary: coding },
    { weight: 2, arbitrary: coding.map((one) => ({ coding: one })) },
    { weight: 1, arbitrary: fc.array(coding, { minLength: 1, maxLength: 2 }).map((codings) => ({ codeableConcept: { coding: codings } })) },
  ),
  abstract: seldom(fc.constant(false)),
  activeOnly: seldom(fc.constant(true)),
  lenientDisplay: seldom(fc.constant(true)),
  membershipOnly: seldom(fc.constant(true)),
  displayLanguage: seldom(fc.constant('de')),
  inferSystem: seldom(fc.constant(true)),
})

function resourcesOf({ concepts, status, caseSensitive, content, ...set }: Drawn): readonly JsonObject[] {
  const { include, exclude, inactive, language } = set
  return [
    codeSystem('s', concepts, { version: '1', status, caseSensitive, content }),
    codeSystem('other', [{ code: 'a', display: 'One' }]),
    valueSet('inner', { include: [{ system: cs('s') }] }),
    valueSet('outer', { include, exclude, inactive }, { language }),
  ].map((resource, i) => JSON.parse(JSON.stringify({ id: `r${i}`, ...resource })))
}

type Drawn = typeof definition extends fc.Arbitrary<infer T> ? T : never

/** A context whose definitions are stored, so that what is made of them is kept. */
function storedContext(resources: readonly JsonObject[]): OperationContext {
  return createContext({ storage: memoryStorage(resources) })
}

/** What comes of a validation, or why it was refused. */
async function answered(ctx: OperationContext, question: LooseValueSetInput): Promise<unknown> {
  try {
    return await answerInValueSet(ctx, question)
  } catch (error) {
    if (error instanceof OperationError) return `${error.code} ${error.message}`
    throw error
  }
}

it('an answer from what is kept is the one over definitions of which nothing is kept', async () => {
  await fc.assert(
    fc.asyncProperty(definition, fc.array(input, { minLength: 1, maxLength: 8 }), async (drawn, inputs) => {
      const resources = resourcesOf(drawn)
      const [kept, fresh] = [storedContext(resources), contextOf(...resources)]
      for (const { value, ...options } of inputs) {
        const question = { url: vs('outer'), ...value, ...options }
        const expected = await answered(fresh, question)
        expect([question, await answered(kept, question)]).toEqual([question, expected])
        expect([question, await answered(kept, question)]).toEqual([question, expected])
      }
    }),
    { numRuns: rounds({ quick: 40, all: 300 }) },
  )
})

it.each([
  ['inactive', { property: [{ code: 'inactive', valueBoolean: true }] }, {}],
  ['abstract', { property: [{ code: 'notSelectable', valueBoolean: true }] }, {}],
  ['deprecated', { property: [{ code: 'status', valueCode: 'deprecated' }] }, {}],
  ['deprecated in the value set', {}, { concept: [{ code: 'a', extension: [{ url: STANDARDS_STATUS, valueCode: 'deprecated' }] }] }],
])('a code that is %s is answered with what there is to say', async (_, about, include) => {
  const resources = [
    { id: 's', ...codeSystem('s', [{ code: 'a', display: 'One', ...about }]) },
    { id: 'all', ...valueSet('all', { include: [{ system: cs('s'), ...include }] }) },
  ]
  const question = { url: vs('all'), coding: { system: cs('s'), code: 'a' }, abstract: false }
  const kept = storedContext(resources)
  const expected = await answerInValueSet(contextOf(...resources), question)
  expect(expected.issues).not.toEqual([])
  expect(await answerInValueSet(kept, question)).toEqual(expected)
  expect(await answerInValueSet(kept, question)).toEqual(expected)
})

it('a good code is answered without a second look at what the value set refers to', async () => {
  const ctx = storedContext([
    { id: 's', ...codeSystem('s', [{ code: 'a', display: 'One', concept: [{ code: 'b' }] }]) },
    { id: 'below', ...valueSet('below', { include: [{ system: cs('s'), filter: [{ property: 'concept', op: 'is-a', value: 'a' }] }] }) },
  ])
  const asked = async (code: string): Promise<boolean | undefined> => {
    const question = { url: vs('below'), coding: { system: cs('s'), code } }
    return quickValidation(await plannedValueSet(ctx, question), givenValue(question), question)?.result
  }
  expect(await asked('b')).toBeUndefined()
  expect(await asked('b')).toBe(true)
  expect(await asked('x')).toBeUndefined()
})
