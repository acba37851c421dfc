import fastJsonPatch from 'fast-json-patch'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { JSON_PATCH, PATIENT, patchedService, refusal, type PatchedService } from './patched-service.js'
import { at, type Reply } from './running-server.js'

let service: PatchedService
beforeEach(async () => {
  service = await patchedService()
})
afterEach(() => service[Symbol.asyncDispose]())
const ask: PatchedService['ask'] = (...asked) => service.ask(...asked)
const patch: PatchedService['patch'] = (...asked) => service.patch(...asked)
/** What `Accept-Patch` names. */
const ACCEPTED = 'application/json-patch+json, application/fhir+json, application/json, application/json+fhir, text/json'
const textOf = ({ json }: Reply): string => String(at(json, 'issue', 0, 'details', 'text'))

describe('JSON Patch', () => {
  it('changes parts of a resource and makes its next version', async () => {
    const reply = await patch([
      { op: 'test', path: '/active', value: true },
      { op: 'replace', path: '/active', value: false },
      { op: 'add', path: '/name/0/given/-', value: 'B.' },
      { op: 'remove', path: '/name/1' },
      { op: 'move', from: '/birthDate', path: '/deceasedDateTime' },
      { op: 'copy', from: '/identifier/0', path: '/identifier/0' },
    ])
    expect([reply.status, reply.headers.etag, reply.headers.location?.endsWith('/Patient/one/_history/2')]).toEqual([200, 'W/"2"', true])
    const { meta: _meta, ...resource } = reply.json as Record<string, unknown>
    expect(resource).toEqual({
      resourceType: 'Patient',
      id: 'one',
      identifier: [{ value: 'x' }, { value: 'x' }],
      active: false,
      name: [{ family: 'Lovell', given: ['Ada', 'Jo', 'B.'] }],
      deceasedDateTime: '1980-12-10',
    })
    expect((await ask('GET', '/Patient/one')).text).toBe(reply.text)
  })

  it('keeps the digits of numbers, in what was there and in what is added', async () => {
    const quantity = '{"resourceType":"Observation","id":"o","valueQuantity":{"value":1.00,"unit":"a"},"component":[]}'
    await ask('PUT', '/Observation/o', { text: quantity, type: 'application/fhir+json' })
    const text = '[{"op":"add","path":"/component/-","value":{"valueQuantity":{"value":12345678901234567890.10}}}]'
    const reply = await ask('PATCH', '/Observation/o', { text })
    expect(reply.text).toContain('{"value":1.00,"unit":"a"}')
    expect(reply.text).toContain('{"value":12345678901234567890.10}')
  })

  it.each([
    [{ op: 'replace', path: '/gender', value: 'x' }, 409],
    [{ op: 'remove', path: '/gender' }, 409],
    [{ op: 'remove', path: '/name/2' }, 409],
    [{ op: 'remove', path: '/name/-' }, 409],
    [{ op: 'remove', path: '/name/00' }, 409],
    [{ op: 'remove', path: '/name/-1' }, 409],
    [{ op: 'remove', path: '/name/1e0' }, 409],
    [{ op: 'remove', path: '/active/x' }, 409],
    [{ op: 'add', path: '/name/3', value: {} }, 409],
    [{ op: 'add', path: '/contact/0', value: {} }, 409],
    [{ op: 'add', path: '/constructor/x', value: {} }, 409],
    [{ op: 'add', path: '/toString/x', value: {} }, 409],
    [{ op: 'copy', from: '/gender', path: '/x' }, 409],
    [{ op: 'test', path: '/active', value: false }, 409],
    [{ op: 'test', path: '/active', value: 'true' }, 409],
    [{ op: 'test', path: '/name/0/given', value: ['Jo', 'Ada'] }, 409],
    [{ op: 'test', path: '/name/1', value: { family: 'Old', use: 'old' } }, 409],
    [{ op: 'test', path: '/gender', value: null }, 409],
    [{ op: 'move', from: '/name', path: '/name/0' }, 422],
    [{ op: 'remove', path: '' }, 422],
    [{ op: 'replace', path: '/id', value: 'two' }, 422],
    [{ op: 'remove', path: '/id' }, 422],
    [{ op: 'replace', path: '/resourceType', value: 'Basic' }, 422],
    [{ op: 'replace', path: '', value: [] }, 422],
    [{ op: 'replace', path: '', value: { resourceType: 'Patient' } }, 422],
    [{ op: 'add', path: '/__proto__', value: {} }, 422],
    [{ op: 'add', path: '/constructor', value: {} }, 422],
    [{ op: 'add' }, 400],
    [{ op: 'add', path: '/active' }, 400],
    [{ op: 'add', path: 'active', value: 1 }, 400],
    [{ op: 'add', path: '/~2', value: 1 }, 400],
    [{ op: 'add', path: '/~', value: 1 }, 400],
    [{ op: 'add', path: 3, value: 1 }, 400],
    [{ op: 'move', path: '/active' }, 400],
    [{ op: 'copy', path: '/active', from: null }, 400],
    [{ op: 'spam', path: '/active', value: 1 }, 400],
    [{ path: '/active', value: 1 }, 400],
    [{ op: ['add'], path: '/active', value: 1 }, 400],
    ['x', 400],
    [null, 400],
  ])('refuses %j with %i and changes nothing', async (operation, status) => {
    const reply = await patch(
      [{ op: 'replace', path: '/active', value: false }, operation].slice(status === 409 && isTest(operation) ? 1 : 0),
    )
    expect([reply.status, at(reply.json, 'resourceType')]).toEqual([status, 'OperationOutcome'])
    expect(at((await ask('GET', '/Patient/one')).json, 'meta', 'versionId')).toBe('1')
  })

  function isTest(operation: unknown): boolean {
    return typeof operation === 'object' && operation !== null && Reflect.get(operation, 'op') === 'test'
  }

  it('names the operation and the place that there is not', async () => {
    expect(textOf(await patch([{ op: 'test', path: '', value: {} }]))).toMatch(/^Operation 0 of the patch \(test\) failed/)
    const reply = await patch([
      { op: 'remove', path: '/active' },
      { op: 'remove', path: '/a~1b/~0' },
    ])
    expect(textOf(reply)).toBe("Operation 1 of the patch (remove) cannot be done: there is nothing at '/a~1b/~0'.")
  })

  it.each([
    ['{}', JSON_PATCH, 400],
    ['[', JSON_PATCH, 400],
    ['', JSON_PATCH, 400],
    ['[{"op":"add","op":"remove","path":"/active"}]', JSON_PATCH, 400],
    ['[]', 'application/fhir+json', 200],
    ['{"resourceType":"Patient"}', 'application/fhir+json', 400],
    ['"x"', 'application/json', 400],
    ['[]', 'application/merge-patch+json', 415],
    ['[]', 'text/plain', 415],
    ['<diff/>', 'application/xml-patch+xml', 415],
    ['[]', `${JSON_PATCH}; charset=latin1`, 415],
    ['[]', `${JSON_PATCH}; charset=utf-8`, 200],
    ['[]', 'application/json', 200],
    ['[]', 'text/json', 200],
    ['[]', 'application/json+fhir', 200],
    ['[]', 'application/vnd.example+json', 200],
  ])('a body %s of the type %s is answered with %i', async (text, type, status) => {
    const reply = await ask('PATCH', '/Patient/one', { text, type })
    expect(reply.status).toBe(status)
    if (status === 415) expect(reply.headers['accept-patch']).toBe(ACCEPTED)
  })

  it('is bound in what it can make of a small body', async () => {
    const doubling = Array.from({ length: 40 }, (_, index) => ({ op: 'copy', from: '', path: `/x${index}` }))
    expect(refusal(await patch(doubling))).toEqual([422, 'too-costly'])
    const nesting = [
      { op: 'add', path: '/x', value: Array.from({ length: 1_000 }, () => ({})) },
      ...Array.from({ length: 999 }, () => ({ op: 'move', from: '/x/0', path: '/x/0/y' })),
    ]
    expect(refusal(await patch(nesting))).toEqual([422, 'processing'])
  })

  it('does what another implementation does', async () => {
    const document = JSON.parse(PATIENT)
    let seed = 42
    const pick = <T>(values: readonly T[]): T => values[(seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) % values.length] as T
    const paths = [
      '/active',
      '/name',
      '/name/0',
      '/name/1',
      '/name/-',
      '/name/0/given/0',
      '/name/0/given/-',
      '/x',
      '/x/y',
      '/name/0/family',
    ]
    const values = [1, 'a', null, {}, [], { y: 1 }, [1, 2], 1.5]
    for (let round = 0; round < 300; round++) {
      const operations = Array.from({ length: 1 + (round % 4) }, () => ({
        op: pick(['add', 'remove', 'replace', 'move', 'copy', 'test']),
        path: pick(paths),
        from: pick(paths),
        value: pick(values),
      }))
      await ask('PUT', '/Patient/one', { text: PATIENT, type: 'application/fhir+json' })
      const reply = await patch(operations)
      const expected = appliedElsewhere(document, operations)
      const where = JSON.stringify(operations)
      expect(reply.status === 200, where).toBe(expected !== undefined)
      if (expected !== undefined) expect({ ...(reply.json as object), meta: undefined }, where).toEqual({ ...expected, meta: undefined })
    }
  })

  function appliedElsewhere(document: object, operations: readonly object[]): object | undefined {
    try {
      const copy: object = structuredClone(document)
      return fastJsonPatch.applyPatch(copy, structuredClone(operations) as never, true).newDocument
    } catch {
      return undefined
    }
  }
})
