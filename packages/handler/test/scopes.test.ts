import { createContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { searchParameters } from 'fhir-ops/search'
import { r4SearchParameters, r4TypeModel } from '@fhir-ops/r4'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { callerOf, covers, isFhirScope, parseScope, type Decision, type PolicyQuestion } from '../src/auth/caller.js'
import type { Action } from 'fhir-ops/operation'
import { at, fhirHeaders, send, startServer, type Reply } from './running-server.js'

const ACTIONS: readonly Action[] = ['create', 'read', 'update', 'delete', 'search']
const lettersOf = (scope: string): string => {
  const granted = parseScope(scope)?.actions ?? new Set<Action>()
  return ACTIONS.filter((action) => granted.has(action))
    .map((action) => action.charAt(0))
    .join('')
}

describe('a scope', () => {
  it.each([
    ['user/Patient.r', 'r'],
    ['system/Patient.cruds', 'cruds'],
    ['system/*.rs', 'rs'],
    ['user/Patient.read', 'rs'],
    ['user/Patient.write', 'cud'],
    ['user/*.*', 'cruds'],
    ['system/Bot.cud', 'cud'],
    ['patient/*.rs', 'rs'],
    ['patient/Observation.read', 'rs'],
    ['user/Observation.rs?category=laboratory', 'rs'],
  ])('%s grants %s', (scope, letters) => {
    expect(lettersOf(scope)).toBe(letters)
  })

  it.each([
    'user/Patient.',
    'user/Patient.sr',
    'user/Patient.rr',
    'user/Patient.rx',
    'user/Patient.READ',
    'User/Patient.r',
    'user/patient.r',
    'user/Nonsense.r',
    'user/constructor.r',
    'user/__proto__.r',
    'patient/Patient',
    'patient/*.rs?_tag=x',
    'user/Observation.rs?',
    'user/Observation.rs?code=a b',
    'user/Patient.r ',
    ' user/Patient.r',
    'user/Patient.r\n',
    'user/**.r',
    'user/Patient',
    'Patient.r',
    'openid',
    '',
    'user/Patient.read.write',
    'system//Patient.r',
    'system/*',
  ])('%j grants nothing', (scope) => {
    expect(lettersOf(scope)).toBe('')
  })

  it('* covers reading Bots, not writing them', () => {
    const all = parseScope('system/*.cruds')!
    expect(ACTIONS.filter((action) => covers(all, action, 'Bot'))).toEqual(['read', 'search'])
    expect(covers(parseScope('system/Bot.u')!, 'update', 'Bot')).toBe(true)
  })

  it('never grants what no letter of it says, whatever its text', () => {
    const piece = fc.constantFrom(
      'user/',
      'system/',
      'patient/',
      'Patient',
      '*',
      'Bot',
      '.',
      'c',
      'r',
      'u',
      'd',
      's',
      'read',
      'write',
      '?',
      'x=y',
      ' ',
    )
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join('')),
        (scope) => {
          const granted = parseScope(scope)
          if (granted === undefined) return true
          const [, permissions = ''] = scope.split('?', 1)[0]!.split('.')
          const words: Record<string, string> = { read: 'rs', write: 'cud', '*': 'cruds' }
          const allowed = words[permissions] ?? permissions
          return [...granted.actions].every((action) => allowed.includes(action.charAt(0))) && isFhirScope(scope)
        },
      ),
    )
  })
})

