import type { AuditEvent as FhirAuditEvent, Coding } from 'fhir/r4.js'
import { isResourceType } from '../storage/index.js'
import type { AuditEvent } from './audit.js'

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
 * Writes an audit event as FHIR: what happened as subtype, who asked as agent, the client application as another, and as entities what was
 * asked for, the session and the request.
 *
 * @see https://hl7.org/fhir/R4/auditevent.html
 */
export function toAuditEvent(event: AuditEvent): FhirAuditEvent {
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

/** Everything else is an execution. */
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

/** Bot is not a type of FHIR. */
function resourceEntity(type: string, id: string | undefined): NonNullable<FhirAuditEvent['entity']>[number] {
  const isFhir = isResourceType(type) && type !== 'Bot'
  return {
    ...(isFhir && { type: { system: RESOURCE_TYPES, code: type } }),
    ...(id === undefined ? { name: type } : { what: isFhir ? { reference: `${type}/${id}` } : { display: `${type}/${id}` } }),
  }
}
