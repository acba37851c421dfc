import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ANY_CHARACTER } from '../../../../test/effort.js'
import { isObject, readStrictJson, type JsonObject } from '../json/index.js'
import { finished } from '../work/index.js'
import { putResource, puttingChecked, storedResource, writableText, type IndexEntry } from './index.js'
import { writableResource } from './stored-resource.js'

const LAID_OUT: readonly (readonly [title: string, source: string | { [name: string]: unknown }, text: string])[] = [
  ['an object', { resourceType: 'Patient', active: true }, '{"resourceType":"Patient","id":"a","meta":{},"active":true}'],
  [
    'type, id and meta first',
    '{"active":true,"id":"other","meta":{"source":"s"},"resourceType":"Patient"}',
    '{"resourceType":"Patient","id":"a","meta":{"source":"s"},"active":true}',
  ],
  [
    'digits',
    '{"resourceType":"Patient","x":1.50,"y":[1E2,9007199254740993,-0.0]}',
    '{"resourceType":"Patient","id":"a","meta":{},"x":1.50,"y":[1E2,9007199254740993,-0.0]}',
  ],
  [
    'no version of the sender',
    '{"resourceType":"Patient","meta":{"versionId":"7","tag":[{"code":"t"}],"lastUpdated":"2020"}}',
    '{"resourceType":"Patient","id":"a","meta":{"tag":[{"code":"t"}]}}',
  ],
  [
    'no blanks between tokens',
    ' {\n"resourceType" : "Patient" ,\t"x" : [ 1 , { "y z" : " , } ] " } ]\r\n}\n',
    '{"resourceType":"Patient","id":"a","meta":{},"x":[1,{"y z":" , } ] "}]}',
  ],
  [
    'quotes and backslashes',
    String.raw`{"resourceType":"Patient","x":"\"\\","y":"\\\"]}","z":{"\"":"\\\\"}}`,
    String.raw`{"resourceType":"Patient","id":"a","meta":{},"x":"\"\\","y":"\\\"]}","z":{"\"":"\\\\"}}`,
  ],
  ['escaped names', String.raw`{"resource\u0054ype":"Pati\u0065nt","\u0069d":"x"}`, '{"resourceType":"Patient","id":"a","meta":{}}'],
]

const REFUSED: readonly (readonly [title: string, type: string, id: string, source: string | { [name: string]: unknown }, code: string])[] =
  [
    ['another type', 'Patient', 'a', { resourceType: 'Group' }, 'resource-invalid'],
    ['no type', 'Patient', 'a', {}, 'resource-invalid'],
    ['a type that is not a string', 'Patient', 'a', { resourceType: ['Patient'] }, 'resource-invalid'],
    ['an unknown type', 'Nothing', 'a', { resourceType: 'Nothing' }, 'resource-invalid'],
    ['a type named as a property of objects', 'constructor', 'a', { resourceType: 'constructor' }, 'resource-invalid'],
    ['an abstract type', 'DomainResource', 'a', { resourceType: 'DomainResource' }, 'resource-invalid'],
    ['no id', 'Patient', '', { resourceType: 'Patient' }, 'resource-invalid'],
    ['a long id', 'Patient', 'a'.repeat(65), { resourceType: 'Patient' }, 'resource-invalid'],
    ['an id with a slash', 'Patient', 'a/b', { resourceType: 'Patient' }, 'resource-invalid'],
    ['an id with a line end', 'Patient', 'a\n', { resourceType: 'Patient' }, 'resource-invalid'],
    ['an array', 'Patient', 'a', '[]', 'resource-invalid'],
    ['null', 'Patient', 'a', 'null', 'resource-invalid'],
    ['no JSON', 'Patient', 'a', '{"resourceType":"Patient"', 'body-invalid'],
    ['a meta that is not an object', 'Patient', 'a', { resourceType: 'Patient', meta: [] }, 'resource-invalid'],
    ['a member twice', 'Patient', 'a', '{"resourceType":"Patient","resourceType":"Patient"}', 'resource-invalid'],
    ['a member of meta twice', 'Patient', 'a', '{"resourceType":"Patient","meta":{"tag":[],"tag":[]}}', 'resource-invalid'],
  ]