describe('the policy', () => {
  const reading = { parse: parseScope, ctx: createContext({ storage: memoryStorage() }), base: 'http://x/fhir/R4', maxParameters: 10 }
  const principal = (...scopes: string[]): Parameters<typeof callerOf>[0] => ({
    sub: 'ann',
    loginId: 'l',
    scopes,
    claims: {},
    expiresAt: 0,
  })
  it.each([
    [['openid'], 'deny', 'deny'],
    [['openid'], 'allow-authenticated', 'allow'],
    [['openid', 'patient/*.cruds'], 'allow-authenticated', 'deny'],
    [['openid', 'user/Patient.sr'], 'allow-authenticated', 'deny'],
    [['user/Patient.r'], 'deny', 'allow'],
    [['user/Observation.r'], 'allow-authenticated', 'deny'],
  ] as const)('the scopes %j under %s: %s', async (scopes, defaultPolicy, expected) => {
    expect((await callerOf(principal(...scopes), { defaultPolicy }, reading)).decide('read', 'Patient')).toBe(expected)
  })

  it('allow-authenticated does not allow to write Bots', async () => {
    expect((await callerOf(principal(), { defaultPolicy: 'allow-authenticated' }, reading)).decide('create', 'Bot')).toBe('deny')
  })

  it("a host's own rule narrows and never widens", async () => {
    const allowAll = await callerOf(principal('user/Patient.r'), { defaultPolicy: 'deny', policy: () => 'allow' }, reading)
    expect(allowAll.decide('update', 'Patient')).toBe('deny')
    const policy = ({ id }: PolicyQuestion): Decision => (id === 'secret' ? 'hide' : 'allow')
    const hideOne = await callerOf(principal('user/Patient.r'), { defaultPolicy: 'deny', policy }, reading)
    expect([hideOne.decide('read', 'Patient', 'secret'), hideOne.decide('read', 'Patient', 'x')]).toEqual(['hide', 'allow'])
  })
})

describe('what is hidden', () => {
  it('looks exactly like what does not exist, wherever it is asked for', async () => {
    const storage = memoryStorage()
    const search = { parameters: searchParameters(r4SearchParameters(), r4TypeModel()) }
    const server = await startServer({
      storage,
      context: createContext({ storage, search }),
      policy: ({ id, action }) => (id?.startsWith('hidden') === true && action !== 'create' ? 'hide' : 'allow'),
    })
    const { token } = server
    const map = (id: string): object => ({ resourceType: 'ConceptMap', id, url: `http://x/${id}`, status: 'active', group: [] })
    const ask = (path: string, method = 'GET', body?: object): Promise<Reply> =>
      send(`${server.base}/fhir/R4/${path}`, {
        method,
        headers: fhirHeaders(token),
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
    await ask('ConceptMap/seen', 'PUT', map('seen'))
    const stored = {
      op: 'put',
      type: 'ConceptMap',
      id: 'hidden-one',
      text: '{"resourceType":"ConceptMap","id":"hidden-one","meta":{},"url":"http://x/h"}',
      entries: [],
    } as const
    await server.storage.write([stored])
    const asked = (id: string): Promise<Reply>[] => [
      ask(`ConceptMap/${id}`),
      ask(`ConceptMap/${id}`, 'PUT', map(id)),
      ask(`ConceptMap/${id}`, 'DELETE'),
      ask(`ConceptMap/${id}/_history/1`),
      ask(`ConceptMap/${id}/$translate?code=x&system=y`),
      ask(`ConceptMap/${id}/$validate`),
    ]
    const [hidden, absent] = await Promise.all(['hidden-one', 'hidden-no1'].map((id) => Promise.all(asked(id))))
    const shape = ({ status, text }: Reply): unknown => [status, text.replace(/"id":"[^"]+"/, '').replaceAll(/hidden-\w+/g, '')]
    expect(hidden!.map(shape)).toEqual(absent!.map(shape))
    expect(hidden!.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 404])
    const found = await ask('ConceptMap')
    const pages = await Promise.all(
      ['ConceptMap?_count=1', '?_type=ConceptMap&_count=1', 'ConceptMap/_history?_count=1'].map((path) => ask(path)),
    )
    const counts = await Promise.all(['ConceptMap?_summary=count', '?_type=ConceptMap&_summary=count'].map((path) => ask(path)))
    await server.stop()
    expect([(at(found.json, 'entry') as unknown[]).length, at(found.json, 'total')]).toEqual([1, undefined])
    expect(pages.map(({ text }) => [text.includes('/ConceptMap/seen'), text.includes('"next"')])).toEqual(pages.map(() => [true, false]))
    expect(counts.map(({ json }) => at(json, 'total'))).toEqual([1, 1])
  })
})
