import { describe, expect, it } from 'vitest'
import { CATS } from '../../test/code-validation.js'
import { call, contextOf, cs, LIVING, valueSet, vs } from '../../test/terminology-content.js'
import { closure, toConceptMap } from '../closure/index.js'
import { compare, toParameters as comparisonToParameters } from '../compare/index.js'
import { createContext } from '../context/index.js'
import { expand, toValueSet } from '../expand/index.js'
import type { JsonObject } from '../json/index.js'
import { lookup, toParameters as lookupToParameters } from '../lookup/index.js'
import { memoryStorage } from '../memory/index.js'
import { subsumes, toParameters as subsumptionToParameters } from '../subsumes/index.js'
import { toParameters as translationToParameters, translate } from '../translate/index.js'
import { toParameters as validationToParameters, validateCode, validateCodeInSystem } from '../validate-code/index.js'
import {
  closureOperation,
  compareOperation,
  expandOperation,
  lookupOperation,
  subsumesOperation,
  translateOperation,
  codeSystemValidateCodeOperation,
  valueSetValidateCodeOperation,
} from './index.js'

const system = cs('living')
const ctx = contextOf(LIVING, CATS, valueSet('all', { include: [{ system }] }))
const text = (resource: object): string => JSON.stringify(resource)
const uri = (name: string, valueUri: string): JsonObject => ({ name, valueUri })
const explained = { name: '_explain', valueBoolean: true }

describe('the FHIR form of a result is what the operation answers', () => {
  it.each([
    [{ code: 'cat', display: 'Cat' }],
    [{ code: 'dog', display: 'Doggy' }],
    [{ code: 'lion', version: '9' }],
    [{ code: 'no', system: 'urn:unknown' }],
  ])('validate-code: %j', async (more) => {
    const coding = { system, ...more }
    const parameters = [uri('url', vs('cats')), { name: 'coding', valueCoding: coding }, explained]
    const result = await validateCode(ctx, { url: vs('cats'), coding, explain: true })
    expect(text(validationToParameters(result))).toBe(text(await call(valueSetValidateCodeOperation, ctx, parameters)))
  })

  it('validate-code of a concept and of a code', async () => {
    const codeableConcept = { coding: [{ system, code: 'dog' }, { code: 'cat' }], text: 'pet' }
    const concept = [uri('url', vs('cats')), { name: 'codeableConcept', valueCodeableConcept: codeableConcept }]
    const ofConcept = await validateCode(ctx, { url: vs('cats'), codeableConcept })
    expect(text(validationToParameters(ofConcept))).toBe(text(await call(valueSetValidateCodeOperation, ctx, concept)))
    const code = [uri('url', vs('cats')), { name: 'code', valueCode: 'lion' }, { name: 'inferSystem', valueBoolean: true }]
    const ofCode = await validateCode(ctx, { url: vs('cats'), code: 'lion', inferSystem: true })
    expect(text(validationToParameters(ofCode))).toBe(text(await call(valueSetValidateCodeOperation, ctx, code)))
  })

  it('validate-code in a code system', async () => {
    for (const code of ['cat', 'cow']) {
      const result = await validateCodeInSystem(ctx, { system, code, explain: true })
      const answer = await call(codeSystemValidateCodeOperation, ctx, [uri('url', system), { name: 'code', valueCode: code }, explained])
      expect(text(validationToParameters(result))).toBe(text(answer))
    }
  })

  it('lookup', async () => {
    const coding = { system, code: 'cat' }
    const parameters = [{ name: 'coding', valueCoding: coding }, { name: 'property', valueCode: '*' }, explained]
    const result = await lookup(ctx, { coding, properties: ['*'], explain: true })
    expect(text(lookupToParameters(result))).toBe(text(await call(lookupOperation, ctx, parameters)))
  })

  it('subsumes', async () => {
    const [codingA, codingB] = ['animal', 'lion'].map((code) => ({ system, code }))
    if (codingA === undefined || codingB === undefined) throw new Error('two codings')
    const parameters = [{ name: 'codingA', valueCoding: codingA }, { name: 'codingB', valueCoding: codingB }, explained]
    const result = await subsumes(ctx, { codingA, codingB, explain: true })
    expect(text(subsumptionToParameters(result))).toBe(text(await call(subsumesOperation, ctx, parameters)))
  })

  it.each([true, false])('compare, with diagnostics: %s', async (diagnostics) => {
    const parameters = [uri('thisUrl', vs('cats')), uri('otherUrl', vs('all')), { name: 'diagnostics', valueBoolean: diagnostics }]
    const result = await compare(ctx, { thisValueSet: { url: vs('cats') }, otherValueSet: { url: vs('all') } })
    expect(text(comparisonToParameters(result, { diagnostics }))).toBe(text(await call(compareOperation, ctx, parameters)))
  })

  it('closure', async () => {
    const own = createContext({ storage: memoryStorage([{ ...LIVING, id: 'living' }]), now: () => new Date(0) })
    const concepts = ['cat', 'animal', 'lion'].map((code) => ({ system, code }))
    const named = { name: 'name', valueString: 'b' }
    for (const name of ['a', 'b']) await closure(own, { name })
    const result = await closure(own, { name: 'a', concepts, explain: true })
    const given = concepts.map((valueCoding) => ({ name: 'concept', valueCoding }))
    const answer = await call(closureOperation, own, [named, ...given, explained])
    expect(text(toConceptMap({ ...result, name: 'b' }))).toBe(text(answer))
  })

  it.each([
    ['R4', 'coding', { code: 'cat' }, false],
    ['R4', 'coding', { code: 'cow' }, false],
    ['R5', 'sourceCoding', { code: 'cat' }, false],
    ['R5', 'targetCoding', { code: 'felis', system: cs('latin') }, true],
  ] as const)('translate, names of %s: %s %j', async (names, name, code, reverse) => {
    const product = [{ property: 'urn:legs', value: '4', system: 'urn:numbers' }]
    const target = [{ code: 'felis', display: 'Felis', equivalence: 'equal', product }]
    const group = [{ source: system, target: cs('latin'), element: [{ code: 'cat', target }] }]
    const own = contextOf(LIVING, { resourceType: 'ConceptMap', url: 'urn:map', version: '1', status: 'active', group })
    const coding = { system, ...code }
    const result = await translate(own, { url: 'urn:map', coding, reverse, explain: true })
    const answer = await call(translateOperation, own, [uri('url', 'urn:map'), { name, valueCoding: coding }, explained])
    expect(text(translationToParameters(result, { names, reverse }))).toBe(text(answer))
  })

  it.each([
    [{ url: vs('all') }, []],
    [
      { url: vs('all'), count: 2, offset: 1 },
      [
        { name: 'count', valueInteger: 2 },
        { name: 'offset', valueInteger: 1 },
      ],
    ],
    [
      { url: vs('cats'), properties: ['legs'], includeDesignations: true },
      [
        { name: 'property', valueString: 'legs' },
        { name: 'includeDesignations', valueBoolean: true },
      ],
    ],
  ])('expand: %j', async (input, parameters) => {
    const own = { ...ctx, now: () => new Date(0), newId: () => 'id' }
    const result = await expand(own, { ...input, explain: true })
    const answer = await call(expandOperation, own, [uri('url', input.url), ...parameters, explained])
    expect(text(toValueSet(result))).toBe(text(answer))
  })
})
