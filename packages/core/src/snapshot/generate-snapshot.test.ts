import { createContext, type OperationContext } from 'fhir-ops/context'
import { isObject, objectAt, objectsAt, type JsonObject } from 'fhir-ops/internal/json'
import { memoryStorage } from 'fhir-ops/memory'
import { r4 } from '@fhir-ops/r4'
import { describe, expect, test } from 'vitest'
import { generateSnapshot, type SnapshotResult } from './index.js'

const SD = 'http://hl7.org/fhir/StructureDefinition/'
const OWN = 'http://example.org/fhir/StructureDefinition/'

function contextWith(...resources: readonly object[]): OperationContext {
  return createContext({ storage: memoryStorage(resources), ...r4() })
}

const plain = contextWith()

function profile(name: string, type: string, element: readonly object[], more: object = {}): JsonObject {
  return {
    resourceType: 'StructureDefinition',
    id: name,
    url: OWN + name,
    name,
    status: 'active',
    kind: 'resource',
    abstract: false,
    type,
    baseDefinition: SD + type,
    derivation: 'constraint',
    differential: { element },
    ...more,
  }
}

async function made(element: readonly object[], { type = 'Observation', ctx = plain } = {}): Promise<SnapshotResult> {
  return generateSnapshot(ctx, { definition: profile('own', type, element) })
}

function elementsOf({ definition }: SnapshotResult): readonly JsonObject[] {
  return objectsAt(objectAt(definition, 'snapshot'), 'element')
}

function at(result: SnapshotResult, id: string): JsonObject {
  const found = elementsOf(result).find((element) => element['id'] === id)
  if (found === undefined) throw new Error(`no ${id} in ${ids(result).join(' ')}`)
  return found
}

function ids(result: SnapshotResult, start = ''): readonly string[] {
  return elementsOf(result).flatMap(({ id }) => (typeof id === 'string' && id.startsWith(start) ? [id] : []))
}

const path = (text: string, more: object = {}): object => ({ id: text, path: text.replaceAll(/:[^.]*/g, ''), ...more })

