import type { AuditEvent as FhirAuditEvent, Coding } from 'fhir/r4.js'
import { checkHas, OperationError } from '../errors/index.js'
import { AMOUNT, checkOptions, FUNCTION, having, inputShape, needed, type InputShape } from '../input/index.js'
import { putResource, isResourceType, type Indexer, type PutEntry, type Storage } from '../storage/index.js'

/** Types of audit events. */
export type AuditType =
  | 'token-rejected'
  | 'token-in-url'
  | 'session-created'
  | 'logout'
  | 'session-revoked'
  | 'revoke-denied'
  | 'global-sign-out'
  | 'scope-denied'
  | 'bot-executed'
  | 'bot-stopped'
  | 'outbound-refused'
  | 'limit-reached'
  | 'definition-refused'

/** Origin of an audited action. */
export interface AuditOrigin {
  readonly requestId?: string | undefined
  readonly remoteHost?: string | undefined
}

/** An audited action. It never contains tokens, bodies, query values, codes or patient data. */
export interface AuditEvent extends AuditOrigin {
  readonly time: Date
  readonly type: AuditType
  readonly outcome: 'success' | 'refused'
  /** A fixed word of this project, for example `expired`. */
  readonly reason?: string | undefined
  /** Present once the caller is verified. */
  readonly sub?: string | undefined
  readonly client?: string | undefined
  readonly loginId?: string | undefined
  /** For example `$translate`. */
  readonly operation?: string | undefined
  readonly resourceType?: string | undefined
  readonly resourceId?: string | undefined
}

/** Receives audit events; its promise is awaited where audit is required. */
export type AuditSink = (event: AuditEvent) => void | Promise<void>

/** Audit options of `createSessions`. */
export interface AuditOptions {
  readonly onAudit?: AuditSink | undefined
  /** `required`: an action whose event cannot be stored fails. Default `best-effort`. */
  readonly auditMode?: 'best-effort' | 'required' | undefined
  /** Called for events that could not be stored in `best-effort` mode. */
  readonly onAuditFailure?: ((error: unknown) => void) | undefined
}

/** An event before its time is set. */
export type AuditEntry = Omit<AuditEvent, 'time'>

/**
 * Creates the function that forwards events.
 *
 * @returns A function that resolves immediately in `best-effort` mode; in `required` mode it resolves when the event is stored, or throws `unavailable`.
 */
export function createAudit(options: AuditOptions, now: () => Date): (entry: AuditEntry) => Promise<void> {
  const { onAudit, auditMode = 'best-effort', onAuditFailure = () => {} } = options
  if (onAudit === undefined) return () => Promise.resolve()
  const store = async (entry: AuditEntry): Promise<void> => onAudit({ ...entry, time: now() })
  if (auditMode === 'best-effort') {
    return (entry) => {
      void store(entry).catch(onAuditFailure)
      return Promise.resolve()
    }
  }
  return async (entry) => {
    try {
      await store(entry)
    } catch (cause) {
      throw new OperationError('unavailable', 'The audit event could not be stored.', { cause })
    }
  }
}

/** Options of `openAuditStore`. */
interface AuditStoreOptions {
  readonly storage: Storage
  /** Creates the index entries of AuditEvents, for example the indexer of `r4()`. */
  readonly indexer: Indexer
  /** Called for every failed write and when events are refused because too many wait, with the number of lost events, never with their content. */
  readonly onFailure: (error: unknown, lost: number) => void
  /** Maximum number of events that wait to be written. Default 1,000. */
  readonly maxWaiting?: number
  /** Returns a random UUID. */
  readonly newId?: () => string
}

/** Stores audit events as AuditEvent resources. */
export interface AuditStore {
  /** Option `onAudit` of `createSessions`. Resolves when the event is durable, and rejects when it is lost; requests need not wait for it. */
  readonly onAudit: AuditSink
  /** Waits for running writes. The storage stays open. */
  close(): Promise<void>
}

interface Waiting {
  readonly entry: PutEntry
  readonly settled: PromiseWithResolvers<void>
}

const DEFAULT_MAX_WAITING = 1_000

const SHAPE: InputShape = inputShape<AuditStoreOptions>({
  storage: needed(having('a storage', ['read', 'write'])),
  indexer: needed(FUNCTION),
  onFailure: needed(FUNCTION),
  maxWaiting: AMOUNT,
  newId: FUNCTION,
})

/**
 * Creates an audit sink that stores AuditEvents. It runs one write at a time, with all events that have arrived since the previous one. Memory is
 * bounded: events beyond `maxWaiting` are refused.
 *
 * @throws {TypeError} for an option that is missing, unknown or of the wrong type.
 */
export function openAuditStore(options: AuditStoreOptions): AuditStore {
  checkOptions('openAuditStore', SHAPE, options)
  const { storage, onFailure, maxWaiting = DEFAULT_MAX_WAITING } = options
  let waiting: Waiting[] = []
  let writing: Promise<void> | undefined

  const writeAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      try {
        await storage.write(batch.map(({ entry }) => entry))
        for (const { settled } of batch) settled.resolve()
      } catch (error) {
        onFailure(error, batch.length)
        for (const { settled } of batch) settled.reject(error)
      }
    }
    writing = undefined
  }
  return {
    onAudit(event) {
      if (waiting.length >= maxWaiting) {
        const error = new OperationError('unavailable', 'Too many audit events wait to be stored.')
        onFailure(error, 1)
        return Promise.reject(error)
      }
      const settled = Promise.withResolvers<void>()
      waiting.push({ entry: entryFor(options, event), settled })
      writing ??= writeAll()
      return settled.promise
    },
    close: async () => writing,
  }
}

