import { describe, expect, it } from 'vitest'
import type { ComputedSystem } from '../../code-system/index.js'
import { createContext, type OperationContext } from '../../context/index.js'
import { expand } from '../../expand/index.js'
import type { JsonObject } from '../../json/index.js'
import { lookup } from '../../lookup/index.js'
import { memoryStorage } from '../../memory/index.js'
import { validateCode } from '../../validate-code/index.js'

const EVEN = 'urn:test:even'
const COMMON = 'http://example.org/ValueSet/common'

/** Even numbers, with a filter for those that can be divided. */
const even: ComputedSystem = {
  url: EVEN,
  version: '1',
  name: 'Even',
  caseSensitive: true,
  common: ['http://example.org/ValueSet/not-loaded', COMMON],
  find: (code) =>
    isEven(code) ? { code, display: `number ${code}`, property: [{ code: 'digits', valueInteger: code.length }] } : undefined,
  whyNot: (code) => (/^[0-9]+$/.test(code) ? `${code} is odd` : undefined),
  filter: (property, op, value) => (property === 'divisor' && op === '=' ? (code) => Number(code) % Number(value) === 0 : undefined),
}

function isEven(code: string): boolean {
  return /^[0-9]*[02468]$/.test(code)
}

const valueSet = (
  url: string,
  include: object,
): { resourceType: 'ValueSet'; url: string; status: 'active'; compose: { include: object[] } } => ({
  resourceType: 'ValueSet',
  url,
  status: 'active',
  compose: { include: [include] },
})
const ALL = valueSet('http://example.org/ValueSet/all', { system: EVEN })
const THIRDS = valueSet('http://example.org/ValueSet/thirds', { system: EVEN, filter: [{ property: 'divisor', op: '=', value: '3' }] })
const LISTED = valueSet('http://example.org/ValueSet/listed', { system: EVEN, concept: [{ code: '100' }, { code: '7' }, { code: '98' }] })
const common = valueSet(COMMON, { system: EVEN, concept: [{ code: '2' }, { code: '3' }, { code: '6' }, { code: '12' }] })

function contextWith(codeSystem: ComputedSystem, resources: readonly object[]): OperationContext {
  return createContext({
    storage: memoryStorage(resources.map((resource, i) => ({ id: String(i), ...resource }))),
    codeSystems: [codeSystem],
  })
}

const ctx = contextWith(even, [ALL, THIRDS, LISTED, common])
const alone = contextWith({ ...even, common: ['http://example.org/ValueSet/unknown'] }, [ALL, THIRDS, LISTED])

describe('a code system that makes its codes', () => {
  it('is looked up with all that it says about a code', async () => {
    const found = await lookup(ctx, { system: EVEN, code: '10', properties: ['*'] })
    expect(found).toMatchObject({ name: 'Even', version: '1', display: 'number 10' })
    expect(found.properties).toContainEqual({ code: 'digits', value: ['valueInteger', 2] })
  })

  it('makes the value of a property only if a lookup asks for it', async () => {
    const made: string[] = []
    const find = (code: string): JsonObject => {
      const digits = {
        code: 'digits',
        get valueInteger() {
          made.push(code)
          return code.length
        },
      }
      return { code, property: [digits] }
    }
    const own = contextWith({ ...even, find }, [])
    await lookup(own, { system: EVEN, code: '10' })
    expect(made).toEqual([])
    const { properties } = await lookup(own, { system: EVEN, code: '10', properties: ['digits'] })
    expect(properties).toContainEqual({ code: 'digits', value: ['valueInteger', 2] })
  })

  it.each(['7', 'toString', '__proto__', ''])('does not know the code %j', async (code) => {
    await expect(lookup(ctx, { system: EVEN, code })).rejects.toMatchObject({ code: 'not-found' })
  })

  it('has one version', async () => {
    await expect(lookup(ctx, { system: EVEN, version: '2', code: '10' })).rejects.toMatchObject({ code: 'not-found' })
  })

  it.each([
    ['the whole system', ALL, '1234', true],
    ['a filter of its own that holds', THIRDS, '12', true],
    ['a filter of its own that does not', THIRDS, '14', false],
    ['a list that has the code', LISTED, '98', true],
    ['a list that has it not', LISTED, '2', false],
  ])('validates against %s', async (_, { url }, code, result) => {
    expect((await validateCode(ctx, { url, system: EVEN, code })).result).toBe(result)
  })

  it('lists the codes of its common list, and says that there are more', async () => {
    const { contains, total, unclosed } = await expand(ctx, { url: ALL.url })
    expect([contains.map(({ code }) => code), total]).toEqual([['2', '6', '12'], undefined])
    expect(unclosed).toEqual([`The code System '${EVEN}' has a grammar and so has infinite members. This extension is based on ${COMMON}`])
  })

  it('lists those of them for which a filter holds', async () => {
    expect((await expand(ctx, { url: THIRDS.url })).contains.map(({ code }) => code)).toEqual(['6', '12'])
  })

  it('lists no other code that was met on the way', async () => {
    const both = {
      resourceType: 'ValueSet' as const,
      status: 'active' as const,
      compose: { include: [...LISTED.compose.include, ...THIRDS.compose.include] },
    }
    expect((await expand(ctx, { valueSet: both })).contains.map(({ code }) => code)).toEqual(['100', '98', '6', '12'])
  })

  it('gives listed codes with an exact total, common list or not', async () => {
    const { contains, total, unclosed } = await expand(alone, { url: LISTED.url })
    expect([contains.map(({ code }) => code), total, unclosed]).toEqual([['100', '98'], 2, []])
  })

  it.each([ALL, THIRDS])('is not listed without a common list', async ({ url }) => {
    await expect(expand(alone, { url })).rejects.toMatchObject({
      code: 'not-supported',
      detail: { messageId: 'CODESYSTEM_NOT_ENUMERABLE' },
    })
  })

  it('gives way to a CodeSystem resource of the same url', async () => {
    const own = { resourceType: 'CodeSystem', url: EVEN, status: 'active', content: 'complete', concept: [{ code: 'two' }] }
    expect((await expand(contextWith(even, [ALL, own]), { url: ALL.url })).contains.map(({ code }) => code)).toEqual(['two'])
  })
})
