import { describe, expect, test } from 'vitest'
import { createContext } from '../context/index.js'
import type { JsonObject } from '../json/index.js'
import { memoryStorage } from '../memory/index.js'
import type { OperationResponse } from '../operation/index.js'
import { parametersFromQuery, parametersOf } from '../parameters/index.js'
import { translateOperation } from '../operations/index.js'

const ONE = 'http://example.org/one'
const TWO = 'http://example.org/two'
const MAP = 'http://example.org/ConceptMap/m'
const target = {
  code: 'x',
  display: 'Ex',
  equivalence: 'equivalent',
  product: [{ property: 'http://example.org/side', system: TWO, value: 'left' }],
  dependsOn: [{ property: 'http://example.org/sex', value: 'female' }],
}
const map = {
  resourceType: 'ConceptMap',
  id: 'm',
  url: MAP,
  version: '2',
  status: 'active',
  sourceCanonical: 'http://example.org/ValueSet/ones',
  group: [
    {
      source: ONE,
      target: TWO,
      element: [
        { code: 'a', target: [target] },
        { code: 'b', target: [{ code: 'y', equivalence: 'wider' }] },
      ],
    },
  ],
}
const ctx = createContext({ storage: memoryStorage([map]) })

function post(parameter: readonly object[], options: { readonly id?: string; readonly strict?: boolean } = {}): Promise<OperationResponse> {
  const body: JsonObject = { resourceType: 'Parameters', parameter }
  return translateOperation.run(ctx, {
    type: 'ConceptMap',
    method: 'POST',
    strict: false,
    ...options,
    parameters: parametersOf(body),
    body,
  })
}

function get(query: string, id?: string): Promise<OperationResponse> {
  return translateOperation.run(ctx, {
    type: 'ConceptMap',
    method: 'GET',
    id,
    strict: false,
    parameters: parametersFromQuery(new URLSearchParams(query)),
  })
}

const url = { name: 'url', valueUri: MAP }
const code = { name: 'code', valueCode: 'b' }
const system = { name: 'system', valueUri: ONE }
const coding = { name: 'coding', valueCoding: { system: ONE, code: 'b' } }
const codeableConcept = { name: 'codeableConcept', valueCodeableConcept: { coding: [{ system: ONE, code: 'b' }] } }

const found = {
  status: 200,
  resource: {
    resourceType: 'Parameters',
    parameter: [
      { name: 'result', valueBoolean: true },
      {
        name: 'match',
        part: [
          { name: 'equivalence', valueCode: 'wider' },
          { name: 'concept', valueCoding: { system: TWO, code: 'y' } },
          { name: 'source', valueUri: `${MAP}|2` },
        ],
      },
    ],
  },
}

describe('$translate', () => {
  test.each<[string, readonly object[], object]>([
    ['code and system', [url, code, system], {}],
    ['a coding', [url, coding], {}],
    ['a CodeableConcept', [url, codeableConcept], {}],
    ['at instance level', [coding], { id: 'm' }],
    ['by source', [{ name: 'source', valueUri: 'http://example.org/ValueSet/ones' }, coding], {}],
    ['to one target system', [url, coding, { name: 'targetsystem', valueUri: TWO }], {}],
    ['with names that nobody knows', [url, coding, { name: 'diagnostics', valueBoolean: true }], {}],
    ['with an inline map', [{ name: 'conceptMap', resource: map }, coding], {}],
    ['with a map that came along', [{ name: 'tx-resource', resource: map }, coding], {}],
  ])('%s', async (_name, parameters, options) => {
    expect(await post(parameters, options)).toEqual(found)
  })

  test.each([
    [`url=${MAP}&code=b&system=${ONE}`, undefined],
    [`code=b&system=${ONE}&targetsystem=${TWO}&conceptMapVersion=2`, 'm'],
  ])('by GET with %s', async (query, id) => {
    expect(await get(query, id)).toEqual(found)
  })

  test('gives products, and uses mappings whose dependencies are met', async () => {
    const dependency = {
      name: 'dependency',
      part: [
        { name: 'element', valueUri: 'http://example.org/sex' },
        { name: 'concept', valueCodeableConcept: { text: 'female' } },
      ],
    }
    const { resource } = await post([url, { name: 'code', valueCode: 'a' }, system, dependency])
    expect(resource['parameter']).toContainEqual({
      name: 'match',
      part: [
        { name: 'equivalence', valueCode: 'equivalent' },
        { name: 'concept', valueCoding: { system: TWO, code: 'x', display: 'Ex' } },
        {
          name: 'product',
          part: [
            { name: 'element', valueUri: 'http://example.org/side' },
            { name: 'concept', valueCoding: { system: TWO, code: 'left' } },
          ],
        },
        { name: 'source', valueUri: `${MAP}|2` },
      ],
    })
  })

  test('nothing found is 200 with a message', async () => {
    const { status, resource } = await post([url, { name: 'code', valueCode: 'zzz' }, system])
    expect(status).toBe(200)
    expect(resource).toEqual({
      resourceType: 'Parameters',
      parameter: [
        { name: 'result', valueBoolean: false },
        { name: 'message', valueString: `No translation of 'zzz' of '${ONE}' was found in ConceptMap '${MAP}|2'.` },
      ],
    })
  })

  test('in reverse, the concept is what leads to the code', async () => {
    const { resource } = await post([
      url,
      { name: 'code', valueCode: 'y' },
      { name: 'system', valueUri: TWO },
      { name: 'reverse', valueBoolean: true },
    ])
    expect(resource['parameter']).toContainEqual({
      name: 'match',
      part: [
        { name: 'equivalence', valueCode: 'wider' },
        { name: 'concept', valueCoding: { system: ONE, code: 'b' } },
        { name: 'source', valueUri: `${MAP}|2` },
      ],
    })
  })
})