function entryFor({ indexer, newId = () => crypto.randomUUID() }: AuditStoreOptions, event: AuditEvent): PutEntry {
  const id = newId()
  return putResource({ type: 'AuditEvent', id, source: { ...toAuditEvent(event) }, ifVersion: null }, indexer)
}

const DICOM = 'http://dicom.nema.org/resources/ontology/DCM'
const TYPES = 'http://terminology.hl7.org/CodeSystem/audit-event-type'
const SOURCE_TYPES = 'http://terminology.hl7.org/CodeSystem/security-source-type'
const RESOURCE_TYPES = 'http://hl7.org/fhir/resource-types'
const INTERACTIONS = 'http://hl7.org/fhir/restful-interaction'
const OUR_SUBTYPES = 'urn:fhir-ops:audit'
const OUR_OPERATIONS = 'urn:fhir-ops:operation'
const REQUEST_ID = 'urn:fhir-ops:request-id'
const LOGIN_ID = 'urn:fhir-ops:login-id'

/**
 * Converts an audit event to a FHIR AuditEvent: the type of the event becomes `subtype`; caller and client application become agents; target, session
 * and request become entities.
 *
 * @see https://hl7.org/fhir/R4/auditevent.html
 */
export function toAuditEvent(event: AuditEvent): FhirAuditEvent {
  checkHas('The event', event, ['type', 'time', 'outcome'])
  const entity = entitiesOf(event)
  return {
    resourceType: 'AuditEvent',
    type: USER_EVENTS.has(event.type)
      ? { system: DICOM, code: '110114', display: 'User Authentication' }
      : { system: TYPES, code: 'rest', display: 'RESTful Operation' },
    subtype: subtypesOf(event),
    action: ACTIONS.get(event.operation ?? '') ?? 'E',
    recorded: event.time.toISOString(),
    outcome: event.outcome === 'success' ? '0' : '4',
    ...(event.reason !== undefined && { outcomeDesc: event.reason }),
    agent: agentsOf(event),
    source: { observer: { display: 'fhir-ops' }, type: [{ system: SOURCE_TYPES, code: '4', display: 'Application Server' }] },
    ...(entity.length > 0 && { entity }),
  }
}

const USER_EVENTS: ReadonlySet<AuditEvent['type']> = new Set([
  'token-rejected',
  'token-in-url',
  'session-created',
  'logout',
  'session-revoked',
  'revoke-denied',
  'global-sign-out',
])

/** Actions by interaction; every other interaction is an execution. */
const ACTIONS: ReadonlyMap<string, NonNullable<FhirAuditEvent['action']>> = new Map([
  ['create', 'C'],
  ['read', 'R'],
  ['vread', 'R'],
  ['update', 'U'],
  ['delete', 'D'],
])

function subtypesOf({ type, operation }: AuditEvent): Coding[] {
  const own = { system: OUR_SUBTYPES, code: type }
  if (operation === undefined) return [own]
  if (!operation.startsWith('$')) return [own, { system: INTERACTIONS, code: operation }]
  return [own, { system: INTERACTIONS, code: 'operation' }, { system: OUR_OPERATIONS, code: operation }]
}

function agentsOf({ sub, client, remoteHost }: AuditEvent): FhirAuditEvent['agent'] {
  const user = {
    requestor: true,
    who: sub === undefined ? { display: 'unknown' } : { identifier: { value: sub } },
    ...(remoteHost !== undefined && { network: { address: remoteHost, type: '2' as const } }),
  }
  if (client === undefined) return [user]
  const type = { coding: [{ system: DICOM, code: '110150', display: 'Application' }] }
  return [user, { type, who: { identifier: { value: client } }, requestor: false }]
}

function entitiesOf({ resourceType, resourceId, loginId, requestId }: AuditEvent): NonNullable<FhirAuditEvent['entity']> {
  return [
    ...(resourceType === undefined ? [] : [resourceEntity(resourceType, resourceId)]),
    ...(loginId === undefined ? [] : [{ what: { identifier: { system: LOGIN_ID, value: loginId } } }]),
    ...(requestId === undefined ? [] : [{ what: { identifier: { system: REQUEST_ID, value: requestId } } }]),
  ]
}

/** `Bot` is not a FHIR type, so its reference is only a display. */
function resourceEntity(type: string, id: string | undefined): NonNullable<FhirAuditEvent['entity']>[number] {
  const isFhir = isResourceType(type) && type !== 'Bot'
  return {
    ...(isFhir && { type: { system: RESOURCE_TYPES, code: type } }),
    ...(id === undefined ? { name: type } : { what: isFhir ? { reference: `${type}/${id}` } : { display: `${type}/${id}` } }),
  }
}