describe('an element of the differential', () => {
  test('takes the place of what the base says, and the rest stays', async () => {
    const result = await made([
      path('Observation'),
      path('Observation.status', { min: 1, short: 'final only', fixedCode: 'final', mustSupport: true }),
    ])
    expect(result.problems).toEqual([])
    expect(at(result, 'Observation.status')).toMatchObject({
      min: 1,
      max: '1',
      short: 'final only',
      fixedCode: 'final',
      mustSupport: true,
      isModifier: true,
      binding: { strength: 'required' },
      base: { path: 'Observation.status', min: 1, max: '1' },
    })
    const base = await generateSnapshot(plain, { url: `${SD}Observation` })
    expect(ids(result)).toEqual(ids(base))
  })

  test('adds constraints, with their source, and mappings and aliases to those of the base', async () => {
    const first = profile('first', 'Observation', [
      path('Observation.code', {
        alias: ['a'],
        mapping: [{ identity: 'm', map: '1' }],
        constraint: [{ key: 'one-1', severity: 'error', human: 'one', expression: 'true' }],
      }),
    ])
    const own = profile(
      'own',
      'Observation',
      [
        path('Observation.code', {
          alias: ['b', 'a'],
          mapping: [{ identity: 'm', map: '2' }],
          constraint: [{ key: 'own-1', severity: 'warning', human: 'own', expression: 'true' }],
        }),
      ],
      { baseDefinition: `${OWN}first` },
    )
    const code = at(await generateSnapshot(contextWith(first), { definition: own }), 'Observation.code')
    expect(code['alias']).toEqual(['a', 'b'])
    expect(code['mapping']).toEqual([
      { identity: 'm', map: '1' },
      { identity: 'm', map: '2' },
    ])
    expect(objectsAt(code, 'constraint').map(({ key, source }) => [key, source])).toEqual([
      ['ele-1', `${SD}Element`],
      ['one-1', `${OWN}first`],
      ['own-1', `${OWN}own`],
    ])
  })

  test('goes on from a text of the base after three dots', async () => {
    const first = profile('first', 'Observation', [path('Observation.code', { definition: 'What was seen.', comment: 'As told.' })])
    const own = profile('own', 'Observation', [path('Observation.code', { definition: '...And how.', comment: 'New.' })], {
      baseDefinition: `${OWN}first`,
    })
    const code = at(await generateSnapshot(contextWith(first), { definition: own }), 'Observation.code')
    expect([code['definition'], code['comment']]).toEqual(['What was seen.\r\nAnd how.', 'New.'])
  })

  test('cannot take back that it modifies others', async () => {
    const result = await made([path('Observation.status', { isModifier: false })])
    expect(at(result, 'Observation.status')['isModifier']).toBe(true)
  })

  test('may state a part of a binding', async () => {
    const { binding: known } = at(await made([path('Observation')]), 'Observation.code')
    const result = await made([path('Observation.code', { binding: { strength: 'required' } })])
    expect(known).toMatchObject({ strength: 'example' })
    expect(at(result, 'Observation.code')['binding']).toEqual({ strength: 'required', valueSet: Reflect.get(Object(known), 'valueSet') })
  })

  test('has no binding if none of its types can be bound', async () => {
    const first = profile('first', 'Observation', [
      path('Observation.value[x]', { binding: { strength: 'required', valueSet: 'http://example.org/fhir/ValueSet/values' } }),
    ])
    const own = profile('own', 'Observation', [path('Observation.value[x]', { type: [{ code: 'dateTime' }, { code: 'Period' }] })], {
      baseDefinition: `${OWN}first`,
    })
    const ctx = contextWith(first)
    expect(at(await generateSnapshot(ctx, { definition: first }), 'Observation.value[x]')).toHaveProperty('binding')
    expect(at(await generateSnapshot(ctx, { definition: own }), 'Observation.value[x]')).not.toHaveProperty('binding')
  })

  test.each([
    { name: 'a weaker one', known: 'error', own: { severity: 'warning', expression: 'true' }, kept: 'error true' },
    { name: 'a stricter one', known: 'warning', own: { severity: 'error', expression: 'true' }, kept: 'error true' },
    { name: 'another one', known: 'error', own: { severity: 'error', expression: 'name.exists()' }, kept: 'error true' },
  ])('keeps a constraint of the base beside $name with its key, unless that is stricter', async ({ known, own, kept }) => {
    const constraint = { key: 'a-1', human: 'a', expression: 'true', severity: known }
    const first = profile('first', 'Patient', [path('Patient', { constraint: [constraint] })])
    const second = profile('own', 'Patient', [path('Patient', { constraint: [{ ...constraint, ...own }] })], {
      baseDefinition: `${OWN}first`,
    })
    const constraints = objectsAt(at(await generateSnapshot(contextWith(first), { definition: second }), 'Patient'), 'constraint')
    expect(
      constraints.filter(({ key }) => key === 'a-1').map(({ severity, expression }) => `${String(severity)} ${String(expression)}`),
    ).toEqual([kept])
  })

  test.each([
    { name: 'with another expression', own: { expression: 'name.exists()' }, isSaid: true },
    { name: 'with the same expression', own: { severity: 'warning' }, isSaid: false },
  ])('warns of a constraint that has a key of the base, $name: $isSaid', async ({ own, isSaid }) => {
    const constraint = { key: 'a-1', human: 'a', severity: 'error', expression: 'true' }
    const first = profile('first', 'Patient', [path('Patient', { constraint: [constraint] })])
    const second = profile('own', 'Patient', [path('Patient', { constraint: [{ ...constraint, ...own }] })], {
      baseDefinition: `${OWN}first`,
    })
    const { problems } = await generateSnapshot(contextWith(first), { definition: second })
    expect(problems.map(({ kind, severity, expression }) => `${severity} ${kind} ${expression}`)).toEqual(
      isSaid ? ['warning constraint-key StructureDefinition.differential.element[0]'] : [],
    )
  })

  test('keeps all constraints of a base that has a key twice, and replaces only the one with its expression', async () => {
    const constraint = { key: 'a-1', human: 'a', severity: 'warning' }
    const first = profile('first', 'Patient', [
      path('Patient', { constraint: ['name.exists()', 'gender.exists()'].map((expression) => ({ ...constraint, expression })) }),
    ])
    const keptBeside = async (...own: readonly object[]): Promise<readonly string[]> => {
      const second = profile('own', 'Patient', [path('Patient', { short: 'a', constraint: own })], { baseDefinition: `${OWN}first` })
      const result = await generateSnapshot(contextWith(first), { definition: second })
      return objectsAt(at(result, 'Patient'), 'constraint')
        .filter(({ key }) => key === 'a-1')
        .map(({ severity, expression }) => `${String(severity)} ${String(expression)}`)
    }
    expect(await keptBeside()).toEqual(['warning name.exists()', 'warning gender.exists()'])
    expect(await keptBeside({ ...constraint, severity: 'error', expression: 'name.exists()' })).toEqual([
      'warning gender.exists()',
      'error name.exists()',
    ])
  })

  test('replaces a fixed value or pattern of another type', async () => {
    const first = profile('first', 'Observation', [path('Observation.value[x]', { patternQuantity: { code: 'kg' } })])
    const own = profile('own', 'Observation', [path('Observation.value[x]', { patternCodeableConcept: { text: 'x' } })], {
      baseDefinition: `${OWN}first`,
    })
    const value = at(await generateSnapshot(contextWith(first), { definition: own }), 'Observation.value[x]')
    expect(Object.keys(value).filter((name) => name.startsWith('pattern'))).toEqual(['patternCodeableConcept'])
  })
})

