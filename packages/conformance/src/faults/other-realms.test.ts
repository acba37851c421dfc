import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
// oxlint-disable-next-line no-restricted-imports -- values of other realms are made, as by jsdom in Jest; nothing foreign runs
import { createContext as createRealm, runInContext } from 'node:vm'
import { toParameters } from '@fhir-ops/cql'
import { createHandler, jwtVerifier } from '@fhir-ops/handler'
import { httpStorage } from '@fhir-ops/http'
import { loadR4, r4, type R4Source } from '@fhir-ops/r4'
import { registryDefinitions } from '@fhir-ops/registries'
import { createContext, forRequest } from 'fhir-ops/context'
import { expand } from 'fhir-ops/expand'
import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import { createSessions } from 'fhir-ops/sessions'
import { translate } from 'fhir-ops/translate'
import { validate } from 'fhir-ops/validate'
import { validateCode, type ValidateCodeInput } from 'fhir-ops/validate-code'
import { expect, test } from 'vitest'

const body = (text: string): object => ({
  status: 200,
  headers: new Headers({ 'content-type': 'application/fhir+json' }),
  // As that of node-fetch.
  body: Readable.from([Buffer.from(text)]),
})

/** Values with other prototypes than ours, as a host has them that runs in jsdom, in a `vm` context or in an iframe. */
const realm = createRealm({ bytes: (path: string) => [...readFileSync(path)] })
const foreign = <T>(code: string): T => runInContext(code, realm)

const GENDER = 'http://hl7.org/fhir/ValueSet/administrative-gender'
const PATIENT = `({ resourceType: 'Patient', id: 'p', name: [{ family: 'F', given: ['G', 'H'] }], birthDate: '1980-01-01' })`
const fileOf = (name: string): string => fileURLToPath(import.meta.resolve(name))
const context = (more: object = {}) => createContext({ ...r4(), storage: memoryStorage(), ...more })

test('the values of the tests have prototypes of another realm', () => {
  expect(foreign<object>('[]') instanceof Array).toBe(false)
  expect(foreign<object>('new Uint8Array(1)') instanceof Uint8Array).toBe(false)
})

test('a clock gives Dates of another realm', async () => {
  const ctx = context({ now: foreign('() => new Date(Date.UTC(2026, 0, 2))') })
  expect((await expand(ctx, { url: GENDER })).timestamp).toBe('2026-01-02T00:00:00.000Z')
  const sessions = createSessions({ store: memorySessionStore(), now: foreign('() => new Date(Date.UTC(2026, 0, 2))') })
  expect(await sessions.create({ user: 'ann', ttl: 1 })).toMatchObject({ expiresAt: '2026-01-02T00:00:01.000Z' })
})

test('resources and inputs are of another realm', async () => {
  const ctx = context()
  expect(await validate(ctx, { resource: foreign(PATIENT) })).toMatchObject({ valid: true })
  expect(await validate(ctx, { resource: foreign(PATIENT.replace("['G', 'H']", '[1]')) })).toMatchObject({ valid: false })
  expect(await expand(ctx, foreign(`({ url: '${GENDER}', count: 2 })`))).toMatchObject({ total: 4 })
  const map = `({ resourceType: 'ConceptMap', status: 'active', group: [{ source: 'a', target: 'b', element: [{ code: 'x', target: [{ code: 'y', equivalence: 'equal' }] }] }] })`
  expect(await translate(ctx, { conceptMap: foreign(map), coding: foreign(`({ system: 'a', code: 'x' })`) })).toMatchObject({
    result: true,
  })
})

test('rules are Maps of another realm', async () => {
  const rules = foreign<NonNullable<ValidateCodeInput['rules']>>(
    `({ force: new Map([['http://hl7.org/fhir/administrative-gender', '4.0.1']]) })`,
  )
  const coding = { system: 'http://hl7.org/fhir/administrative-gender', code: 'male' }
  expect(await validateCode(context(), { url: GENDER, coding, rules })).toMatchObject({ result: true })
  expect(toParameters(foreign(`new Map([['A', 'x']])`))).toMatchObject({ parameter: [{ name: 'A', valueString: 'x' }] })
})

