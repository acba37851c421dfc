import { createContext, type Progress } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { memoryStorage } from 'fhir-ops/memory'
import type { Operation } from 'fhir-ops/operation'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { TokenVerifier } from '../src/index.js'
import {
  askFhir,
  at,
  fhirHeaders,
  send,
  startServer,
  USER,
  type Reply,
  type RunningServer,
  type Sending,
  type ServerSetup,
} from './running-server.js'

/** What a call waits for, and how it ended. */
interface Slow {
  readonly finish: (resource: object) => void
  readonly progress: (progress: Progress) => void
  readonly signal: AbortSignal | undefined
}

let calls: Slow[] = []
const slow: Operation = {
  name: '$slow',
  types: 'any',
  levels: ['type'],
  methods: ['GET', 'POST'],
  definition: 'http://example.org/slow',
  needs: { text: 'r on the type', anyOf: [{ action: 'read' }] },
  asynchronous: true,
  run: (ctx, { parameters }) => {
    if (parameters.some(({ name }) => name === 'bad')) throw new OperationError('parameter-invalid', 'That is bad.')
    const { promise, resolve, reject } = Promise.withResolvers<object>()
    ctx.signal?.addEventListener('abort', () => reject(new OperationError('aborted', 'Cancelled.')))
    calls.push({ finish: resolve, progress: (progress) => ctx.onProgress?.(progress), signal: ctx.signal })
    return promise.then((resource) => ({ status: 200, resource: { ...resource } }))
  },
}

let time = Date.UTC(2026, 0, 1)
let running: RunningServer
const start = async (setup: ServerSetup = {}): Promise<RunningServer> =>
  startServer({ operations: [slow], context: createContext({ storage: memoryStorage(), now: () => new Date(time) }), ...setup })

beforeEach(async () => {
  calls = []
  running = await start()
})
afterEach(() => running.stop())

/** Accepts tokens that are the JSON of what they grant. */
const tokensAsWritten: TokenVerifier = {
  claims: (token) => token.startsWith('eyJ'),
  verify: async (token) => {
    const { sid, scopes, ...rest } = JSON.parse(Buffer.from(token, 'base64url').toString())
    return {
      issuer: 'i',
      sub: 'u',
      sessionKey: `sid:${sid}`,
      issuedAt: Date.now(),
      expiresAt: Date.now() + 60_000,
      scopes,
      claims: {},
      ...rest,
    }
  },
}

const ASYNC = { prefer: 'respond-async' }
const ask = (path: string, sending?: Sending): Promise<Reply> => askFhir(running, path, sending)
const begin = (path = '/Patient/$slow', sending: Sending = {}): Promise<Reply> =>
  ask(path, { ...sending, headers: { ...ASYNC, ...Object(sending.headers) } })
const statusPath = ({ headers }: Reply): string => String(headers['content-location']).slice(`${running.base}/fhir/R4`.length)
const poll = async (begun: Reply, sending?: Sending): Promise<Reply> => ask(statusPath(begun), sending)

async function begun(count = 1): Promise<Reply> {
  const reply = await begin()
  await expect.poll(() => calls).toHaveLength(count)
  return reply
}

async function finished(reply: Reply, resource: object = { resourceType: 'Basic', id: 'b' }): Promise<Reply> {
  calls.at(-1)?.finish(resource)
  return polled(reply)
}

/** The answer, as soon as there is one. */
async function polled(reply: Reply): Promise<Reply> {
  await expect.poll(async () => (await poll(reply)).status).toBe(200)
  return poll(reply)
}