describe('elements below those of the base', () => {
  test('are those of the type, each with what it was there', async () => {
    const result = await made([path('Observation.code.coding.system', { min: 1 })])
    expect(ids(result, 'Observation.code')).toEqual([
      'Observation.code',
      'Observation.code.id',
      'Observation.code.extension',
      'Observation.code.coding',
      'Observation.code.coding.id',
      'Observation.code.coding.extension',
      'Observation.code.coding.system',
      'Observation.code.coding.version',
      'Observation.code.coding.code',
      'Observation.code.coding.display',
      'Observation.code.coding.userSelected',
      'Observation.code.text',
    ])
    expect(at(result, 'Observation.code.coding.system')).toMatchObject({ min: 1, base: { path: 'Coding.system', min: 0, max: '1' } })
  })

  test('are those of the profile of the type', async () => {
    const concept = profile('concept', 'CodeableConcept', [path('CodeableConcept.text', { min: 1 })], { kind: 'complex-type' })
    const type = [{ code: 'CodeableConcept', profile: [`${OWN}concept`] }]
    const result = await made([path('Observation.code', { type }), path('Observation.code.coding', { max: '1' })], {
      ctx: contextWith(concept),
    })
    expect(at(result, 'Observation.code.text')['min']).toBe(1)
  })

  test('are those of the element whose content it has', async () => {
    const result = await made([path('Questionnaire.item.item.item.linkId', { short: 'third' })], { type: 'Questionnaire' })
    expect(at(result, 'Questionnaire.item.item.item.linkId')['short']).toBe('third')
    expect(at(result, 'Questionnaire.item.item')['contentReference']).toBeUndefined()
    expect(at(result, 'Questionnaire.item.item.item.item')['contentReference']).toBe(`${SD}Questionnaire#Questionnaire.item`)
    expect(result.problems).toEqual([])
  })

  test('of several types are their id and extensions', async () => {
    const fits = await made([path('Observation.value[x].extension', { min: 1 })])
    expect(at(fits, 'Observation.value[x].extension')['min']).toBe(1)
    const { problems } = await made([path('Observation'), path('Observation.value[x].unit', { min: 1 })])
    expect(problems).toEqual([
      {
        kind: 'choice',
        severity: 'error',
        text: "'value[x]' has several types; slice it by type before saying something about the elements below it.",
        expression: 'StructureDefinition.differential.element[1]',
      },
    ])
  })
})

