import { describe, expect, it } from 'vitest'
import { call, codeSystem, cs, valueSet, vs } from '../../../test/terminology-content.js'
import { createContext } from '../../context/index.js'
import { objectAt, objectsAt, type JsonObject } from '../../json/index.js'
import { memoryStorage } from '../../memory/index.js'
import { expandOperation, valueSetValidateCodeOperation } from '../../operations/index.js'

const PROFILE = {
  resourceType: 'StructureDefinition',
  id: 'profile',
  url: 'http://example.org/sd/profile',
  version: '1',
  status: 'active',
  snapshot: {
    element: [
      { id: 'Observation', path: 'Observation' },
      { id: 'Observation.code:pet', path: 'Observation.code', binding: { strength: 'required', valueSet: `${vs('pets')}|1` } },
    ],
  },
}
const DERIVED = {
  resourceType: 'StructureDefinition',
  id: 'derived',
  url: 'http://example.org/sd/derived',
  status: 'active',
  baseDefinition: `${PROFILE.url}|1`,
  differential: { element: [{ id: 'Observation.code', path: 'Observation.code', min: 1 }] },
}
const CIRCLE = { ...DERIVED, id: 'circle', url: 'http://example.org/sd/circle', baseDefinition: 'http://example.org/sd/circle' }
const ctx = createContext({
  storage: memoryStorage([
    { ...codeSystem('living', [{ code: 'cat' }, { code: 'oak' }]), id: 'living' },
    { ...valueSet('pets', { include: [{ system: cs('living'), concept: [{ code: 'cat' }] }] }, { version: '1' }), id: 'pets' },
    PROFILE,
    DERIVED,
    CIRCLE,
  ]),
})

async function expanded(inputs: Record<string, string>, id?: string): Promise<readonly unknown[]> {
  const parameter = Object.entries(inputs).map(([name, valueUri]) => ({ name, valueUri }))
  return codesIn(await call(expandOperation, ctx, parameter, { id }))
}

function codesIn(resource: JsonObject): readonly unknown[] {
  return objectsAt(objectAt(resource, 'expansion'), 'contains').map(({ code }) => code)
}

const context = `${PROFILE.url}#Observation.code`

describe('a value set is named', () => {
  it.each<[string, Record<string, string>, string?]>([
    ['by url', { url: vs('pets') }],
    ['by the id in the path', {}, 'pets'],
    ['by both', { url: `${vs('pets')}|1` }, 'pets'],
    ['by the path of an element that is bound to it', { context, contextDirection: 'incoming' }],
    ['by an element that a profile inherits the binding of', { context: `${DERIVED.url}#Observation.code` }],
    ['by a slice of it', { context: `${DERIVED.url}#Observation.code:wild` }],
    ['by the id of the element', { context: `${PROFILE.url}|1#Observation.code:pet` }],
  ])('%s', async (_, inputs, id) => {
    expect(await expanded(inputs, id)).toEqual(['cat'])
  })

  it('by the context of a code that is validated, too', async () => {
    const parameter = [
      { name: 'context', valueUri: context },
      { name: 'code', valueCode: 'oak' },
      { name: 'system', valueUri: cs('living') },
    ]
    const { parameter: out } = await call(valueSetValidateCodeOperation, ctx, parameter)
    expect(out).toContainEqual({ name: 'result', valueBoolean: false })
  })

  it.each<[string, Record<string, string>, string | undefined, string]>([
    ['a context without element', { context: PROFILE.url }, undefined, 'parameter-value'],
    ['a context without StructureDefinition', { context: '#Observation.code' }, undefined, 'parameter-value'],
    ['an element that there is not', { context: `${PROFILE.url}#Observation.value` }, undefined, 'parameter-value'],
    ['an element without binding', { context: `${PROFILE.url}#Observation` }, undefined, 'parameter-value'],
    ['an element of a definition based on itself', { context: `${CIRCLE.url}#Observation.code` }, undefined, 'parameter-value'],
    ['an unknown StructureDefinition', { context: 'http://example.org/sd/none#Observation.code' }, undefined, 'not-found'],
    ['another version of it', { context: `${PROFILE.url}|2#Observation.code` }, undefined, 'not-found'],
    ['a direction that there is not', { context, contextDirection: 'up' }, undefined, 'parameter-value'],
    ['a context beside a url', { context, url: vs('pets') }, undefined, 'parameter-invalid'],
    ['a context beside an id', { context }, 'pets', 'parameter-invalid'],
    ['the url of another beside an id', { url: vs('other') }, 'pets', 'parameter-invalid'],
    ['another version beside an id', { url: `${vs('pets')}|2` }, 'pets', 'parameter-invalid'],
    ['the id of none', {}, 'none', 'not-found'],
    ['nothing', {}, undefined, 'parameter-required'],
  ])('but not by %s', async (_, inputs, id, code) => {
    await expect(expanded(inputs, id)).rejects.toMatchObject({ code })
  })

  it('in one version only', async () => {
    expect(await expanded({ url: `${vs('pets')}|1`, valueSetVersion: '1' })).toEqual(['cat'])
    expect(await expanded({ valueSetVersion: '1' }, 'pets')).toEqual(['cat'])
    await expect(expanded({ url: `${vs('pets')}|1`, valueSetVersion: '2' })).rejects.toMatchObject({ code: 'parameter-invalid' })
    await expect(expanded({ valueSetVersion: '2' }, 'pets')).rejects.toMatchObject({ code: 'parameter-invalid' })
  })

  it('but not by a resource beside an id', async () => {
    const parameter = [{ name: 'valueSet', resource: valueSet('other', { include: [{ system: cs('living') }] }) }]
    await expect(call(expandOperation, ctx, parameter, { id: 'pets' })).rejects.toMatchObject({ code: 'parameter-invalid' })
  })

  it('but not by a resource beside a url', async () => {
    const parameter = [
      { name: 'url', valueUri: vs('pets') },
      { name: 'valueSet', resource: valueSet('other', { include: [{ system: cs('living') }] }) },
    ]
    await expect(call(expandOperation, ctx, parameter)).rejects.toMatchObject({
      code: 'parameter-invalid',
      expression: ['Parameters.parameter[0]', 'Parameters.parameter[1]'],
    })
  })

  it('or is all codes of a code system, by ?fhir_vs', async () => {
    expect(await expanded({ url: `${cs('living')}?fhir_vs` })).toEqual(['cat', 'oak'])
    await expect(expanded({ url: `${cs('none')}?fhir_vs` })).rejects.toMatchObject({ code: 'not-found' })
  })
})