describe('a request with Prefer: respond-async', () => {
  it('is accepted, tells how far it is, and has its answer in a Bundle', async () => {
    const reply = await begun()
    expect([reply.status, reply.text, reply.headers['preference-applied']]).toEqual([202, '', 'respond-async'])
    expect((await poll(reply)).headers['x-progress']).toBe('waiting or just begun')
    calls[0]?.progress({ done: 3, total: 10, of: 'subjects' })
    const under = await poll(reply)
    expect([under.status, under.headers['x-progress'], under.headers['retry-after']]).toEqual([202, '3 of 10 subjects', '2'])
    const done = await finished(reply)
    expect(done.json).toMatchObject({
      resourceType: 'Bundle',
      type: 'batch-response',
      entry: [{ resource: { id: 'b' }, response: { status: '200' } }],
    })
    expect(done.headers['expires']).toBe('Fri, 02 Jan 2026 00:00:00 GMT')
    expect((await poll(reply)).text).toBe(done.text)
  })

  it('goes on when its caller has gone, and outlives the time limit of requests', async () => {
    running.server.closeAllConnections()
    const reply = await begun()
    running.server.closeAllConnections()
    expect(calls[0]?.signal?.aborted).toBe(false)
    expect((await finished(reply)).status).toBe(200)
  })

  it('is refused at once where it is not allowed, or not understood', async () => {
    const { token } = await running.sessions.create({ user: USER, scopes: ['system/Observation.r'] })
    const denied = await send(`${running.base}/fhir/R4/Patient/$slow`, { headers: { ...fhirHeaders(token), ...ASYNC } })
    expect(denied.status).toBe(403)
    expect((await begin('/Patient/$slow', { method: 'POST', body: '{' })).status).toBe(400)
    expect((await begin('/Patient/$none')).status).toBe(404)
  })

  it('that fails says so in the Bundle', async () => {
    const reply = await begin('/Patient/$slow?bad=1')
    expect(reply.status).toBe(202)
    const failed = await polled(reply)
    expect(at(failed.json, 'entry', 0, 'response')).toMatchObject({
      status: '400',
      outcome: { issue: [{ details: { text: 'That is bad.' } }] },
    })
    expect(running.logs.some(({ error }) => error === 'parameter-invalid')).toBe(true)
  })

  it('is answered at once by what is not asynchronous, and without the preference', async () => {
    expect((await begin('/metadata')).status).toBe(200)
    const waiting = ask('/Patient/$slow')
    await expect.poll(() => calls).toHaveLength(1)
    calls[0]?.finish({ resourceType: 'Basic' })
    expect((await waiting).status).toBe(200)
  })

  it('in a batch is answered at once', async () => {
    const entry = [{ request: { method: 'GET', url: 'Patient/$slow' } }]
    const waiting = ask('', { method: 'POST', headers: ASYNC, body: JSON.stringify({ resourceType: 'Bundle', type: 'batch', entry }) })
    await expect.poll(() => calls).toHaveLength(1)
    calls[0]?.finish({ resourceType: 'Basic' })
    expect(at((await waiting).json, 'entry', 0, 'response', 'status')).toMatch(/^200/)
  })
})

describe('its state', () => {
  it('is for the session that asked; others learn nothing', async () => {
    const reply = await begun()
    const other = await running.sessions.create({ user: USER, scopes: ['system/*.cruds'] })
    for (const method of ['GET', 'DELETE']) {
      const foreign = await ask(statusPath(reply), { method, headers: { authorization: `Bearer ${other.token}` } })
      const none = await ask('/_async/none', { method })
      expect([foreign.status, at(foreign.json, 'issue')]).toEqual([404, at(none.json, 'issue')])
    }
    expect((await send(`${running.base}/fhir/R4${statusPath(reply)}`)).status).toBe(401)
    expect((await poll(reply)).status).toBe(202)
  })

  it('is hidden from a token of the same session with fewer scopes, or of another client, patient or project', async () => {
    const asked = { sid: 's', scopes: ['system/*.cruds', 'openid'], client: 'app', patient: 'p', project: 'q' }
    const server = await start({ verifiers: [tokensAsWritten] })
    const bearer = (token: object): Record<string, string> => ({
      authorization: `Bearer ${Buffer.from(JSON.stringify(token)).toString('base64url')}`,
    })
    const reply = await askFhir(server, '/Patient/$slow', { headers: { ...ASYNC, ...bearer(asked) } })
    expect(reply.status).toBe(202)
    const path = String(reply.headers['content-location']).slice(`${server.base}/fhir/R4`.length)
    const statusFor = async (token: object, method = 'GET'): Promise<number> =>
      (await askFhir(server, path, { method, headers: bearer({ ...asked, ...token }) })).status
    for (const other of [{ scopes: ['openid', 'system/*.r'] }, { client: 'other' }, { patient: 'r' }, { project: 'r' }, { sid: 't' }]) {
      expect([await statusFor(other), await statusFor(other, 'DELETE')], JSON.stringify(other)).toEqual([404, 404])
    }
    expect(await statusFor({ refreshed: true, scopes: ['openid', 'profile', 'system/*.cruds'] })).toBe(202)
    await server.stop()
  })

  it('is deleted: the work ends, and the answer is forgotten', async () => {
    const reply = await begun()
    expect((await poll(reply, { method: 'DELETE' })).status).toBe(202)
    await expect.poll(() => calls[0]?.signal?.aborted).toBe(true)
    expect((await poll(reply)).status).toBe(404)
    expect((await poll(reply, { method: 'DELETE' })).status).toBe(404)
    const other = await begun(2)
    await finished(other)
    expect((await poll(other, { method: 'DELETE' })).status).toBe(202)
    expect((await poll(other)).status).toBe(404)
  })

  it('is forgotten a day after the answer, by a clock that does not jump', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const before = time
    try {
      const reply = await begun()
      await finished(reply)
      time += 10 * 86_400_000
      vi.advanceTimersByTime(86_400_000 - 1)
      expect((await poll(reply)).status).toBe(200)
      time -= 20 * 86_400_000
      vi.advanceTimersByTime(1)
      expect((await poll(reply)).status).toBe(404)
    } finally {
      time = before
      vi.useRealTimers()
    }
  })

  it('is forgotten by a restart', async () => {
    const reply = await begun()
    await finished(reply)
    const second = await start()
    expect((await askFhir(second, statusPath(reply))).status).toBe(404)
    await second.stop()
  })
})