describe('names of R5', () => {
  const originMap = { name: 'originMap', valueCanonical: `${MAP}|2` }
  const equivalence = { name: 'equivalence', valueCode: 'wider' }

  test.each<[string, readonly object[]]>([
    [
      'sourceCode and sourceSystem',
      [
        { name: 'sourceCode', valueCode: 'b' },
        { name: 'sourceSystem', valueUri: ONE },
      ],
    ],
    ['sourceCoding', [{ ...coding, name: 'sourceCoding' }]],
    ['sourceCodeableConcept', [{ ...codeableConcept, name: 'sourceCodeableConcept' }]],
    ['targetSystem', [code, system, { name: 'targetSystem', valueUri: TWO }]],
    ['sourceScope', [code, system, { name: 'sourceScope', valueUri: 'http://example.org/ValueSet/ones' }]],
  ])('%s', async (_name, parameters) => {
    const { resource } = await post([{ name: 'tx-resource', resource: map }, ...parameters])
    expect(resource['parameter']).toContainEqual({
      name: 'match',
      part: [equivalence, { name: 'concept', valueCoding: { system: TWO, code: 'y' } }, originMap],
    })
  })

  test.each(['sourceScope', 'targetScope'])('another %s is another map', async (name) => {
    const parameters = [code, system, { name, valueUri: 'http://example.org/other' }, { name: 'tx-resource', resource: map }]
    await expect(Promise.resolve().then(() => post(parameters))).rejects.toMatchObject({ code: 'not-found' })
  })

  test.each([
    ['a text', { valueString: 'female' }, 'x'],
    ['a code', { valueCode: 'female' }, 'x'],
    ['a Coding', { valueCoding: { system: 'http://example.org/sexes', code: 'female' } }, 'x'],
    ['another value', { valueCode: 'male' }, undefined],
    ['a boolean', { valueBoolean: true }, undefined],
  ])('a dependency by attribute and value: %s', async (_name, value, expected) => {
    const part = [
      { name: 'attribute', valueUri: 'http://example.org/sex' },
      { name: 'value', ...value },
    ]
    const { resource } = await post([url, { name: 'sourceCode', valueCode: 'a' }, system, { name: 'dependency', part }])
    const concept = { name: 'concept', valueCoding: { system: TWO, code: 'x', display: 'Ex' } }
    const found = JSON.stringify(resource).includes(JSON.stringify(concept))
    expect(found).toBe(expected !== undefined)
  })

  test('a dependency whose value is a quantity is refused', async () => {
    const part = [
      { name: 'attribute', valueUri: 'http://example.org/sex' },
      { name: 'value', valueQuantity: { value: 1 } },
    ]
    const parameters = [url, code, system, { name: 'dependency', part }]
    await expect(Promise.resolve().then(() => post(parameters))).rejects.toMatchObject({ code: 'parameter-value' })
  })

  test.each([
    [
      'targetCode',
      [
        { name: 'targetCode', valueCode: 'y' },
        { name: 'targetSystem', valueUri: TWO },
      ],
    ],
    ['targetCoding', [{ name: 'targetCoding', valueCoding: { system: TWO, code: 'y' } }]],
    [
      'targetCode with system',
      [
        { name: 'targetCode', valueCode: 'y' },
        { name: 'system', valueUri: TWO },
        { name: 'sourceSystem', valueUri: ONE },
      ],
    ],
    ['targetCodeableConcept', [{ name: 'targetCodeableConcept', valueCodeableConcept: { coding: [{ system: TWO, code: 'y' }] } }]],
  ])('%s asks in reverse', async (_name, target) => {
    const { resource } = await post([url, ...target])
    expect(resource['parameter']).toContainEqual({
      name: 'match',
      part: [
        equivalence,
        { name: 'concept', valueCoding: { system: TWO, code: 'y' } },
        { name: 'source', valueCoding: { system: ONE, code: 'b' } },
        originMap,
      ],
    })
  })
})