describe('writableText', () => {
  it.each(LAID_OUT)('lays out %s', (_, source, text) => {
    expect(writableText('Patient', 'a', source)).toBe(text)
  })

  it.each(REFUSED)('refuses %s', (_, type, id, source, code) => {
    expect(() => writableText(type, id, source)).toThrow(expect.objectContaining({ code }))
  })

  it('takes every form of id', () => {
    for (const id of ['a', 'A-9.z', '-', '.', '0'.repeat(64)])
      expect(writableText('Bot', id, { resourceType: 'Bot' })).toContain(`"id":"${id}"`)
  })

  it('keeps every other member of any JSON object, however it is spaced', () => {
    const names = fc.string({ unit: ANY_CHARACTER }).filter((name) => !['resourceType', 'id', 'meta', '__proto__'].includes(name))
    fc.assert(
      fc.property(fc.dictionary(names, fc.jsonValue()), fc.constantFrom('', ' ', '\n\t'), (members, space) => {
        const source = { resourceType: 'Patient', ...members }
        const text = writableText('Patient', 'a', JSON.stringify(source, undefined, space))
        expect(text).toBe(writableText('Patient', 'a', source))
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify({ ...source, id: 'a', meta: {} })))
      }),
    )
  })

  it('takes time in proportion to the text', () => {
    const text = JSON.stringify({ resourceType: 'Binary', data: '\\"'.repeat(1_000_000), x: Array.from({ length: 100_000 }, () => ({})) })
    expect(writableText('Binary', 'a', text)).toHaveLength(text.length + '"id":"a","meta":{},'.length)
  })
})

describe('storedResource', () => {
  it('stamps version and time into the text, with and without other members of meta', () => {
    const row = { type: 'Patient', id: 'a', versionId: '3', lastUpdated: '2024-01-01T00:00:00.000Z' }
    const plain = storedResource({ ...row, text: writableText('Patient', 'a', { resourceType: 'Patient' }) })
    expect(plain.text).toBe('{"resourceType":"Patient","id":"a","meta":{"versionId":"3","lastUpdated":"2024-01-01T00:00:00.000Z"}}')
    const tagged = storedResource({ ...row, text: writableText('Patient', 'a', { resourceType: 'Patient', meta: { tag: [] } }) })
    expect(tagged.resource['meta']).toEqual({ versionId: '3', lastUpdated: '2024-01-01T00:00:00.000Z', tag: [] })
    expect(tagged.resource).toBe(tagged.resource)
  })

  it('is parsed once, be it in one go or in pieces', () => {
    const text = writableText('Patient', 'a', { resourceType: 'Patient' })
    const stored = storedResource({ type: 'Patient', id: 'a', versionId: '1', lastUpdated: '2024-01-01T00:00:00.000Z', text })
    const { parsing } = stored
    if (parsing === undefined) throw new Error('There is no parsing in pieces')
    const first = finished(parsing())
    expect(first).toMatchObject({ id: 'a' })
    expect(finished(parsing())).toBe(first)
    expect(stored.resource).toBe(first)
  })
})

describe('putResource', () => {
  it.each(LAID_OUT)('lets the indexer see what is stored of %s', (_, source, text) => {
    const seen: unknown[] = []
    putResource({ type: 'Patient', id: 'a', source }, (resource) => {
      seen.push(resource)
      return []
    })
    expect(seen).toEqual([JSON.parse(text)])
  })

  it('makes a write entry with the entries of the indexer', () => {
    const indexer = (resource: object): { param: string; value: string }[] => [
      { param: 'seen', value: isObject(resource) ? String(resource['id']) : '' },
    ]
    const put = putResource({ type: 'Patient', id: 'a', source: '{"resourceType":"Patient"}', ifVersion: null }, indexer)
    expect(put).toEqual({
      op: 'put',
      type: 'Patient',
      id: 'a',
      text: '{"resourceType":"Patient","id":"a","meta":{}}',
      entries: [{ param: 'seen', value: 'a' }],
      ifVersion: null,
    })
    expect(putResource({ type: 'Patient', id: 'a', source: { resourceType: 'Patient' } }, indexer)).not.toHaveProperty('ifVersion')
  })
})

