import { expect, it } from 'vitest'
import { createContext } from '../context/index.js'
import { expand } from '../expand/index.js'
import { memoryStorage } from '../memory/index.js'
import { lookup } from '../lookup/index.js'
import { subsumes } from '../subsumes/index.js'
import { compare } from '../compare/index.js'
import { translate } from '../translate/index.js'
import { validateCode, validateCodeInSystem } from '../validate-code/index.js'

const ctx = createContext({ storage: memoryStorage() })
const url = 'http://example.org/vs'
const valueSet = { resourceType: 'ValueSet' } as const
const coding = { system: 'urn:s', code: 'c' }

/** Calls that the compiler refuses; each is refused by name when plain JavaScript makes it. */
const refused: readonly (readonly [string, () => Promise<unknown>, string])[] = [
  // @ts-expect-error a value set is needed
  ['expand without a value set', () => expand(ctx, {}), 'parameter-required'],
  // @ts-expect-error one value set
  ['expand of two value sets', () => expand(ctx, { url, valueSet }), 'parameter-invalid'],
  // @ts-expect-error a value set is needed
  ['validateCode without a value set', () => validateCode(ctx, { coding }), 'parameter-required'],
  // @ts-expect-error one value set
  ['validateCode with two value sets', () => validateCode(ctx, { coding, url, valueSet }), 'parameter-invalid'],
  // @ts-expect-error a code is needed
  ['validateCode without a code', () => validateCode(ctx, { url }), 'parameter-required'],
  // @ts-expect-error a system is needed unless it is to be inferred
  ['validateCode without a system', () => validateCode(ctx, { url, code: 'c' }), 'parameter-required'],
  // @ts-expect-error one code
  ['validateCode with two codes', () => validateCode(ctx, { url, coding, system: 'urn:s', code: 'c' }), 'source-ambiguous'],
  // @ts-expect-error the system is in the coding
  ['validateCode with a system beside the coding', () => validateCode(ctx, { url, coding, system: 'urn:s' }), 'parameter-required'],
  // @ts-expect-error a code is needed
  ['validateCodeInSystem without a code', () => validateCodeInSystem(ctx, { url }), 'parameter-required'],
  // @ts-expect-error a code is needed
  ['lookup without a code', () => lookup(ctx, { system: 'urn:s' }), 'parameter-required'],
  // @ts-expect-error one code
  ['lookup of two codes', () => lookup(ctx, { system: 'urn:s', code: 'c', coding }), 'source-ambiguous'],
  // @ts-expect-error two codes are needed
  ['subsumes with one code', () => subsumes(ctx, { system: 'urn:s', codeA: 'a' }), 'parameter-required'],
  // @ts-expect-error one way to give a code
  ['subsumes with a code beside its coding', () => subsumes(ctx, { codeA: 'a', codingA: coding, codingB: coding }), 'source-ambiguous'],
  // @ts-expect-error a value set is needed
  ['compare with nothing', () => compare(ctx, { thisValueSet: { url }, otherValueSet: {} }), 'not-found'],
  // @ts-expect-error one value set
  ['compare of two', () => compare(ctx, { thisValueSet: { url }, otherValueSet: { url, valueSet } }), 'not-found'],
  // @ts-expect-error a code is needed
  ['translate without a code', () => translate(ctx, { url }), 'parameter-required'],
  // @ts-expect-error a code needs its system
  ['translate without a system', () => translate(ctx, { url, code: 'c' }), 'parameter-required'],
  // @ts-expect-error one code
  ['translate of two codes', () => translate(ctx, { url, coding, codeableConcept: { coding: [coding] } }), 'source-ambiguous'],
]

it.each(refused)('%s does not compile, and is refused', async (_, make, code) => {
  await expect(make()).rejects.toMatchObject({ code })
})
