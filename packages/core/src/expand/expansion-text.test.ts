import { describe, expect, it } from 'vitest'
import { codeSystem, contextOf, cs, LIVING, valueSet, vs } from '../../test/terminology-content.js'
import { parametersOf } from '../parameters/index.js'
import type { JsonObject } from '../json/index.js'
import { expandOperation } from './operation.js'

const EXTENSION = 'http://hl7.org/fhir/StructureDefinition'
const concept = Array.from({ length: 3_000 }, (_, i) => ({ code: `c${i}`, display: `Ünicode "${i}" \u2028 \\ 𝒳` }))
const plenty = Array.from({ length: 9_000 }, (_, i) => ({
  code: `c${i}`,
  display: `${i % 3 === 0 ? 'Ünicode "\t\ud800' : 'Unicode'} ${i}`,
}))
const long = plenty.map((one, i) =>
  i % 100 === 0 ? { ...one, property: [{ code: 'status', valueCode: 'retired' }], designation: [{ value: 'Ø' }] } : one,
)
const described = [
  { code: 'a', extension: [{ url: `${EXTENSION}/itemWeight`, valueDecimal: 2 }] },
  { code: 'b', display: 'B', extension: [{ url: `${EXTENSION}/rendering-style`, valueString: 'color: red' }] },
  { code: 'c', display: 'C', designation: [{ language: 'de', value: 'Zeh' }] },
  { code: 'd', property: [{ code: 'status', valueCode: 'retired' }] },
]
const living = { system: cs('living') }
const content = contextOf(
  LIVING,
  codeSystem('many', concept),
  codeSystem('plain', plenty),
  codeSystem('long', long),
  codeSystem('described', described),
  valueSet('all', { include: [living] }),
  valueSet('many', { include: [{ system: cs('many') }] }),
  valueSet('plain', { include: [{ system: cs('plain') }] }),
  valueSet('long', { include: [{ system: cs('long') }] }),
  valueSet('mixed', {
    include: [{ system: cs('described') }, living, { system: cs('many'), concept: [{ code: 'c7', display: 'Seven' }] }],
  }),
  valueSet('versions', {
    include: [
      { ...living, version: '1.0.0', concept: [{ code: 'cat' }] },
      { ...living, concept: [{ code: 'dog' }] },
    ],
  }),
  valueSet('none', { include: [{ ...living, filter: [{ property: 'concept', op: 'is-a', value: 'dog' }] }], exclude: [living] }),
)
const ctx = { ...content, now: () => new Date(0), newId: () => 'id' }

const bool = (name: string, valueBoolean = true): JsonObject => ({ name, valueBoolean })
const number = (name: string, valueInteger: number): JsonObject => ({ name, valueInteger })
const text = (name: string, valueString: string): JsonObject => ({ name, valueString })

function request(name: string, parameter: readonly JsonObject[]) {
  const all = [{ name: 'url', valueUri: vs(name) }, ...parameter]
  return {
    type: 'ValueSet',
    method: 'POST',
    strict: false,
    parameters: parametersOf({ resourceType: 'Parameters', parameter: all }),
  } as const
}

describe('the text of an expansion', () => {
  it.each([
    ['all', []],
    ['all', [bool('excludeNested')]],
    ['all', [bool('_explain')]],
    ['all', [bool('activeOnly'), bool('excludeNested')]],
    ['all', [bool('includeDesignations'), text('property', 'legs'), text('property', 'parent'), bool('excludeNested')]],
    ['all', [number('count', 2), number('offset', 1)]],
    ['all', [number('count', 0)]],
    ['all', [number('offset', 100)]],
    ['many', []],
    ['many', [number('count', 1_024)]],
    ['many', [number('offset', 10)]],
    ['many', [text('filter', 'unicode 29')]],
    ['mixed', []],
    ['mixed', [bool('includeDesignations')]],
    ['mixed', [text('displayLanguage', 'de')]],
    ['mixed', [text('property', 'status')]],
    ['versions', []],
    ['none', []],
  ])('is that of its resource: %s %j', async (name, parameter) => {
    const { resource } = await expandOperation.run(ctx, request(name, parameter))
    const written = await expandOperation.write?.(ctx, request(name, parameter))
    expect([...(written?.text ?? [])].join('')).toBe(JSON.stringify(resource))
  })

  it('comes in pieces where it is long', async () => {
    const written = await expandOperation.write?.(ctx, request('many', []))
    expect([...(written?.text ?? [])].length).toBe(3)
  })

  it.each([
    ['plain', []],
    ['plain', [number('count', 8_193)]],
    ['plain', [number('offset', 500)]],
    ['plain', [text('filter', 'unicode')]],
    ['plain', [text('property', 'status')]],
    ['long', []],
    ['long', [bool('includeDesignations')]],
  ])('is made again whenever it is read, and its length is known, where it is long: %s %j', async (name, parameter) => {
    const { resource } = await expandOperation.run(ctx, request(name, parameter))
    const { text: written } = (await expandOperation.write?.(ctx, request(name, parameter))) ?? { text: [] }
    expect([...written].join('')).toBe(JSON.stringify(resource))
    expect([...written].join('')).toBe(JSON.stringify(resource))
    expect(Math.max(...Array.from(written, (piece) => piece.length))).toBeLessThan(250_000)
    expect('bytes' in written && written.bytes).toBe(new TextEncoder().encode(JSON.stringify(resource)).length)
  })

  it('is refused before its first piece where it is long', async () => {
    const bounded = { ...ctx, limits: { ...ctx.limits, maxAnswerBytes: 500_000 } }
    await expect(expandOperation.write?.(bounded, request('long', []))).rejects.toMatchObject({ code: 'too-costly' })
  })

  it.each([
    ['unknown', [], 'not-found'],
    ['many', [], 'too-costly'],
    ['many', [number('count', 2_999)], 'too-costly'],
  ])('is refused like its resource: %s %j %s', async (name, parameter, code) => {
    const bounded = { ...ctx, limits: { ...ctx.limits, maxExpansion: 2_000, maxAnswerBytes: 50_000 } }
    for (const answer of [expandOperation.run, expandOperation.write])
      await expect(answer?.(bounded, request(name, parameter))).rejects.toMatchObject({ code })
  })
})
