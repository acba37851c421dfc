import { OperationError, quoted } from '../errors/index.js'
import { isObject } from '../json/index.js'
import type { Condition, ScanQuery, SearchQuery } from './query.js'
import type { Capabilities, WriteEntry } from './storage.js'

/** The 146 resource types of FHIR 4.0.1. */
const R4_TYPES: string =
  'Account ActivityDefinition AdverseEvent AllergyIntolerance Appointment AppointmentResponse AuditEvent Basic Binary ' +
  'BiologicallyDerivedProduct BodyStructure Bundle CapabilityStatement CarePlan CareTeam CatalogEntry ChargeItem ' +
  'ChargeItemDefinition Claim ClaimResponse ClinicalImpression CodeSystem Communication CommunicationRequest ' +
  'CompartmentDefinition Composition ConceptMap Condition Consent Contract Coverage CoverageEligibilityRequest ' +
  'CoverageEligibilityResponse DetectedIssue Device DeviceDefinition DeviceMetric DeviceRequest DeviceUseStatement ' +
  'DiagnosticReport DocumentManifest DocumentReference EffectEvidenceSynthesis Encounter Endpoint EnrollmentRequest ' +
  'EnrollmentResponse EpisodeOfCare EventDefinition Evidence EvidenceVariable ExampleScenario ExplanationOfBenefit ' +
  'FamilyMemberHistory Flag Goal GraphDefinition Group GuidanceResponse HealthcareService ImagingStudy Immunization ' +
  'ImmunizationEvaluation ImmunizationRecommendation ImplementationGuide InsurancePlan Invoice Library Linkage List ' +
  'Location Measure MeasureReport Media Medication MedicationAdministration MedicationDispense MedicationKnowledge ' +
  'MedicationRequest MedicationStatement MedicinalProduct MedicinalProductAuthorization MedicinalProductContraindication ' +
  'MedicinalProductIndication MedicinalProductIngredient MedicinalProductInteraction MedicinalProductManufactured ' +
  'MedicinalProductPackaged MedicinalProductPharmaceutical MedicinalProductUndesirableEffect MessageDefinition ' +
  'MessageHeader MolecularSequence NamingSystem NutritionOrder Observation ObservationDefinition OperationDefinition ' +
  'OperationOutcome Organization OrganizationAffiliation Parameters Patient PaymentNotice PaymentReconciliation Person ' +
  'PlanDefinition Practitioner PractitionerRole Procedure Provenance Questionnaire QuestionnaireResponse RelatedPerson ' +
  'RequestGroup ResearchDefinition ResearchElementDefinition ResearchStudy ResearchSubject RiskAssessment ' +
  'RiskEvidenceSynthesis Schedule SearchParameter ServiceRequest Slot Specimen SpecimenDefinition StructureDefinition ' +
  'StructureMap Subscription Substance SubstanceNucleicAcid SubstancePolymer SubstanceProtein ' +
  'SubstanceReferenceInformation SubstanceSourceMaterial SubstanceSpecification SupplyDelivery SupplyRequest Task ' +
  'TerminologyCapabilities TestReport TestScript ValueSet VerificationResult VisionPrescription'

const RESOURCE_TYPES: ReadonlySet<string> = /* @__PURE__ */ new Set(/* @__PURE__ */ `${R4_TYPES} Bot`.split(' '))

/** Lists the types that can be stored, in alphabetical order, `Bot` last. */
export function resourceTypes(): readonly string[] {
  return [...RESOURCE_TYPES]
}

/** True for a type that can be stored: one of FHIR 4.0.1, or `Bot` of this project. */
export function isResourceType(type: string): boolean {
  return RESOURCE_TYPES.has(type)
}

/** True for `[A-Za-z0-9\-.]{1,64}`, the form of a FHIR id. */
export function isResourceId(id: string): boolean {
  return /^[A-Za-z0-9\-.]{1,64}$/.test(id)
}

/**
 * Checks the version that an entry expects.
 *
 * @param current The current version; `null` when the resource does not exist.
 * @throws {OperationError} `version-conflict` when the current version is not the expected one.
 */
export function checkVersion({ type, id, ifVersion }: Pick<WriteEntry, 'type' | 'id' | 'ifVersion'>, current: string | null): void {
  if (ifVersion === undefined || ifVersion === current) return
  const found = current === null ? 'does not exist' : `has version ${current}`
  const wanted = ifVersion === null ? 'it was to be created' : `version ${quoted(ifVersion)} was expected`
  throw new OperationError('version-conflict', `${type}/${id} ${found}, but ${wanted}.`)
}

/**
 * Checks the argument of `write`, for callers without type checks. A single entry that is not in a list is refused. Every adapter calls this first;
 * `checkLaidOut` checks each entry.
 *
 * @param capabilities Those of the storage. Default none.
 * @throws {OperationError} `parameter-value` for anything but a list of objects, and for an `ifOnlyMatch` that is not a condition; `parameter-required` when it
 *   is missing; `not-supported` for `ifOnlyMatch` without `conditionalWrites`.
 */