describe('what is refused', () => {
  test.each<[string, readonly object[]]>([
    ['code and coding', [url, code, system, coding]],
    ['coding and CodeableConcept', [url, coding, codeableConcept]],
    ['all three', [url, code, system, coding, codeableConcept]],
    ['code and targetCode', [url, code, system, { name: 'targetCode', valueCode: 'y' }]],
    ['coding and targetCoding', [url, coding, { name: 'targetCoding', valueCoding: { system: TWO, code: 'y' } }]],
  ])('%s: ambiguous', async (_name, parameters) => {
    await expect(post(parameters)).rejects.toMatchObject({
      code: 'source-ambiguous',
      message: expect.stringMatching(/ambiguous.*multiple source codings were provided \([a-z]+(, [a-zA-Z]+)+\)/),
    })
  })

  test.each<[string, readonly object[], string]>([
    ['no source', [url], 'parameter-required'],
    ['a code without system', [url, code], 'parameter-required'],
    ['a system without code', [url, system], 'parameter-required'],
    ['a stray system', [url, coding, system], 'parameter-required'],
    ['no map', [coding], 'parameter-required'],
    ['an unknown map', [{ name: 'url', valueUri: 'http://example.org/none' }, coding], 'not-found'],
    ['a repeated parameter', [url, url, coding], 'parameter-invalid'],
    ['a repeated code', [url, code, code, system], 'parameter-invalid'],
    ['one value under two names', [url, code, system, { name: 'sourceSystem', valueUri: ONE }], 'parameter-invalid'],
    ['two values in one parameter', [{ ...url, valueString: MAP }, coding], 'parameter-invalid'],
    ['a coding that is text', [url, { name: 'coding', valueString: 'b' }], 'parameter-value'],
    ['a quantity as coding', [url, { name: 'coding', valueQuantity: { system: ONE, code: 'b' } }], 'parameter-value'],
    ['a coding whose code is a number', [url, { name: 'coding', valueCoding: { system: ONE, code: 5 } }], 'body-structure'],
    [
      'a CodeableConcept whose codings are an object',
      [url, { name: 'codeableConcept', valueCodeableConcept: { coding: {} } }],
      'body-structure',
    ],
    [
      'a CodeableConcept with a null coding',
      [url, { name: 'codeableConcept', valueCodeableConcept: { coding: [null] } }],
      'body-structure',
    ],
    ['an empty CodeableConcept', [url, { name: 'codeableConcept', valueCodeableConcept: {} }], 'parameter-required'],
    ['reverse that is not a boolean', [url, coding, { name: 'reverse', valueString: 'maybe' }], 'parameter-value'],
    [
      'a dependency without element',
      [url, coding, { name: 'dependency', part: [{ name: 'concept', valueCodeableConcept: {} }] }],
      'parameter-required',
    ],
    ['a targetCode without system', [url, { name: 'targetCode', valueCode: 'y' }], 'parameter-required'],
    ['a map that is not a resource', [{ name: 'conceptMap', valueString: 'm' }, coding], 'parameter-value'],
  ])('%s', async (_name, parameters, expected) => {
    await expect(Promise.resolve().then(() => post(parameters))).rejects.toMatchObject({ code: expected })
  })

  test('a coding by GET', async () => {
    await expect(get(`url=${MAP}&coding=b`)).rejects.toMatchObject({ code: 'parameter-value' })
  })

  test('unknown names, when handling is strict', async () => {
    await expect(post([url, coding, { name: 'diagnostics', valueBoolean: true }], { strict: true })).rejects.toMatchObject({
      code: 'parameter-invalid',
    })
    expect(await post([url, coding], { strict: true })).toEqual(found)
  })

  test('20,000 parameters are read in one pass for each name', async () => {
    const many = Array.from({ length: 20_000 }, (_, i) => ({ name: `p${i}`, valueString: 'x' }))
    expect(await post([url, coding, ...many])).toEqual(found)
  })
})
