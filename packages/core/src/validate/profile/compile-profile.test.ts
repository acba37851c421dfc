import { r4TypeModel } from '@fhir-ops/r4'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../json/index.js'
import type { Profile } from '../run/element-rule.js'
import { compileProfile } from './compile-profile.js'

const model = r4TypeModel()

interface Compiled {
  readonly profile: Profile
  readonly pieces: number
}

function compiled(element: readonly JsonObject[], form: 'differential' | 'snapshot' = 'differential'): Compiled {
  const definition = {
    resourceType: 'StructureDefinition',
    url: 'http://x/p',
    type: 'Patient',
    derivation: 'constraint',
    baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Patient',
    [form]: { element },
  }
  const work = compileProfile(definition, model, [])
  for (let pieces = 1; ; pieces++) {
    const step = work.next()
    if (step.done === true) return { profile: step.value, pieces }
  }
}

const many = (count: number, element: (n: number) => JsonObject): readonly JsonObject[] =>
  Array.from({ length: count }, (_, n) => element(n))
const slice = (sliceName: string): JsonObject => ({ path: 'Patient.contact', sliceName })
const long = 'x'.repeat(1_001)

describe('a StructureDefinition', () => {
  it('of many elements is compiled while others run', () => {
    expect(compiled(many(20_000, (n) => ({ id: `Patient.contact.name.x${n}`, path: 'Patient.contact.name' }))).pieces).toBeGreaterThan(400)
    expect(compiled(many(2_000, (n) => ({ path: `Patient.x${n}.a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t` }))).pieces).toBeGreaterThan(400)
    expect(compiled([{ path: 'Patient' }]).pieces).toBeLessThan(10)
  })

  it.each<[string, readonly JsonObject[], string]>([
    ['a long path', [{ path: `Patient.${long}` }], 'a path of more than 1000 characters'],
    ['a long id', [{ path: 'Patient.contact', id: long }], 'an id of more than 1000 characters'],
    ['a slice with a long name', [slice(long)], 'a sliceName of more than 1000 characters'],
    [
      'elements whose id follows from long names',
      [slice('x'.repeat(600)), { path: 'Patient.contact.name', sliceName: 'y'.repeat(600) }],
      'an id of more than 1000 characters',
    ],
    ['many slices of an element', many(1_001, (n) => slice(`s${n}`)), "more than 1000 slices of 'Patient.contact'"],
    ['many slices of a slice', [slice('a'), ...many(1_001, (n) => slice(`a/s${n}`))], "more than 1000 slices of 'Patient.contact'"],
    [
      'many invariants of an element',
      [{ path: 'Patient', constraint: many(1_001, (n) => ({ key: `k${n}`, expression: 'id' })) }],
      'more than 1000 invariants of one element',
    ],
    [
      'paths with many elements that are not stated',
      many(300, (n) => ({ path: `Patient.x${n}${'.a'.repeat(450)}` })),
      'more than 100000 elements and invariants',
    ],
  ])('with %s is refused', (_, elements, words) => {
    expect(() => compiled(elements)).toThrow(words)
  })

  it('with a snapshot with many references to an element with many invariants is refused', () => {
    const elements = [
      { path: 'Patient.contact', id: 'c', constraint: many(1_000, (n) => ({ key: `k${n}`, expression: 'id' })) },
      ...many(200, (n) => ({ path: 'Patient.link', sliceName: `s${n}`, id: `s${n}`, contentReference: '#c' })),
    ]
    expect(() => compiled(elements, 'snapshot')).toThrow('more than 100000 elements and invariants')
  })

  it('has slices of slices where their names say so, whatever of them is stated', () => {
    const { profile } = compiled(['a', 'a/b', 'a/b/c', 'd/e', 'd/e/f', 'd'].map(slice))
    const contact = profile.root.children.get('contact')
    expect(contact?.slices.map(({ sliceName, slices }) => [sliceName, ...slices.map((inner) => inner.sliceName)])).toEqual([
      ['a', 'a/b', 'a/b/c'],
      ['d/e', 'd/e/f'],
      ['d'],
    ])
  })
})
