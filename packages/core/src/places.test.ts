import { expect, it } from 'vitest'
import { codeSystem, contextOf, cs, LIVING, valueSet, vs } from '../test/terminology-content.js'
import { closure } from './closure/index.js'
import { compare } from './compare/index.js'
import { OperationError, outcomeOf } from './errors/index.js'
import { expand } from './expand/index.js'
import { lookup } from './lookup/index.js'
import { subsumes } from './subsumes/index.js'
import { validateCode, validateCodeInSystem } from './validate-code/index.js'

const SUPPLEMENT = { resourceType: 'CodeSystem', url: cs('more'), status: 'active', content: 'supplement', supplements: cs('other') }
const ctx = contextOf(
  LIVING,
  SUPPLEMENT,
  codeSystem('versions', [{ code: 'a' }], { version: '1' }),
  valueSet('cats', { include: [{ system: cs('living'), concept: [{ code: 'cat' }] }] }),
)
const [system, code, url] = [cs('living'), 'cat', vs('cats')]
const useSupplement = [cs('more'), cs('none')]
const cat = { system, code }

it.each<[string, () => Promise<unknown>, string, readonly string[]]>([
  ['$lookup of an unknown code system', () => lookup(ctx, { system: cs('x'), code }), 'not-found', ['system']],
  ['$lookup of a coding of one', () => lookup(ctx, { coding: { system: cs('x'), code } }), 'not-found', ['coding.system']],
  ['$lookup of an unknown version', () => lookup(ctx, { system: cs('versions'), version: '2', code }), 'not-found', ['version']],
  ['$lookup of an unknown code', () => lookup(ctx, { system, code: 'cow' }), 'not-found', ['code']],
  ['$lookup of a coding with one', () => lookup(ctx, { coding: { system, code: 'cow' } }), 'not-found', ['coding.code']],
  ['$lookup with an unknown supplement', () => lookup(ctx, { ...cat, useSupplement }), 'content-not-found', ['useSupplement[1]']],
  [
    '$lookup with a supplement of another code system',
    () => lookup(ctx, { ...cat, useSupplement: [cs('more')] }),
    'content-not-found',
    ['useSupplement[0]'],
  ],
  ['$lookup in something that is no language', () => lookup(ctx, { ...cat, displayLanguage: '-' }), 'parameter-value', ['displayLanguage']],
  ['$subsumes in an unknown code system', () => subsumes(ctx, { system: cs('x'), codeA: 'a', codeB: 'b' }), 'not-found', ['system']],
  ['$subsumes with an unknown code', () => subsumes(ctx, { system, codeA: 'cat', codeB: 'cow' }), 'not-found', ['codeB']],
  [
    '$subsumes with a coding of an unknown code',
    () => subsumes(ctx, { codingA: { system, code: 'cow' }, codingB: cat }),
    'not-found',
    ['codingA.code'],
  ],
  [
    '$subsumes with codings of an unknown code system',
    () => subsumes(ctx, { codingA: { code }, codingB: { system: cs('x'), code } }),
    'not-found',
    ['codingB.system'],
  ],
  ['$expand of an unknown value set', () => expand(ctx, { url: vs('x') }), 'not-found', ['url']],
  ['$expand with an unknown supplement', () => expand(ctx, { url, useSupplement }), 'content-not-found', ['useSupplement[1]']],
  ['$validate-code in an unknown value set', () => validateCode(ctx, { url: vs('x'), ...cat }), 'not-found', ['url']],
  [
    '$validate-code with an unknown supplement',
    () => validateCodeInSystem(ctx, { ...cat, useSupplement }),
    'content-not-found',
    ['useSupplement[1]'],
  ],
  [
    '$compare with an unknown value set',
    () => compare(ctx, { thisValueSet: { url }, otherValueSet: { url: vs('x') } }),
    'not-found',
    ['otherValueSet.url'],
  ],
  ['$closure of an unknown table', () => closure(ctx, { name: 'none', concepts: [cat] }), 'not-found', ['name']],
  ['$closure with a name that is too long', () => closure(ctx, { name: 'x'.repeat(10_000) }), 'parameter-too-long', ['name']],
])('%s names the input', async (_, call, errorCode, expression) => {
  await expect(call()).rejects.toMatchObject({ code: errorCode, expression })
})

it('$closure names the concept that is unknown, or of an unknown code system', async () => {
  await closure(ctx, { name: 'mine' })
  const placesOf = (other: typeof cat): Promise<unknown> => closure(ctx, { name: 'mine', concepts: [cat, other] })
  await expect(placesOf({ system, code: 'cow' })).rejects.toMatchObject({ expression: ['concept[1].code'] })
  await expect(placesOf({ system: cs('x'), code })).rejects.toMatchObject({ expression: ['concept[1].system'] })
})

it('a supplement that the value set requires is not an input', async () => {
  const extension = [{ url: 'http://hl7.org/fhir/StructureDefinition/valueset-supplement', valueCanonical: cs('none') }]
  const demanding = valueSet('demanding', { include: [{ system }] }, { extension })
  await expect(expand(ctx, { valueSet: demanding })).rejects.toMatchObject({ code: 'content-not-found', expression: [] })
})

/** Its tests compare these outcomes with all their members. */
it.each<[string, () => Promise<unknown>]>([
  ['an unknown value set', () => expand(ctx, { url: vs('x') })],
  ['an unknown supplement', () => expand(ctx, { url, useSupplement })],
  ['an unknown code in $lookup', () => lookup(ctx, { system, code: 'cow' })],
  ['something that is no language', () => expand(ctx, { url, displayLanguage: '-' })],
])('the outcome for %s has no place, as in the terminology ecosystem', async (_, call) => {
  const error = await call().catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(OperationError)
  if (error instanceof OperationError) expect([error.expression.length, outcomeOf(error, 'x').issue[0]?.expression]).toEqual([1, undefined])
})
