import { r4TypeModel } from '@fhir-ops/r4'
import { describe, expect, it } from 'vitest'
import type { KeptValues } from '../src/compile/compiler.js'
import type { ElmNode } from '../src/elm/node.js'
import { compileLibrary, resourceElement } from '../src/index.js'
import { createEvaluations } from '../src/libraries/evaluate.js'
import type { FhirElement, Value } from '../src/values/value.js'
import { translator } from './translator.fixture.js'

const model = r4TypeModel()
const HEAD = `library T version '1'
using FHIR version '4.0.1'
include FHIRHelpers version '4.0.1'
codesystem "Kinds": 'http://kinds'
code "Visit": 'v' from "Kinds"
parameter "From" DateTime
context Patient
define function Twice(number Integer): number * 2
`

/** A resource that is kept, with its values. */
function kept(json: object): FhirElement & { readonly values: (Value | undefined)[] } {
  const made = resourceElement(model, json)
  if (made === undefined) throw new Error('The type is not known.')
  return { ...made, values: [] }
}

const PATIENT = { resourceType: 'Patient', id: 'p', birthDate: '1980-06-02' }
const ENCOUNTER = {
  resourceType: 'Encounter',
  id: 'e',
  status: 'finished',
  type: [{ coding: [{ system: 'http://kinds', code: 'v' }] }],
  period: { start: '2020-03-01T10:00:00Z' },
}

/** Keeps all values, and lists the expressions that they are of. */
function keptValues(): KeptValues & { readonly expressions: string[] } {
  const places = new Map<ElmNode, number>()
  const expressions: string[] = []
  return {
    expressions,
    placeOf: (expression) => {
      if (!places.has(expression)) expressions.push(String(expression['type']))
      const place = places.get(expression) ?? places.size
      places.set(expression, place)
      return place
    },
    keep: (values, place, value) => {
      values[place] = value
    },
  }
}

describe('what follows from one resource alone is kept with it', () => {
  it.each<[expression: string, kept: readonly string[]]>([
    ['ToDateTime(Patient.birthDate.value)', ['ToDateTime']],
    ['[Encounter] E return all Tuple { status: E.status.value, start: start of E.period }', ['Tuple']],
    [`[Encounter] E where E.status.value = 'finished' and exists (E.type T where T ~ "Visit")`, ['And']],
    [`[Encounter] E return all exists (E.type T where T ~ "Visit")`, ['Exists']],
    ['[Encounter] E return all Tuple { status: E.status.value, late: start of E.period > From }', ['Property', 'Start']],
    ['[Encounter] E return all start of E.period > Now()', ['Start']],
    [`[Encounter] E return all (E.type E return E.id.value)`, ['Query']],
    ['[Encounter] E return all Tuple { a: E.status.value, b: Patient.birthDate.value }', ['Property', 'Property']],
    ['from [Encounter] E, [Encounter] F return all E.id.value = F.id.value', ['Property', 'Property']],
    ['[Encounter] E return all Twice(Length(E.id.value))', ['Property']],
    ['[Encounter] E return all exists [Encounter]', []],
    ['[Encounter] E return all E', []],
    ['1 + 1', []],
  ])('%s: %j', async (expression, wanted) => {
    const { elm } = await translator.translate(`${HEAD}define "X": ${expression}`)
    const subject = kept(PATIENT)
    const encounter = kept(ENCOUNTER)
    const store = keptValues()
    const valueAt = (year: number, keeping: KeptValues | undefined): Value | undefined => {
      const evaluationOf = createEvaluations({ now: () => new Date(Date.UTC(year, 5)) })
      const given = compileLibrary(elm, {
        model,
        convert: (one, other) => (one === other ? 1 : undefined),
        parameters: (name) => (name === 'From' ? evaluationOf({ subject, retrieve: undefined }).now : undefined),
      })
      return given.definition('X')?.compute(evaluationOf({ subject, retrieve: () => [encounter], keptValues: keeping }))
    }
    for (const year of [2019, 2021, 2019]) expect(valueAt(year, store)).toEqual(valueAt(year, undefined))
    expect(store.expressions.toSorted()).toEqual([...wanted].toSorted())
  })
})