describe('slices', () => {
  const slicing = { discriminator: [{ type: 'value', path: 'code' }], rules: 'open' }

  test('start as the element of the base, and come behind it', async () => {
    const result = await made([
      path('Observation.component', { slicing, min: 1, mustSupport: true }),
      path('Observation.component.value[x]', { min: 1 }),
      path('Observation.component:systolic', { sliceName: 'systolic', min: 1, max: '1' }),
      path('Observation.component:systolic.code', { patternCodeableConcept: { text: 's' } }),
      path('Observation.component:diastolic', { sliceName: 'diastolic', max: '1' }),
    ])
    expect(result.problems).toEqual([])
    expect(ids(result, 'Observation.component').filter((id) => !id.slice(21).includes('.'))).toEqual([
      'Observation.component',
      'Observation.component:systolic',
      'Observation.component:diastolic',
    ])
    expect(at(result, 'Observation.component:diastolic')).toMatchObject({
      path: 'Observation.component',
      min: 0,
      max: '1',
      sliceName: 'diastolic',
    })
    expect(at(result, 'Observation.component:diastolic')['slicing']).toBeUndefined()
    expect(at(result, 'Observation.component:diastolic.value[x]')['min']).toBe(1)
    expect(at(result, 'Observation.component:systolic.code')['patternCodeableConcept']).toEqual({ text: 's' })
    expect(at(result, 'Observation.component:diastolic.code')['patternCodeableConcept']).toBeUndefined()
  })

  test('of the base stay, in their order, and new ones follow', async () => {
    const first = profile('first', 'Observation', [
      path('Observation.category', { slicing: { discriminator: [{ type: 'value', path: '$this' }], rules: 'open' } }),
      path('Observation.category:a', { sliceName: 'a', short: 'A' }),
      path('Observation.category:b', { sliceName: 'b', short: 'B' }),
    ])
    const own = profile(
      'own',
      'Observation',
      [
        path('Observation.category:b', { sliceName: 'b', min: 1 }),
        path('Observation.category:c', { sliceName: 'c' }),
        path('Observation.category:b/x', { sliceName: 'b/x' }),
      ],
      { baseDefinition: `${OWN}first` },
    )
    const result = await generateSnapshot(contextWith(first), { definition: own })
    expect(ids(result, 'Observation.category')).toEqual([
      'Observation.category',
      'Observation.category:a',
      'Observation.category:b',
      'Observation.category:b/x',
      'Observation.category:c',
    ])
    expect(at(result, 'Observation.category:b')).toMatchObject({ min: 1, short: 'B' })
    expect(at(result, 'Observation.category:b/x')).toMatchObject({ min: 0, short: 'B' })
  })

  test('raise the minimum of what is sliced', async () => {
    const result = await made([
      path('Observation.component', { slicing }),
      path('Observation.component:a', { sliceName: 'a', min: 1 }),
      path('Observation.component:b', { sliceName: 'b', min: 2 }),
    ])
    expect(at(result, 'Observation.component')['min']).toBe(3)
  })

  test('occur at most as often as what is sliced', async () => {
    const slicing = { discriminator: [{ type: 'value', path: 'system' }], rules: 'open' }
    const result = await made(
      [
        path('Patient.identifier', { max: '2', slicing }),
        ...[{ max: '*' }, { max: '1' }, {}].map((more, place) => path(`Patient.identifier:s${place}`, { sliceName: `s${place}`, ...more })),
      ],
      { type: 'Patient' },
    )
    expect([0, 1, 2].map((place) => at(result, `Patient.identifier:s${place}`)['max'])).toEqual(['2', '1', '2'])
  })

  test('say whether they are constraining only in the profile that states it', async () => {
    const slicing = { discriminator: [{ type: 'value', path: 'system' }], rules: 'open' }
    const first = profile('first', 'Patient', [
      path('Patient.identifier', { slicing }),
      path('Patient.identifier:a', { sliceName: 'a', sliceIsConstraining: false }),
    ])
    const own = profile('own', 'Patient', [path('Patient.identifier:a', { sliceName: 'a', min: 1 })], { baseDefinition: `${OWN}first` })
    const ctx = contextWith(first)
    expect(at(await generateSnapshot(ctx, { definition: first }), 'Patient.identifier:a')['sliceIsConstraining']).toBe(false)
    expect(at(await generateSnapshot(ctx, { definition: own }), 'Patient.identifier:a')).not.toHaveProperty('sliceIsConstraining')
  })

  test.each([
    { name: 'required', more: { min: 1 }, codes: ['Quantity'], rules: 'closed' },
    { name: 'forbidden', more: { max: '0' }, codes: ['string'], rules: 'open' },
    { name: 'optional', more: {}, codes: ['Quantity', 'string'], rules: 'open' },
  ])('of a choice that are $name decide what types are left', async ({ more, codes, rules }) => {
    const result = await made([
      path('Observation.value[x]', {
        type: [{ code: 'Quantity' }, { code: 'string' }],
        slicing: { discriminator: [{ type: 'type', path: '$this' }], rules: 'open' },
      }),
      path('Observation.value[x]:valueQuantity', { sliceName: 'valueQuantity', type: [{ code: 'Quantity' }], ...more }),
    ])
    const value = at(result, 'Observation.value[x]')
    expect(objectsAt(value, 'type').map(({ code }) => code)).toEqual(codes)
    expect(value['slicing']).toMatchObject({ rules })
  })

  test('of a slice of a choice take no type away from the choice', async () => {
    const result = await made([
      path('Observation.value[x]', {
        type: [{ code: 'Quantity' }, { code: 'string' }],
        slicing: { discriminator: [{ type: 'type', path: '$this' }], rules: 'open' },
      }),
      path('Observation.value[x]:valueQuantity', {
        sliceName: 'valueQuantity',
        type: [{ code: 'Quantity' }],
        slicing: { discriminator: [{ type: 'value', path: 'code' }], rules: 'open' },
      }),
      path('Observation.value[x]:valueQuantity/lb', { sliceName: 'valueQuantity/lb', max: '0', patternQuantity: { code: '[lb_av]' } }),
    ])
    expect(objectsAt(at(result, 'Observation.value[x]'), 'type').map(({ code }) => code)).toEqual(['Quantity', 'string'])
  })

  test('of extensions need no slicing, and have what the root of the extension says', async () => {
    const extension = profile(
      'extra',
      'Extension',
      [path('Extension', { short: 'Extra', definition: 'More.', max: '1' }), path('Extension.url', { fixedUri: `${OWN}extra` })],
      { kind: 'complex-type' },
    )
    const type = [{ code: 'Extension', profile: [`${OWN}extra`] }]
    const result = await made([path('Observation.extension:extra', { sliceName: 'extra', type, mustSupport: true })], {
      ctx: contextWith(extension),
    })
    expect(at(result, 'Observation.extension')['slicing']).toMatchObject({ discriminator: [{ type: 'value', path: 'url' }], rules: 'open' })
    expect(at(result, 'Observation.extension:extra')).toMatchObject({
      short: 'Extra',
      definition: 'More.',
      max: '1',
      mustSupport: true,
      type,
    })
    expect(result.problems).toEqual([])
  })

  test('of a choice by its type have a short form', async () => {
    const result = await made([path('Observation.valueQuantity', { min: 1 }), path('Observation.valueQuantity.unit', { min: 1 })])
    expect(at(result, 'Observation.value[x]')).toMatchObject({
      min: 1,
      type: [{ code: 'Quantity' }],
      slicing: { discriminator: [{ type: 'type', path: '$this' }], rules: 'closed' },
    })
    expect(at(result, 'Observation.value[x]:valueQuantity')).toMatchObject({
      path: 'Observation.value[x]',
      sliceName: 'valueQuantity',
      min: 1,
    })
    expect(at(result, 'Observation.value[x]:valueQuantity.unit')['min']).toBe(1)
    const two = await made([path('Observation.valueQuantity'), path('Observation.valueString', { max: '1' })])
    expect(at(two, 'Observation.value[x]')['type']).toEqual([{ code: 'Quantity' }, { code: 'string' }])
  })

  test('of a choice that has one type are the element itself', async () => {
    const result = await made([
      path('Observation.value[x]', { type: [{ code: 'Quantity' }] }),
      path('Observation.valueQuantity.unit', { min: 1 }),
    ])
    expect(at(result, 'Observation.value[x].unit')['min']).toBe(1)
    expect(at(result, 'Observation.value[x]')['slicing']).toBeUndefined()
  })

  test.each([
    ['without a slicing', [path('Observation.component:a', { sliceName: 'a' })], /no slicing of 'component' is set up/, 'slicing-missing'],
    ['of an unknown element', [path('Observation.compnent', { min: 1 })], /No match found for 'Observation.compnent'/, 'element-unknown'],
  ])('%s are reported', async (_, element, text, kind) => {
    const { problems } = await made(element)
    expect(problems).toEqual([
      { kind, severity: 'error', text: expect.stringMatching(text), expression: 'StructureDefinition.differential.element[0]' },
    ])
  })

  test('cannot be added to a closed slicing, nor change the order of the base', async () => {
    const first = profile('first', 'Observation', [
      path('Observation.component', { slicing: { ...slicing, rules: 'closed' } }),
      path('Observation.component:a', { sliceName: 'a' }),
      path('Observation.component:b', { sliceName: 'b' }),
    ])
    const own = profile(
      'own',
      'Observation',
      ['b', 'a', 'c'].map((sliceName) => path(`Observation.component:${sliceName}`, { sliceName })),
      {
        baseDefinition: `${OWN}first`,
      },
    )
    const { problems } = await generateSnapshot(contextWith(first), { definition: own })
    expect(problems.map(({ text, expression }) => [text, expression])).toEqual([
      [
        "The slicing of 'component' is closed in the base, so the slice 'c' cannot be added.",
        'StructureDefinition.differential.element[2]',
      ],
      ["The slice 'a' is out of order: the base has it before slices that come earlier.", 'StructureDefinition.differential.element[1]'],
    ])
  })
})