export function checkEntries(
  entries: readonly WriteEntry[],
  { conditionalWrites = false }: Pick<Capabilities, 'conditionalWrites'> = {},
): void {
  const given: unknown = entries
  if (given === undefined || given === null)
    throw new OperationError('parameter-required', 'entries is missing.', { expression: ['entries'] })
  if (!Array.isArray(given)) throw notEntries('is not a list, such as [putResource(...)]')
  if (!given.every(isObject)) throw notEntries('has an item that is none')
  const conditions = given.flatMap(({ ifOnlyMatch }) => (ifOnlyMatch === undefined ? [] : [ifOnlyMatch]))
  if (!conditions.every(isCondition)) throw notEntries('has an item whose ifOnlyMatch is not a condition')
  if (conditions.length > 0 && !conditionalWrites)
    throw new OperationError('not-supported', 'This storage writes nothing that depends on what else meets a condition (ifOnlyMatch).')
}

function notEntries(problem: string): OperationError {
  return new OperationError('parameter-value', `entries must be a list of entries to write, and ${problem}.`, { expression: ['entries'] })
}

/** A put that must be the only resource of its type to meet a condition. */
export interface ConditionalPut extends Pick<SearchQuery, 'type' | 'where'> {
  readonly id: string
}

/** The puts of a write that have a condition. */
export function conditionalPuts(entries: readonly WriteEntry[]): readonly ConditionalPut[] {
  return entries.flatMap((entry) => {
    if (entry.op !== 'put' || entry.ifOnlyMatch === undefined) return []
    const { type, id, ifOnlyMatch: where } = entry
    return [{ type, id, where }]
  })
}

/** Number of matches of the condition of a put that are looked for: another one besides its own resource. */
export const MATCHES_OF_PUT = 2

/** The resources before a write. */
interface BeforePut {
  /** Ids of resources that meet the condition; `MATCHES_OF_PUT` if there are more. */
  readonly matches: readonly string[]
  /** True if the resource that is put is current. */
  readonly isCurrent: boolean
}

/** Checks the condition of a put. @throws {OperationError} `version-conflict` when it does not hold. */
export function checkOnlyMatch({ type, id }: ConditionalPut, { matches, isCurrent }: BeforePut): void {
  if (isCurrent ? matches.length === 1 && matches[0] === id : matches.length === 0) return
  throw new OperationError('version-conflict', `${type}/${id} was to be the only ${type} that meets a condition, and is not.`)
}

/**
 * Checks the arguments of `read`, for callers without type checks: an address in one text would silently read nothing. Every adapter calls this first.
 *
 * @throws {OperationError} `parameter-value` for a type that is an address such as `Patient/a`, and for what is not a text; `parameter-required` when one is missing.
 */
export function checkRead(type: string, id: string): void {
  checkText('type', type)
  if (type.includes('/')) throw notRead('parameter-value', 'type', `is ${quoted(type)}`)
  checkText('id', id)
}

function checkText(name: string, given: unknown): void {
  if (given === undefined || given === null) throw notRead('parameter-required', name, 'is missing')
  if (typeof given !== 'string') throw notRead('parameter-value', name, 'is not a text')
}

function notRead(code: 'parameter-value' | 'parameter-required', name: string, problem: string): OperationError {
  const message = `${name} ${problem}. A read takes a type and an id, such as read('Patient', 'a').`
  return new OperationError(code, message, { expression: [name] })
}

const CONDITIONS: Readonly<Record<Condition['kind'], true>> = {
  and: true,
  or: true,
  not: true,
  entry: true,
  id: true,
  lastUpdated: true,
  refersTo: true,
  referredBy: true,
}

/**
 * Checks the query of a search or count, for callers without type checks. The text of a FHIR search is refused, because it would silently find nothing.
 * Every adapter calls this first.
 *
 * @throws {OperationError} `parameter-value` for anything but an object with `type` and `where`; `parameter-required` when it is missing.
 */
export function checkQuery(query: Pick<SearchQuery, 'type' | 'where'>): void {
  const given: unknown = query
  if (given === undefined || given === null) throw new OperationError('parameter-required', 'query is missing.', { expression: ['query'] })
  if (typeof given === 'string') throw notAQuery(`is the text ${quoted(given)}, which parseSearch of fhir-ops/search makes a query of`)
  if (!isObject(given) || typeof given['type'] !== 'string') throw notAQuery('has no type')
  if (!isCondition(given['where'])) throw notAQuery('has no condition in where')
}

function isCondition(given: unknown): boolean {
  return isObject(given) && typeof given['kind'] === 'string' && Object.hasOwn(CONDITIONS, given['kind'])
}

/**
 * Checks the query of a scan, including `referring`.
 *
 * @throws {OperationError} as `checkQuery`.
 */
export function checkScan(query: ScanQuery): void {
  checkQuery(query)
  const { referring = [] } = query
  if (!Array.isArray(referring)) throw notAQuery('has no list in referring')
  for (const one of referring) {
    checkQuery(one)
    if (!Array.isArray(one.params)) throw notAQuery('has no list of params in referring')
  }
}

function notAQuery(problem: string): OperationError {
  return new OperationError('parameter-value', `query ${problem}. A search takes { type, where }.`, { expression: ['query'] })
}
