import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { PATIENT, patchedService, type PatchedService } from './patched-service.js'
import { at, type Reply } from './running-server.js'

let service: PatchedService
beforeEach(async () => {
  service = await patchedService()
})
afterEach(() => service[Symbol.asyncDispose]())
const ask: PatchedService['ask'] = (...asked) => service.ask(...asked)
const patch: PatchedService['patch'] = (...asked) => service.patch(...asked)

describe('FHIRPath Patch', () => {
  const operation = (parts: Record<string, unknown>): object => ({
    name: 'operation',
    part: Object.entries(parts).map(([name, value]) =>
      typeof value === 'object'
        ? { name, ...value }
        : typeof value === 'number'
          ? { name, valueInteger: value }
          : { name, valueString: value },
    ),
  })
  const pathPatch = (...operations: Record<string, unknown>[]): Promise<Reply> =>
    patch({ resourceType: 'Parameters', parameter: operations.map(operation) }, { type: 'application/fhir+json' })

  it.each([
    [{ type: 'add', path: 'Patient', name: 'gender', value: { valueCode: 'female' } }, { gender: 'female' }],
    [{ type: 'add', path: 'Patient', name: 'deceased', value: { valueBoolean: false } }, { deceasedBoolean: false }],
    [
      { type: 'add', path: 'Patient.name[0]', name: 'given', value: { valueString: 'X' } },
      { name: [{ family: 'Lovell', given: ['Ada', 'Jo', 'X'] }, { family: 'Old' }] },
    ],
    [
      { type: 'insert', path: 'Patient.name[0].given', index: 1, value: { valueString: 'X' } },
      { name: [{ family: 'Lovell', given: ['Ada', 'X', 'Jo'] }, { family: 'Old' }] },
    ],
    [{ type: 'delete', path: "Patient.name.where(family = 'Old')" }, { name: [{ family: 'Lovell', given: ['Ada', 'Jo'] }] }],
    [{ type: 'delete', path: 'Patient.gender' }, {}],
    [{ type: 'delete', path: 'Patient.identifier[0]' }, { identifier: undefined }],
    [{ type: 'replace', path: 'Patient.birthDate', value: { valueDate: '1981-01-01' } }, { birthDate: '1981-01-01' }],
    [
      { type: 'replace', path: 'Patient.name[1]', value: { valueHumanName: { text: 'New' } } },
      { name: [{ family: 'Lovell', given: ['Ada', 'Jo'] }, { text: 'New' }] },
    ],
    [
      { type: 'move', path: 'Patient.name', source: 1, destination: 0 },
      { name: [{ family: 'Old' }, { family: 'Lovell', given: ['Ada', 'Jo'] }] },
    ],
    [
      {
        type: 'add',
        path: 'Patient',
        name: 'contact',
        value: {
          part: [
            { name: 'name', valueHumanName: { text: 'a' } },
            { name: 'telecom', valueContactPoint: { value: '1' } },
            { name: 'telecom', valueContactPoint: { value: '2' } },
          ],
        },
      },
      { contact: [{ name: { text: 'a' }, telecom: [{ value: '1' }, { value: '2' }] }] },
    ],
    [
      { type: 'add', path: 'Patient', name: 'contained', value: { resource: { resourceType: 'Basic', id: 'c' } } },
      { contained: [{ resourceType: 'Basic', id: 'c' }] },
    ],
    [
      { type: 'add', path: 'Patient.name[0]', name: 'given', value: { _valueString: { extension: [{ url: 'u', valueCode: 'c' }] } } },
      {
        name: [
          { family: 'Lovell', given: ['Ada', 'Jo', null], _given: [null, null, { extension: [{ url: 'u', valueCode: 'c' }] }] },
          { family: 'Old' },
        ],
      },
    ],
    [
      { type: 'add', path: 'Patient.birthDate', name: 'extension', value: { valueExtension: { url: 'u', valueCode: 'c' } } },
      { _birthDate: { extension: [{ url: 'u', valueCode: 'c' }] } },
    ],
    [
      { type: 'add', path: 'Patient.name[0].given[1]', name: 'extension', value: { valueExtension: { url: 'u', valueCode: 'c' } } },
      {
        name: [
          { family: 'Lovell', given: ['Ada', 'Jo'], _given: [null, { extension: [{ url: 'u', valueCode: 'c' }] }] },
          { family: 'Old' },
        ],
      },
    ],
  ])('%j gives %j', async (change, expected) => {
    const reply = await pathPatch(change)
    expect([reply.status, reply.text]).toEqual([200, reply.text])
    const { resourceType: _type, ...before } = JSON.parse(PATIENT)
    expect(reply.json).toEqual({ resourceType: 'Patient', ...clean({ ...before, ...expected }), meta: expect.anything() })
  })

  function clean(resource: object): object {
    return Object.fromEntries(Object.entries(resource).filter(([, value]) => value !== undefined))
  }

  it('leaves no element empty whose last child is deleted, unless a later operation fills it', async () => {
    const contact = (part: object): Record<string, unknown> => ({ type: 'add', path: 'Patient', name: 'contact', value: { part: [part] } })
    const reply = await pathPatch(
      contact({ name: 'gender', valueCode: 'male' }),
      contact({ name: 'name', valueHumanName: { given: ['A'] } }),
      contact({ name: 'gender', valueCode: 'other' }),
      { type: 'delete', path: 'Patient.contact[0].gender' },
      { type: 'delete', path: 'Patient.contact[1].name.given[0]' },
      { type: 'delete', path: 'Patient.contact[2].gender' },
      { type: 'add', path: 'Patient.contact[2]', name: 'gender', value: { valueCode: 'female' } },
      { type: 'add', path: 'Patient.name[0].given[1]', name: 'extension', value: { valueExtension: { url: 'u', valueCode: 'c' } } },
      { type: 'delete', path: 'Patient.name[0].given[1].extension' },
    )
    expect(reply.json).toMatchObject({
      contact: [{ gender: 'female' }],
      name: [{ family: 'Lovell', given: ['Ada', 'Jo'] }, { family: 'Old' }],
    })
    expect(reply.text).not.toMatch(/_given|\{\}|\[\]/)
  })

  it('replaces a value of one type by one of another, and each path sees what was changed before', async () => {
    const reply = await pathPatch(
      { type: 'add', path: 'Patient', name: 'multipleBirth', value: { valueBoolean: true } },
      { type: 'replace', path: 'Patient.multipleBirth', value: { valueInteger: 2 } },
      { type: 'delete', path: 'Patient.name[0]' },
      { type: 'delete', path: 'Patient.name[0]' },
    )
    expect(reply.json).toMatchObject({ multipleBirthInteger: 2 })
    expect([at(reply.json, 'multipleBirthBoolean'), at(reply.json, 'name')]).toEqual([undefined, undefined])
  })

  it.each([
    [{ resourceType: 'Parameters', parameter: { name: 'operation', part: [] } }],
    [{ resourceType: 'Parameters', parameter: null }],
    [{ resourceType: 'Parameters', parameter: [{ name: 'operation', part: { name: 'type', valueCode: 'delete' } }] }],
  ])('is refused where it has something else in place of a list: %j', async (body) => {
    const reply = await patch(body, { type: 'application/fhir+json' })
    expect([reply.status, at(reply.json, 'issue', 0, 'code')]).toEqual([400, 'structure'])
    expect(at(reply.json, 'issue', 0, 'details', 'text')).toContain('must be a list')
  })

  it.each([
    ['Patient.active', { type: 'replace', value: { valueBoolean: false } }],
    ['Patient.identifier[0]', { type: 'replace', value: { valueIdentifier: { value: 'y' } } }],
    ['Patient.name[1]', { type: 'replace', value: { valueHumanName: { text: 'New' } } }],
    ['Patient.identifier', { type: 'move', source: 0, destination: 0 }],
    ['Patient.name', { type: 'move', source: 1, destination: 0 }],
  ])('leaves the members of a resource in their order: %s, %j', async (path, change) => {
    const { id: _id, ...before } = JSON.parse(PATIENT)
    const reply = await pathPatch({ path, ...change })
    expect(members(reply)).toEqual(Object.keys(before))
  })

  it('puts a value of another type where the one before was', async () => {
    const reply = await pathPatch(
      { type: 'add', path: 'Patient', name: 'multipleBirth', value: { valueBoolean: true } },
      { type: 'add', path: 'Patient', name: 'gender', value: { valueCode: 'female' } },
      { type: 'add', path: 'Patient.multipleBirth', name: 'extension', value: { valueExtension: { url: 'u', valueCode: 'c' } } },
      { type: 'replace', path: 'Patient.multipleBirth', value: { valueInteger: 2, _valueInteger: { id: 'x' } } },
    )
    expect(members(reply).slice(-3)).toEqual(['multipleBirthInteger', '_multipleBirthInteger', 'gender'])
  })

  it('moves an item of a list whose others have no value', async () => {
    const extra = { extension: [{ url: 'u', valueCode: 'c' }] }
    const reply = await pathPatch(
      {
        type: 'replace',
        path: 'Patient.name[0]',
        value: { valueHumanName: { given: ['Ada', null], _given: [null, extra], family: 'Lovell' } },
      },
      { type: 'move', path: 'Patient.name[0].given', source: 0, destination: 1 },
    )
    expect(JSON.stringify(at(reply.json, 'name', 0))).toBe(
      JSON.stringify({ given: [null, 'Ada'], _given: [extra, null], family: 'Lovell' }),
    )
  })

  /** Names of the members of a Patient, but for those that the server writes first. */
  function members({ json }: Reply): readonly string[] {
    return Object.keys(json ?? {}).filter((name) => name !== 'id' && name !== 'meta')
  }

  it.each([
    [{ type: 'add', path: 'Patient', name: 'active', value: { valueBoolean: false } }, 409],
    [{ type: 'add', path: 'Patient.contact', name: 'gender', value: { valueCode: 'male' } }, 409],
    [{ type: 'add', path: 'Patient.name', name: 'use', value: { valueCode: 'old' } }, 409],
    [{ type: 'delete', path: 'Patient.name' }, 409],
    [{ type: 'replace', path: 'Patient.gender', value: { valueCode: 'male' } }, 409],
    [{ type: 'insert', path: 'Patient.name', index: 3, value: { valueHumanName: {} } }, 409],
    [{ type: 'insert', path: 'Patient.contact', index: 0, value: { part: [] } }, 409],
    [{ type: 'move', path: 'Patient.name', source: 0, destination: 2 }, 409],
    [{ type: 'add', path: 'Patient', name: 'nonsense', value: { valueBoolean: true } }, 422],
    [{ type: 'add', path: 'Patient', name: 'deceased', value: { valueQuantity: {} } }, 422],
    [{ type: 'add', path: 'Patient', name: 'contact', value: { part: [{ name: 'x', valueString: '' }] } }, 422],
    [{ type: 'insert', path: 'Patient.birthDate', index: 0, value: { valueDate: '2000' } }, 422],
    [{ type: 'replace', path: 'Patient', value: { resource: {} } }, 422],
    [{ type: 'delete', path: '1 + 1' }, 422],
    [{ type: 'delete', path: 'Patient.name.given.first() & 1' }, 422],
    [{ type: 'delete', path: 'Patient.(' }, 422],
    [{ type: 'delete', path: 'Patient.id' }, 422],
    [{ type: 'delete', path: '%resource.nonsense()' }, 422],
    [{ type: 'spam', path: 'Patient' }, 400],
    [{ type: 'delete' }, 400],
    [{ type: 'add', path: 'Patient', name: 'gender' }, 400],
    [{ type: 'insert', path: 'Patient.name', index: -1, value: { valueHumanName: {} } }, 400],
    [{ type: 'move', path: 'Patient.name', source: 0 }, 400],
    [{ type: 'add', path: 'Patient', name: 'gender', value: { valueCode: 'male', valueString: 'male' } }, 400],
  ])('refuses %j with %i and changes nothing', async (change, status) => {
    const reply = await pathPatch(change)
    expect([reply.status, at(reply.json, 'resourceType')]).toEqual([status, 'OperationOutcome'])
    expect(at((await ask('GET', '/Patient/one')).json, 'meta', 'versionId')).toBe('1')
  })
})