describe('definitions', () => {
  test('of types that build on others have what they add at the end', async () => {
    const type = {
      ...profile('Garden', 'Garden', [
        path('Garden', { min: 0, max: '*' }),
        path('Garden.bed', { min: 0, max: '*', type: [{ code: 'BackboneElement' }] }),
        path('Garden.bed.plant', { min: 1, max: '1', type: [{ code: 'CodeableConcept' }] }),
      ]),
      derivation: 'specialization',
      baseDefinition: `${SD}DomainResource`,
    }
    const result = await generateSnapshot(plain, { definition: type })
    expect(ids(result).slice(-5)).toEqual([
      'Garden.bed',
      'Garden.bed.id',
      'Garden.bed.extension',
      'Garden.bed.modifierExtension',
      'Garden.bed.plant',
    ])
    expect(at(result, 'Garden.text')['base']).toEqual({ path: 'DomainResource.text', min: 0, max: '1' })
    expect(at(result, 'Garden.bed')).toMatchObject({ isModifier: false, base: { path: 'Garden.bed', min: 0, max: '*' } })
    expect(objectsAt(at(result, 'Garden.bed.plant'), 'constraint').map(({ key }) => key)).toEqual(['ele-1'])
    expect(objectsAt(at(result, 'Garden'), 'constraint').map(({ key }) => key)).toContain('dom-2')
  })

  test('are made of others, and tell what is wrong there', async () => {
    const first = profile('first', 'Observation', [path('Observation.kode')])
    const own = profile('own', 'Observation', [path('Observation.code', { min: 1 })], { baseDefinition: `${OWN}first` })
    const { problems } = await generateSnapshot(contextWith(first), { definition: own })
    expect(problems).toEqual([
      {
        kind: 'other-definition',
        severity: 'warning',
        text: expect.stringMatching(/^In '.*first', .*element\[0\]: No match/),
        expression: 'StructureDefinition',
      },
    ])
  })

  test.each([
    ['content-reference', 'Observation.component.referenceRange.low', { contentReference: '#Observation.nothing' }],
    ['type-missing', 'Observation.component.referenceRange.low', { contentReference: undefined }],
    ['type-unknown', 'Observation.component.referenceRange.low', { contentReference: undefined, type: [{ code: 'Rnge' }] }],
  ])('cannot say anything below an element: %s', async (kind, below, change) => {
    const { definition: base } = await generateSnapshot(plain, { url: `${SD}Observation` })
    const element = objectsAt(objectAt(base, 'snapshot'), 'element').map((one) =>
      one['path'] === 'Observation.component.referenceRange' ? { ...one, ...change } : one,
    )
    const first = { ...base, id: 'first', url: `${OWN}first`, derivation: 'constraint', snapshot: { element } }
    const own = profile('own', 'Observation', [path(below, { min: 1 })], { baseDefinition: `${OWN}first` })
    const { problems } = await generateSnapshot(contextWith(first), { definition: own })
    expect(problems.map((problem) => problem.kind)).toEqual([kind])
  })

  test('need their base, and no circle of bases', async () => {
    const circle = ['a', 'b', 'c'].map((name, index) =>
      profile(name, 'Observation', [path('Observation')], { baseDefinition: `${OWN}${'bca'[index]}` }),
    )
    const ctx = contextWith(...circle)
    await expect(generateSnapshot(ctx, { url: `${OWN}a` })).rejects.toMatchObject({
      code: 'definition-invalid',
      message: /builds on itself/,
    })
    await expect(
      generateSnapshot(ctx, { definition: profile('own', 'Observation', [path('Observation')], { baseDefinition: 'urn:none' }) }),
    ).rejects.toMatchObject({
      code: 'definition-not-found',
      expression: ['StructureDefinition.baseDefinition'],
    })
  })

  test('that are none, or of another type than their base, are refused', async () => {
    await expect(generateSnapshot(plain, { definition: { resourceType: 'Patient' } })).rejects.toMatchObject({ code: 'definition-invalid' })
    await expect(generateSnapshot(plain, { url: 'urn:none' })).rejects.toMatchObject({ code: 'not-found' })
    const other = profile('own', 'Observation', [path('Patient.name')])
    await expect(generateSnapshot(plain, { definition: other })).rejects.toMatchObject({ code: 'definition-invalid' })
    const empty = profile('own', 'Observation', [])
    await expect(generateSnapshot(plain, { definition: empty })).rejects.toMatchObject({
      code: 'definition-invalid',
      message: /no differential/,
    })
  })

  test('that have a snapshot and no differential stay as they are', async () => {
    const { definition } = await generateSnapshot(plain, { url: `${SD}Patient` })
    expect(isObject(definition) && objectsAt(objectAt(definition, 'snapshot'), 'element').length).toBeGreaterThan(20)
  })

  test('are not changed', async () => {
    const definition = profile('own', 'Observation', [path('Observation.code', { min: 1 })])
    const before = JSON.stringify(definition)
    const base = await generateSnapshot(plain, { url: `${SD}Observation` })
    const text = JSON.stringify(base)
    await generateSnapshot(plain, { definition })
    expect(JSON.stringify(definition)).toBe(before)
    expect(JSON.stringify(await generateSnapshot(plain, { url: `${SD}Observation` }))).toBe(text)
  })
})

test.each(['constructor', 'hasOwnProperty', 'toString', '__proto__'])('a member called %s is one like others', async (name) => {
  const element: unknown = JSON.parse(`{"id":"Observation.status","path":"Observation.status","${name}":"x"}`)
  const found = elementsOf(await made([isObject(element) ? element : {}])).find(({ path }) => path === 'Observation.status') ?? {}
  expect(Object.getOwnPropertyDescriptor(found, name)?.value).toBe('x')
})