test('files are bytes, buffers and responses of another realm', async () => {
  const bytes = `new Uint8Array(bytes(${JSON.stringify(fileOf('@fhir-ops/r4/r4.bin'))}))`
  const hasTypes = async (given: R4Source): Promise<boolean> => (await loadR4(given)).types !== undefined
  for (const given of [bytes, `${bytes}.buffer`]) expect(await hasTypes(foreign(given))).toBe(true)
  const response = { ok: true, url: 'http://a.example/r4.bin', arrayBuffer: async () => foreign(`${bytes}.buffer`) }
  expect(await hasTypes(response as Response)).toBe(true)
  const pack = fileURLToPath(new URL('registries.pack', import.meta.resolve('@fhir-ops/registries')))
  expect(() => registryDefinitions({ bytes: foreign(`new Uint8Array(bytes(${JSON.stringify(pack)}))`) })).not.toThrow()
  const secret = foreign<Uint8Array>('new Uint8Array(32)')
  expect(() => jwtVerifier({ issuer: 'https://i.example', audience: 'https://a.example', secret, algorithms: ['HS256'] })).not.toThrow()
})

test('a signal is of another class, and still ends the work', async () => {
  const listeners: (() => void)[] = []
  const signal = {
    aborted: false,
    addEventListener: (_: string, heard: () => void) => void listeners.push(heard),
    removeEventListener: () => {},
  }
  const ctx = forRequest(context(), { signal: signal as unknown as AbortSignal })
  expect(await expand(ctx, { url: GENDER })).toMatchObject({ total: 4 })
  signal.aborted = true
  await expect(expand(forRequest(context(), { signal: signal as unknown as AbortSignal }), { url: GENDER })).rejects.toMatchObject({
    code: 'aborted',
  })
})

test('a handler answers a Request of another class, with a body in chunks of another realm', async () => {
  const ctx = context()
  const sessions = createSessions({ store: memorySessionStore() })
  const handler = createHandler({ context: ctx, sessions, baseUrl: 'http://a.example', auth: 'off', defaultPolicy: 'deny' })
  const text = JSON.stringify({ resourceType: 'Patient', id: 'p' })
  const chunks = [foreign<Uint8Array>(`Uint8Array.from(${JSON.stringify([...Buffer.from(text)])})`)]
  const body = {
    getReader: () => ({
      read: async () => (chunks.length > 0 ? { done: false, value: chunks.pop() } : { done: true, value: undefined }),
      cancel: async () => {},
      releaseLock: () => {},
    }),
  }
  const headers = new Map([['content-type', 'application/fhir+json']])
  const request = {
    method: 'PUT',
    url: 'http://a.example/fhir/R4/Patient/p',
    headers: { get: (name: string) => headers.get(name.toLowerCase()) ?? null },
    body,
    bodyUsed: false,
    signal: undefined,
  }
  const response = await handler(request as unknown as Request)
  expect([response.status, await response.text()]).toEqual([201, expect.stringContaining('"Patient"')])
})

test('an upstream answers by a Response whose body is a stream of Node, as that of node-fetch', async () => {
  const text = '{"resourceType":"Patient","id":"p","meta":{"versionId":"1"}}'
  const storage = httpStorage({ baseUrl: 'http://a.example/fhir', fetch: async () => body(text) as Response })
  expect(await storage.read('Patient', 'p')).toMatchObject({ versionId: '1' })
  const long = httpStorage({ baseUrl: 'http://a.example/fhir', maxAnswerBytes: 10, fetch: async () => body(text) as Response })
  await expect(long.read('Patient', 'p')).rejects.toMatchObject({
    code: 'storage-unavailable',
    message: expect.stringMatching(/too large/),
  })
})
