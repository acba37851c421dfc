import { afterAll, describe, expect, it } from 'vitest'
import { closeRuntime, faultyService, type Sent, type Token } from './faulty-service.js'
import { faultAt, type Fault } from './faulty.js'

const FHIR = '/fhir/R4'
const SYSTEM = encodeURIComponent('http://example.org/colours')
const WARM = encodeURIComponent('http://example.org/warm')
const get = (path: string): Sent => ({ method: 'GET', path: FHIR + path })
const parameters = (...parameter: readonly object[]): object => ({ resourceType: 'Parameters', parameter })
const patient = (id?: string): object => ({ resourceType: 'Patient', ...(id !== undefined && { id }), gender: 'other' })

const USER_INFORMATION: Sent = { method: 'GET', path: '/oauth2/userinfo' }
const LOGOUT: Sent = { method: 'POST', path: '/oauth2/logout' }

const READING: readonly (readonly [name: string, request: Sent])[] = [
  ['read', get('/Patient/a')],
  ['read of what is not there', get('/Patient/none')],
  ['search', get('/Patient?gender=female')],
  ['search with a chain and an include', get('/Observation?subject:Patient.gender=female&_include=Observation:subject')],
  ['search with a value set', get(`/Observation?code:in=${WARM}`)],
  ['$translate', get(`/ConceptMap/$translate?url=${encodeURIComponent('http://example.org/map')}&system=${SYSTEM}&code=red`)],
  ['$expand', get(`/ValueSet/$expand?url=${WARM}`)],
  ['$lookup', get(`/CodeSystem/$lookup?system=${SYSTEM}&code=pink`)],
  ['$validate-code', get(`/ValueSet/$validate-code?url=${WARM}&system=${SYSTEM}&code=pink`)],
  ['$validate-code of a code that is not in it', get(`/ValueSet/$validate-code?url=${WARM}&system=${SYSTEM}&code=blue`)],
  ['$subsumes', get(`/CodeSystem/$subsumes?system=${SYSTEM}&codeA=red&codeB=pink`)],
  [
    '$validate against a stored profile',
    { method: 'POST', path: `${FHIR}/Patient/$validate`, body: { ...patient(), meta: { profile: ['http://example.org/named-patient'] } } },
  ],
  ['$validate of a stored resource', get('/Patient/b/$validate')],
  ['$evaluate-measure', get('/Measure/women/$evaluate-measure?periodStart=2025&periodEnd=2025')],
  ['$execute', { method: 'POST', path: `${FHIR}/Bot/echo/$execute`, body: { a: 1 } }],
  ['user information', USER_INFORMATION],
]

const transaction = {
  resourceType: 'Bundle',
  type: 'transaction',
  entry: [
    { request: { method: 'PUT', url: 'Patient/a' }, resource: patient('a') },
    {
      request: { method: 'POST', url: 'Observation' },
      fullUrl: 'urn:uuid:0d1e4a52-6c0d-4f6e-8f3f-0a6f6a0f5b11',
      resource: { resourceType: 'Observation', status: 'final', code: { text: 'y' } },
    },
    { request: { method: 'DELETE', url: 'Patient/b' } },
  ],
}

const WRITING: readonly (readonly [name: string, request: Sent])[] = [
  ['create', { method: 'POST', path: `${FHIR}/Patient`, body: patient() }],
  ['update', { method: 'PUT', path: `${FHIR}/Patient/a`, body: patient('a') }],
  ['conditional update', { method: 'PUT', path: `${FHIR}/Patient?identifier=http://example.org/mrn|1`, body: patient() }],
  ['delete', { method: 'DELETE', path: `${FHIR}/Patient/b` }],
  ['transaction', { method: 'POST', path: FHIR, body: transaction }],
  ['$closure', { method: 'POST', path: `${FHIR}/$closure`, body: parameters({ name: 'name', valueString: 'c' }) }],
]

/** With the token of the session that they end. */
const ENDING: readonly (readonly [name: string, request: Sent, token: Token])[] = [
  ['logout', LOGOUT, 'own'],
  ['revoking all others', { method: 'POST', path: '/auth/revoke', body: { others: true } }, 'other'],
  ['revoking one', { method: 'POST', path: '/auth/revoke', body: { loginId: 'OTHER-SESSION' } }, 'other'],
]

const MOST_CALLS = 60

/** What the request does while everything works. */
async function right(request: Sent) {
  const service = await faultyService(faultAt(Infinity, 'before'))
  const before = await service.resources()
  const answer = await service.call(request)
  expect(answer.status).toBeLessThan(500)
  return { before, answer, after: await service.resources() }
}

type Service = Awaited<ReturnType<typeof faultyService>>

/** One of the services that `everyFault` makes, after its fault. */
interface Survivor {
  readonly service: Service
  /** What it answered to the request. */
  readonly first: Awaited<ReturnType<Service['call']>>
  readonly place: string
}

/** Sends the request to a service whose n-th call fails, for every n until none does. */
async function everyFault(when: Fault['when'], request: Sent, check: (survivor: Survivor) => Promise<void>): Promise<void> {
  for (let n = 0; n < MOST_CALLS; n++) {
    const fault = faultAt(n, when)
    const service = await faultyService(fault)
    const first = await service.call(request)
    fault.end()
    await check({ service, first, place: `${when} call ${n}` })
    if (fault.struck) continue
    expect(n).toBeGreaterThan(1)
    return
  }
  throw new Error(`More than ${MOST_CALLS} calls.`)
}

afterAll(closeRuntime)

describe('whatever call of the storage fails', () => {
  it.each(READING)('%s answers 503 or what is right, and what is right as soon as the storage is back', async (_, request) => {
    const { answer } = await right(request)
    await everyFault('before', request, async ({ service, first, place }) => {
      if (first.status !== 503) expect(first, place).toEqual(answer)
      expect(await service.call(request), place).toEqual(answer)
    })
  })

  it.each(WRITING)('%s is done as a whole or answered 503 and not done, and works when it is sent again', async (_, request) => {
    const { before, answer, after } = await right(request)
    await everyFault('before', request, async ({ service, first, place }) => {
      const isDone = first.status !== 503
      if (isDone) expect(first, place).toEqual(answer)
      expect(await service.resources(), place).toEqual(isDone ? after : before)
      if (!isDone) expect(await service.call(request), place).toEqual(answer)
      expect(await service.resources(), place).toEqual(after)
    })
  })

  it.each(WRITING)('%s whose outcome is lost is never acknowledged, and never half done', async (_, request) => {
    const { before, answer, after } = await right(request)
    await everyFault('after', request, async ({ service, first, place }) => {
      if (first.status !== 503) expect(first, place).toEqual(answer)
      expect(first.status === 503 ? [before, after] : [after], place).toContainEqual(await service.resources())
    })
  })

  it.each(ENDING)('%s that is acknowledged has ended the session', async (_, request, token) => {
    for (const when of ['before', 'after'] as const) {
      await everyFault(when, request, async ({ service, first, place }) => {
        const { status } = await service.call(USER_INFORMATION, token)
        expect(
          first.status === 200
            ? [[200, 401]]
            : [
                [503, 200],
                [503, 401],
              ],
          place,
        ).toContainEqual([first.status, status])
      })
    }
  })

  it('a logout that cannot be stored ends the session in this process all the same', async () => {
    // The third call: session and user are read before.
    const service = await faultyService(faultAt(2, 'before'))
    expect((await service.call(LOGOUT)).status).toBe(503)
    expect((await service.call(USER_INFORMATION)).status).toBe(401)
  })
})
