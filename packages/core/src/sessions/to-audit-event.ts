import type { AuditEvent as FhirAuditEvent } from 'fhir/r4.js'
import type { AuditEvent } from './audit-event.js'

const TYPES = 'http://terminology.hl7.org/CodeSystem/audit-event-type'
const OUR_SUBTYPES = 'urn:fhir-ops:audit'

/**
 * Writes an audit event as FHIR.
 *
 * @see https://hl7.org/fhir/R4/auditevent.html
 */
export function toAuditEvent(event: AuditEvent): FhirAuditEvent {
  return {
    resourceType: 'AuditEvent',
    type: isAboutUsers(event) ? { system: 'http://dicom.nema.org/resources/ontology/DCM', code: '110114' } : { system: TYPES, code: 'rest' },
    subtype: [{ system: OUR_SUBTYPES, code: event.type }],
    action: 'E',
    recorded: event.time.toISOString(),
    outcome: event.outcome === 'success' ? '0' : '4',
    ...(event.reason !== undefined && { outcomeDesc: event.reason }),
    agent: [agentOf(event)],
    source: { observer: { display: 'fhir-ops' } },
    ...(event.resourceType !== undefined && { entity: [{ what: { reference: referenceOf(event.resourceType, event.resourceId) } }] }),
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

function isAboutUsers(event: AuditEvent): boolean {
  return USER_EVENTS.has(event.type)
}

function agentOf(event: AuditEvent): FhirAuditEvent['agent'][number] {
  return {
    requestor: true,
    who: event.sub === undefined ? { display: 'unknown' } : { identifier: { value: event.sub } },
    ...(event.client !== undefined && { name: event.client }),
    ...(event.remoteHost !== undefined && { network: { address: event.remoteHost, type: '2' } }),
  }
}

function referenceOf(type: string, id: string | undefined): string {
  return id === undefined ? type : `${type}/${id}`
}
