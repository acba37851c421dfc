import { r4TypeModel } from '@fhir-ops/r4'
import { expect, it } from 'vitest'
import { compileLibrary, createEvaluation, resourceElement } from '../src/index.js'
import { translator } from './translator.fixture.js'

const model = r4TypeModel()

const TEXT = `library T version '1'
using FHIR version '4.0.1'
include FHIRHelpers version '4.0.1'
codesystem "S": 'http://s'
valueset "V": 'http://v'
code "X": 'x' from "S"
code "Y": 'y' from "S"
concept "Some": { "X", "Y" }
parameter "Unknown" Concept
context Patient
define Tests: [Observation] O return all Tuple {
  id: O.id.value,
  code: O.code ~ "X",
  concept: O.code ~ "Some",
  unlike: not (O.code ~ "X"),
  unknown: O.code ~ "Unknown",
  inside: O.code in "V",
  any: exists (O.category C where C in "V")
}
`

/** What a CodeableConcept may be, also such as FHIR does not allow. */
const CODES: readonly unknown[] = [
  { coding: [{ system: 'http://s', code: 'x' }] },
  {
    coding: [
      { system: 'http://other', code: 'x' },
      { system: 'http://s', code: 'y' },
    ],
  },
  { coding: [{ code: 'x' }] },
  { coding: [{ system: 'http://s' }, { system: 'http://s', code: 7 }] },
  { coding: [null, 'x', { system: 'http://s', code: 'x' }] },
  { coding: { system: 'http://s', code: 'x' } },
  { coding: [] },
  { text: 'x' },
  {},
  null,
]

it('codes are asked of what is recorded as of the concept that is made of it', async () => {
  const { elm, problems } = await translator.translate(TEXT)
  expect(problems).toEqual([])
  const terminology = {
    membership: () => (system: string | undefined, code: string) => code === 'x' && (system === undefined || system === 'http://s'),
    expansion: () => () => [],
    subsumption: () => () => false,
  }
  const options = { model, convert: () => undefined, terminology }
  const resources = CODES.flatMap((code, n) => {
    const made = resourceElement(model, { resourceType: 'Observation', id: `o${n}`, ...(n % 2 === 0 && { category: [code, {}] }), code })
    return made === undefined ? [] : [made]
  })
  const valueOf = (library: ReturnType<typeof compileLibrary>): unknown =>
    library.definition('Tests')?.compute(createEvaluation({ now: new Date(0), retrieve: () => resources }))
  const plain = valueOf(compileLibrary(elm, options))
  // Where somebody looks on, the concepts are made.
  expect(plain).toEqual(valueOf(compileLibrary(elm, { ...options, trace: (compute) => compute })))
  expect(plain).toHaveLength(CODES.length)
})
