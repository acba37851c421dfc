import { afterAll, describe, expect, it } from 'vitest'
import { wholeService } from '../security/service.js'

const CS = 'http://example.org/cs'
const VS = 'http://example.org/vs'
const CM = 'http://example.org/cm'

const service = wholeService([
  {
    resourceType: 'CodeSystem',
    id: 'cs',
    url: CS,
    version: '1',
    status: 'active',
    content: 'complete',
    concept: [{ code: 'a', display: 'A', concept: [{ code: 'abc', display: 'A b c' }] }],
  },
  {
    resourceType: 'ValueSet',
    id: 'vs',
    url: VS,
    status: 'active',
    compose: { include: [{ system: CS, filter: [{ property: 'concept', op: 'is-a', value: 'a' }] }] },
  },
  {
    resourceType: 'ConceptMap',
    id: 'cm',
    url: CM,
    status: 'active',
    group: [{ source: CS, target: CS, element: [{ code: 'a', target: [{ code: 'abc', equivalence: 'wider' }] }] }],
  },
])
afterAll(() => service.close())

const parameters = (parameter: readonly object[]): string => JSON.stringify({ resourceType: 'Parameters', parameter })
const CLOSURE = [{ name: 'name', valueString: 'table' }]

interface Findings {
  readonly issue: readonly { readonly severity: string; readonly details?: { readonly text: string } }[]
}

/** Extensions have no definition here, and what an explanation is about may be a code that does not exist. */
const EXPECTED = /^The extension '.*' could not be found|^Unknown code 'abd' in the code system/

describe('an answer with an explanation', () => {
  it.each([
    ['ValueSet', `/ValueSet/$expand?url=${VS}&filter=a`],
    ['Parameters', `/ValueSet/$validate-code?url=${VS}&system=${CS}&code=abd&display=A`],
    ['Parameters', `/CodeSystem/$validate-code?url=${CS}&code=abd`],
    ['Parameters', `/CodeSystem/$lookup?system=${CS}&code=abc&displayLanguage=de`],
    ['OperationOutcome', `/CodeSystem/$lookup?system=${CS}&code=abd`],
    ['Parameters', `/CodeSystem/$subsumes?system=${CS}&codeA=a&codeB=abc`],
    ['Parameters', `/ValueSet/$compare?thisUrl=${VS}&otherUrl=${VS}`],
    ['Parameters', `/ConceptMap/$translate?url=${CM}&system=${CS}&code=a`],
    ['ConceptMap', '/$closure', CLOSURE],
    ['ConceptMap', '/$closure', [...CLOSURE, { name: 'concept', valueCoding: { system: CS, code: 'a' } }]],
  ])('is a right %s of R4: %s %j', async (type, path, body?: readonly object[]) => {
    const explained =
      body === undefined
        ? service.call('GET', `${path}&_explain=true`)
        : service.call('POST', path, parameters([...body, { name: '_explain', valueBoolean: true }]))
    const answer = await (await explained).text()
    expect(JSON.parse(answer)).toMatchObject({ resourceType: type })
    expect(answer.includes('explanation')).toBe(body !== CLOSURE)
    const { issue }: Findings = JSON.parse(await (await service.call('POST', `/${type}/$validate`, answer)).text())
    const errors = issue.flatMap(({ severity, details }) => (severity === 'error' ? (details?.text ?? '') : []))
    expect(errors.filter((text) => !EXPECTED.test(text))).toEqual([])
  })
})

it('$validate says which profiles and value sets it asked', async () => {
  const response = await service.call(
    'POST',
    '/Patient/$validate?_explain=true',
    '{"resourceType":"Patient","maritalStatus":{"coding":[{"code":"M"}]}}',
  )
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('StructureDefinition/explanation')])
})