describe('how many are kept', () => {
  /** Begins the work of another user. */
  const other = async (): Promise<{ sub: string; loginId: string; token: string; path: string }> => {
    const sub = `user-${calls.length}-${users++}`
    const { token, loginId } = await running.sessions.create({ user: sub, scopes: ['system/*.cruds'] })
    const reply = await begin('/Patient/$slow', { headers: { authorization: `Bearer ${token}` } })
    expect(reply.status).toBe(202)
    return { sub, loginId, token, path: statusPath(reply) }
  }
  let users = 0
  const limited = async (limits: NonNullable<ServerSetup['limits']>): Promise<void> => {
    await running.stop()
    running = await start({ limits })
  }

  it('is bounded for each session; what waits begins when there is room', async () => {
    await limited({ asyncRuns: 1, asyncResults: 10 })
    const [first, second] = [await begun(), await begin()]
    const refused = await begin()
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '60'])
    expect(calls).toHaveLength(1)
    await finished(first)
    await expect.poll(() => calls).toHaveLength(2)
    await poll(first, { method: 'DELETE' })
    expect((await begin()).status).toBe(202)
    await finished(second)
  })

  it('is bounded in bytes', async () => {
    await limited({ asyncBytes: 1_000 })
    const large = await finished(await begun(), { resourceType: 'Basic', text: 'x'.repeat(2_000) })
    expect(at(large.json, 'entry', 0, 'response', 'status')).toBe('422')
    await finished(await begun(2), { resourceType: 'Basic', text: 'x'.repeat(900) })
    await finished(await begun(3), { resourceType: 'Basic', text: 'x'.repeat(60) })
  })

  it('counts requests that wait, too', async () => {
    await limited({ asyncBytes: 1_000 })
    const body = JSON.stringify({ resourceType: 'Parameters', parameter: [{ name: 'x', valueString: 'x'.repeat(800) }] })
    expect((await begin('/Patient/$slow', { method: 'POST', body })).status).toBe(202)
    expect((await begin('/Patient/$slow', { method: 'POST', body })).status).toBe(429)
    await expect.poll(() => calls).toHaveLength(1)
    calls[0]?.finish({ resourceType: 'Basic' })
    await expect.poll(async () => (await begin('/Patient/$slow', { method: 'POST', body })).status).toBe(202)
  })

  it('is not used up by sessions that have ended: their requests give way', async () => {
    await limited({ asyncRuns: 2, asyncResults: 2 })
    const [first, second] = [await other(), await other()]
    await expect.poll(() => calls).toHaveLength(2)
    expect((await begin()).status).toBe(429)
    await running.sessions.disable(first.loginId)
    expect((await begin()).status).toBe(202)
    await expect.poll(() => [calls.length, calls[0]?.signal?.aborted, calls[1]?.signal?.aborted]).toEqual([3, true, false])
    expect((await begin()).status).toBe(429)
    await running.sessions.signOutEverywhere(second.sub)
  })

  it('gives the work of ended sessions up, when other work has to wait for it', async () => {
    await limited({ asyncRuns: 1, asyncResults: 10 })
    const first = await other()
    await expect.poll(() => calls).toHaveLength(1)
    const waiting = await begin()
    expect([waiting.status, calls.length]).toEqual([202, 1])
    await running.sessions.logout(await running.sessions.verify(first.token))
    expect((await begin()).status).toBe(202)
    await expect.poll(() => [calls.length, calls[0]?.signal?.aborted]).toEqual([2, true])
    expect((await poll(waiting)).status).toBe(202)
  })

  it('work that takes too long is ended', async () => {
    await limited({ asyncTimeoutMs: 50 })
    const reply = await begun()
    await expect.poll(async () => at((await poll(reply)).json, 'entry', 0, 'response', 'status')).toBe('503')
    expect(calls[0]?.signal?.aborted).toBe(true)
  })

  it('close cancels what takes too long, and refuses what is new', async () => {
    await limited({ closeMs: 20 })
    await begun()
    await running.handler.close()
    expect(calls[0]?.signal?.aborted).toBe(true)
    expect((await begin()).status).toBe(503)
  })
})
