import { isObject, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { afterAll, describe, expect, test } from 'vitest'
import { wholeService } from './service.js'

const service = wholeService()
afterAll(() => service.close())

async function validated(type: string, body: string, query = ''): Promise<{ status: number; issues: readonly JsonObject[]; text: string }> {
  const answer = await service.call('POST', `/${type}/$validate${query}`, body)
  const text = await answer.text()
  const outcome: unknown = JSON.parse(text)
  return { status: answer.status, issues: isObject(outcome) ? objectsAt(outcome, 'issue') : [], text }
}

const patient = (more: object): string => JSON.stringify({ resourceType: 'Patient', ...more })
const narrative = (div: string): string =>
  patient({ text: { status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">${div}</div>` } })
const errorsOf = (issues: readonly JsonObject[]): readonly JsonObject[] =>
  issues.filter((issue) => /error|fatal/.test(stringAt(issue, 'severity') ?? ''))

test('what was validated is not stored', async () => {
  await validated('Patient', patient({ id: 'seen' }))
  expect((await service.call('GET', '/Patient/seen')).status).toBe(404)
})

describe('a narrative', () => {
  test.each([
    ['with a script', '<script>alert(1)</script>'],
    ['with an event attribute', '<p onclick="x()">a</p>'],
    ['with a style element', '<style>p{}</style>'],
    ['with a form', '<form action="x"><p>a</p></form>'],
    ['with a frame', '<iframe src="x"></iframe>'],
    ['with a javascript link', '<a href="javascript:alert(1)">a</a>'],
    ['with a javascript link behind entities', '<a href="java&#115;cript&#58;alert(1)">a</a>'],
    ['with a processing instruction', '<?php x ?><p>a</p>'],
    ['that is not well-formed', '<p><b>a</p></b>'],
  ])('%s is an error', async (_, div) => {
    expect(errorsOf((await validated('Patient', narrative(div))).issues).length).toBeGreaterThan(0)
  })

  test.each([
    ['with a DOCTYPE', '<!DOCTYPE html [<!ENTITY a "b">]><div xmlns="http://www.w3.org/1999/xhtml">&a;</div>'],
    ['with an entity of its own', '<div xmlns="http://www.w3.org/1999/xhtml">&a;</div>'],
  ])('%s is an error', async (_, div) => {
    expect(errorsOf((await validated('Patient', patient({ text: { status: 'generated', div } }))).issues).length).toBeGreaterThan(0)
  })

  test('of the allowed elements is none', async () => {
    expect(
      errorsOf((await validated('Patient', narrative('<p>a <b>b</b> &amp; &#x41;</p><table><tr><td>c</td></tr></table>'))).issues),
    ).toEqual([])
  })
})

test('depth is bounded', async () => {
  const deep = (levels: number): string => '{"url":"http://example.org/x","extension":['.repeat(levels) + ']}'.repeat(levels)
  const { status } = await validated('Patient', `{"resourceType":"Patient","extension":[${deep(5_000)}]}`)
  expect([200, 400]).toContain(status)
})

describe('a primitive that costs a backtracking expression seconds', () => {
  test.each([
    ['base64Binary', 'Binary', { resourceType: 'Binary', contentType: 'a/b', data: `${'AAAA  '.repeat(5_000)}!` }],
    ['decimal', 'Observation', { resourceType: 'Observation', valueQuantity: { value: `${'1'.repeat(50_000)}x` } }],
    ['uri', 'Patient', { resourceType: 'Patient', implicitRules: `${' a'.repeat(50_000)}` }],
    ['oid', 'Patient', { resourceType: 'Patient', identifier: [{ system: `urn:oid:${'1.'.repeat(50_000)}` }] }],
    ['code', 'Patient', { resourceType: 'Patient', language: `${'a '.repeat(50_000)}` }],
  ])('%s is an error within the time of a request', async (_, type, resource) => {
    const { status, issues } = await validated(type, JSON.stringify(resource))
    expect([status, errorsOf(issues).length > 0]).toEqual([200, true])
  })
})

describe('hostile definitions', () => {
  test.each([
    ['two variants of a choice', { deceasedBoolean: true, deceasedDateTime: '2020' }, 'Patient'],
    ['a null', { birthDate: null }, 'Patient.birthDate'],
    ['a date that the calendar has not', { birthDate: '2024-02-30' }, 'Patient.birthDate'],
  ])('%s is an error', async (_, more, place) => {
    const errors = errorsOf((await validated('Patient', patient(more))).issues)
    expect(errors.map(({ expression }) => expression)).toContainEqual([expect.stringMatching(`^${place}`)])
  })
})

test('contained resources that refer to each other in a circle end', async () => {
  const organization = (id: string, other: string): object => ({
    resourceType: 'Organization',
    id,
    name: id,
    partOf: { reference: `#${other}` },
  })
  const body = patient({ contained: [organization('a', 'b'), organization('b', 'a')], managingOrganization: { reference: '#a' } })
  const { status, issues } = await validated('Patient', body)
  expect([status, errorsOf(issues)]).toEqual([200, []])
})

test('at most 100 issues are told, and then that there are more', async () => {
  const { issues } = await validated('Patient', patient({ name: Array.from({ length: 500 }, () => ({ foo: 1 })) }))
  expect(issues.length).toBe(101)
  expect(issues.at(-1)).toMatchObject({ code: 'too-costly' })
})

test('a property name in a message is cut and escaped', async () => {
  const { issues, text } = await validated('Patient', patient({ [`\u001b[31m<b>${'x'.repeat(5_000)}`]: 1 }))
  expect(issues.length).toBeGreaterThan(0)
  expect(text).not.toContain('\u001b')
  expect(stringAt(issues.map((issue) => issue['details']).find(isObject), 'text')?.length).toBeLessThan(250)
})

describe('what cannot be validated', () => {
  test.each([
    ['an unknown profile', '?profile=http://nowhere', 'not-found'],
    ['an unknown mode', '?mode=guess', 'value'],
  ])('%s is refused, never All OK', async (_, query, code) => {
    const { status, issues, text } = await validated('Patient', patient({}), query)
    expect([status, issues[0]?.['code']]).toEqual([400, code])
    expect(text).not.toContain('All OK')
  })
})
