import { createContext } from 'fhir-ops/context'
import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import { parseSearch } from 'fhir-ops/search'
import { openAuditStore, createSessions, toAuditEvent, type AuditEvent, type AuditStore } from 'fhir-ops/sessions'
import type { AuditType } from 'fhir-ops/internal/sessions'
import type { Storage } from 'fhir-ops/storage'
import { validate } from 'fhir-ops/validate'
import { r4 } from '@fhir-ops/r4'
import { describe, expect, it } from 'vitest'

const release = r4()
const FULL: AuditEvent = {
  time: new Date(0),
  type: 'scope-denied',
  outcome: 'refused',
  reason: 'forbidden',
  sub: 'ann',
  client: 'app',
  loginId: 'l1',
  requestId: 'r1',
  remoteHost: '192.0.2.1',
  operation: '$translate',
  resourceType: 'ConceptMap',
  resourceId: 'm',
}

describe('an audit event as FHIR', () => {
  const context = createContext({ storage: memoryStorage(), ...release })
  const types: readonly AuditType[] = [
    'token-rejected',
    'token-in-url',
    'session-created',
    'logout',
    'session-revoked',
    'revoke-denied',
    'global-sign-out',
  ]
  it.each<AuditEvent>([
    FULL,
    { ...FULL, operation: 'search-type', resourceId: undefined },
    { ...FULL, type: 'bot-executed', outcome: 'success', operation: '$execute', resourceType: 'Bot' },
    { ...FULL, type: 'bot-executed', resourceType: 'Bot', resourceId: undefined },
    ...types.map((type): AuditEvent => ({ time: new Date(0), type, outcome: 'success' })),
  ])('is valid: $type $operation', async (event) => {
    const { findings } = await validate(context, { resource: JSON.stringify(toAuditEvent(event)), profiles: [] })
    expect(findings.filter(({ severity }) => severity === 'error' || severity === 'fatal')).toEqual([])
  })

  it('says who did what to what', () => {
    expect(toAuditEvent(FULL)).toMatchObject({
      action: 'E',
      outcome: '4',
      outcomeDesc: 'forbidden',
      agent: [
        { who: { identifier: { value: 'ann' } }, network: { address: '192.0.2.1' } },
        { who: { identifier: { value: 'app' } }, requestor: false },
      ],
      entity: [
        { what: { reference: 'ConceptMap/m' } },
        { what: { identifier: { value: 'l1' } } },
        { what: { identifier: { value: 'r1' } } },
      ],
    })
  })
})

/** A storage whose writes wait until they are let go, and fail when told so. */
function slowStorage(): { readonly storage: Storage; readonly sizes: number[]; letGo(failure?: Error): void } {
  const memory = memoryStorage()
  const sizes: number[] = []
  let gate = Promise.withResolvers<void>()
  const storage: Storage = {
    ...memory,
    async write(entries) {
      sizes.push(entries.length)
      await gate.promise
      return memory.write(entries)
    },
  }
  const letGo = (failure?: Error): void => {
    if (failure === undefined) gate.resolve()
    else gate.reject(failure)
    gate = Promise.withResolvers<void>()
  }
  return { storage, sizes, letGo }
}

const storeOver = (
  storage: Storage,
  options: Partial<Parameters<typeof openAuditStore>[0]> = {},
): AuditStore & { readonly failures: unknown[] } => {
  const failures: unknown[] = []
  const store = openAuditStore({
    storage,
    indexer: release.indexer,
    onFailure: (error, lost) => failures.push([String(error), lost]),
    ...options,
  })
  return { ...store, failures }
}

describe('a store of audit events', () => {
  it('keeps what sessions tell, to be searched for', async () => {
    const storage = memoryStorage()
    const { onAudit, close } = storeOver(storage)
    const sessions = createSessions({ store: memorySessionStore(), onAudit })
    const { token } = await sessions.create({ user: 'ann', client: 'app' })
    await sessions.logout(await sessions.verify(token), { requestId: 'r1' })
    await close()
    const { query } = await parseSearch(
      'AuditEvent',
      [
        ['subtype', 'logout'],
        ['outcome', '0'],
      ],
      release.search,
    )
    const { items } = await storage.search(query)
    expect(items.map(({ resource }) => resource['agent'])).toMatchObject([[{ who: { identifier: { value: 'ann' } } }, {}]])
    expect(
      items
        .map(({ text }) => text)
        .join()
        .includes(token),
    ).toBe(false)
    expect(await storage.count({ type: 'AuditEvent', where: { kind: 'and', conditions: [] } })).toBe(2)
  })

  it('writes what has come meanwhile at once, and no request waits for it', async () => {
    const { storage, sizes, letGo } = slowStorage()
    const { onAudit, close } = storeOver(storage)
    const sessions = createSessions({ store: memorySessionStore(), onAudit })
    for (let i = 0; i < 5; i++) await sessions.create({ user: 'ann' })
    letGo()
    await Promise.resolve()
    while (sizes.length < 2) await new Promise(setImmediate)
    letGo()
    await close()
    expect(sizes).toEqual([1, 4])
  })

  it('tells of every event that is lost', async () => {
    const { storage, letGo } = slowStorage()
    const { onAudit, close, failures } = storeOver(storage, { maxWaiting: 2 })
    const told = Array.from({ length: 4 }, () =>
      Promise.resolve(onAudit(FULL)).then(
        () => 'kept',
        () => 'lost',
      ),
    )
    letGo(new Error('the disk is full'))
    while (failures.length < 2) await new Promise(setImmediate)
    letGo()
    await close()
    expect(await Promise.all(told)).toEqual(['lost', 'kept', 'kept', 'lost'])
    expect(failures).toEqual([
      [expect.stringContaining('Too many'), 1],
      [expect.stringContaining('disk'), 1],
    ])
  })

  it('makes an action fail whose event is lost, where audit is required', async () => {
    const { storage, letGo } = slowStorage()
    const { onAudit } = storeOver(storage)
    const sessions = createSessions({ store: memorySessionStore(), onAudit, auditMode: 'required' })
    const creating = sessions.create({ user: 'ann' })
    await new Promise(setImmediate)
    letGo(new Error('the disk is full'))
    await expect(creating).rejects.toMatchObject({ code: 'unavailable' })
  })
})