it('is laid out in pieces where it has very many members', () => {
  const source = JSON.stringify({ resourceType: 'Basic', ...Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`m${i}`, i])) })
  const work = writableResource('Basic', 'a', source)
  let pieces = 1
  let step = work.next()
  for (; step.done !== true; step = work.next()) pieces++
  expect(step.value).toEqual({ text: writableText('Basic', 'a', source), resource: { ...JSON.parse(source), id: 'a', meta: {} } })
  expect(pieces).toBeGreaterThan(50)
})

describe('puttingChecked', () => {
  it.each([
    '{"resourceType":"Patient","id":"p"}',
    '{"resourceType":"Patient","id":"p","active":true}',
    '{"resourceType":"Patient","id":"p","meta":{},"active":true}',
    '{"resourceType":"Patient","id":"p","meta":{"profile":["http://x"]},"name":[{"family":"a b"}]}',
    '{"resourceType":"Patient","id":"p","meta":{"versionId":"7","profile":["http://x"]},"active":true}',
    '{"resourceType":"Patient","id":"p","meta":{"lastUpdated":"2020-01-01T00:00:00Z"}}',
    '{"resourceType":"Patient","id":"p","x":1.50,"meta":{"tag":[]}}',
    '{"id":"p","resourceType":"Patient","active":true}',
    '{ "resourceType" : "Patient", "id":"p" , "active":true }',
    '{"resourceType":"Patient","id":"other","active":true}',
    '{"resourceType":"Patient","active":true}',
  ])('makes of %s what puttingResource makes', (text) => {
    const indexer = (resource: JsonObject): readonly IndexEntry[] => [{ param: 'all', value: JSON.stringify(resource) }]
    const [type, id] = ['Patient', 'p']
    const resource = finished(readStrictJson(text, { maxDepth: 9, maxMembers: 99 }))
    const [before, after] = [
      putResource({ type, id, source: text }, indexer),
      finished(puttingChecked({ type, id, text, resource }, indexer)),
    ]
    const indexed = [before, after].map(({ entries }): unknown => JSON.parse(entries[0]?.value ?? ''))
    expect({ ...after, entries: indexed[1] }).toEqual({ ...before, entries: indexed[0] })
  })
})

it.each([
  ['Basic.x', { x: Number.NaN }],
  ['Basic.x[1].y', { x: [{ y: 1 }, { y: -Infinity }] }],
  ['Basic.x[0]', { x: [undefined] }],
  ['Basic.x[0]', { x: [() => 1] }],
  ['Basic.x', { x: new Date('never') }],
  ['Basic.x', { x: new Map([['a', 1]]) }],
  ['Basic.x', { x: new Set([1]) }],
])('a value that JSON would replace is refused with its place: %s', (place, members) => {
  const message = `The value of '${place}' cannot be written as JSON.`
  const refusal = expect.objectContaining({ code: 'resource-invalid', message })
  expect(() => writableText('Basic', 'a', { resourceType: 'Basic', ...members })).toThrow(refusal)
})

it('null, empty objects, absent members and dates are written as JSON has them', () => {
  const source = { resourceType: 'Basic', x: [null, 'null'], y: {}, z: undefined, at: new Date(0) }
  expect(writableText('Basic', 'a', source)).toBe(
    '{"resourceType":"Basic","id":"a","meta":{},"x":[null,"null"],"y":{},"at":"1970-01-01T00:00:00.000Z"}',
  )
})
