import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode, type Pending } from '../../../fhirpath/index.js'
import { isObject } from '../../../json/index.js'
import type { ElementRule } from '../../run/element-rule.js'
import { defineFinding, type Finding, type FindingDefinition } from '../../run/finding.js'
import type { Run } from '../../run/run.js'

/** A code system that is not available, so that codes are not checked. */
export const CODE_SYSTEM_UNKNOWN: FindingDefinition = defineFinding(
  'code-system-unknown',
  'warning',
  'not-found',
  'Correct the system, or load the code system; until then the code is not checked.',
)
/** A system that cannot be the url of a code system. */
export const CODING_SYSTEM_FORM: FindingDefinition = defineFinding(
  'coding-system-form',
  'error',
  'invalid',
  'Use the absolute canonical URL of the code system.',
)

/** True for a Coding that is not part of a CodeableConcept. */
export function isLone({ parent }: FhirNode): boolean {
  return parent?.type.name !== 'CodeableConcept'
}

/** True for a Coding that is not part of a CodeableConcept, and not bound to a value set. */
export function isUnbound(node: FhirNode, rules: readonly ElementRule[]): boolean {
  return isLone(node) && rules.every(({ bindings }) => bindings.length === 0)
}

interface UnknownSystem {
  readonly url: string
  readonly rules: readonly ElementRule[]
}

/** Reports the system of a Coding for which no code system is available. */
export function reportUnknownSystem(run: Run, node: FhirNode, { url, rules }: UnknownSystem): void {
  if (EXTERNAL.has(url)) return
  const valueSet = run.definitions.valueSet(url)
  const definition = run.definitions.definition('CodeSystem', url)
  if (valueSet === PENDING || definition === PENDING) return
  if (definition?.['content'] === 'supplement' || definition?.['supplements'] !== undefined) {
    const text = `${quoted(url)} is a code system supplement, so it cannot be used as a system.`
    run.findings.report(CODE_SYSTEM_UNKNOWN, node, { text, at: 'system', severity: 'error' })
  } else if (valueSet !== undefined) {
    const text = `The system ${quoted(url)} references a value set, not a code system.`
    run.findings.report(CODING_SYSTEM_FORM, node, { text, ...placeOfSystem(node, rules) })
  } else if (isUnbound(node, rules)) reportUnbound(run, node, { url, isEmpty: definition !== undefined })
  else reportBound(run, node, { url, rules })
}

/** Issue type or place of a finding about a system, as HL7's validator reports it: it checks the code of an unbound Coding, and the binding of others. */
export function placeOfSystem(node: FhirNode, rules: readonly ElementRule[]): { readonly code?: Finding['code']; readonly at?: string } {
  return isUnbound(node, rules) ? { code: 'code-invalid' } : { at: 'system' }
}

/** Reports an unknown system without a binding. Others may know it, so this is an error only if its url shows that it is wrong. */
function reportUnbound(run: Run, node: FhirNode, { url, isEmpty }: { url: string; isEmpty: boolean }): void {
  if (isExampleUrl(url)) return
  const known = checkScheme(run, node, url)
  const misspelt = known && `The system ${quoted(url)} wrongly starts with https:, not http:.`
  const fault = isEmpty ? undefined : (misspelt ?? systemFault(url))
  if (fault !== undefined) {
    run.findings.report(CODE_SYSTEM_UNKNOWN, node, { text: fault, severity: 'error', code: 'code-invalid' })
    return
  }
  run.findings.report(CODE_SYSTEM_UNKNOWN, node, {
    text: isEmpty
      ? `The definition of the code system ${quoted(url)} has no codes, so the code is not checked.`
      : `The code system ${quoted(url)} could not be found, so the code is not checked.`,
    severity: 'information',
    code: 'unknown',
    ...(!isEmpty && { at: 'system' }),
  })
}

function reportBound(run: Run, node: FhirNode, { url, rules }: UnknownSystem): void {
  const kind = isBound(run, node, rules) ? otherKindOf(run, url, 'CodeSystem') : undefined
  if (kind === PENDING) return
  if (kind !== undefined) {
    const text = `The system ${quoted(url)} references a ${kind}, not a code system.`
    run.findings.report(CODING_SYSTEM_FORM, node, { text, at: 'system' })
    return
  }
  checkScheme(run, node, url)
  const text = `The code system ${quoted(url)} could not be found, so the code is not checked.`
  run.findings.report(CODE_SYSTEM_UNKNOWN, node, { text, at: 'system' })
}

/** True when the Coding, or the concept around it, is bound to a known value set. */
function isBound(run: Run, { parent }: FhirNode, rules: readonly ElementRule[]): boolean {
  if (rules.some(({ bindings }) => bindings.length > 0)) return true
  const concept = parent?.value
  return isObject(concept) && (run.indexes.boundLists.get(concept)?.() ?? []).length > 0
}

/**
 * Reports a system with https: whose code system has http:. The url is a name, not an address, so the scheme is part of it. Returns the url of the code
 * system that is meant.
 */
function checkScheme(run: Run, node: FhirNode, url: string): string | undefined {
  if (!url.startsWith('https:')) return undefined
  const other = `http:${url.slice('https:'.length)}`
  const family = run.definitions.codeSystem(other)
  if (family === PENDING || (family.unknown && !EXTERNAL.has(other))) return undefined
  run.findings.report(CODING_SYSTEM_FORM, node, {
    text: `The code system ${quoted(other)} is known: change https: to http:.`,
    at: 'system',
    severity: 'information',
    code: 'informational',
  })
  return other
}

/** Code systems whose content needs a licence or a service: nothing is reported about their codes. */
export const EXTERNAL: ReadonlySet<string> = new Set([
  'http://snomed.info/sct',
  'http://loinc.org',
  'http://www.nlm.nih.gov/research/umls/rxnorm',
  'http://unitsofmeasure.org',
  'http://hl7.org/fhir/sid/cvx',
  'http://hl7.org/fhir/sid/ndc',
  'http://hl7.org/fhir/sid/icd-10',
  'http://hl7.org/fhir/sid/icd-10-cm',
  'http://hl7.org/fhir/sid/icd-9-cm',
  'http://www.ama-assn.org/go/cpt',
  'http://dicom.nema.org/resources/ontology/DCM',
  'urn:ietf:bcp:13',
  'urn:ietf:bcp:47',
  'urn:iso:std:iso:3166',
  'urn:iso:std:iso:4217',
  'http://unstats.un.org/unsd/methods/m49/m49.htm',
])

/** True for the url of a code system in examples. */
function isExampleUrl(url: string): boolean {
  return /^https?:\/\/(?:example\.org|acme\.com)(?:\/|$)/.test(url)
}

/** Where FHIR itself is published. */
const FHIR_SITE = /^https?:\/\/(?:www\.)?hl7\.org\/fhir(?=\/|$)/
/** Paths below it for identifiers of others, tests, and implementation guides of countries and regions. */
const BY_OTHERS = /^\/(?:sid|test|[a-z]{2})(?:\/|$)/
/** Systems without parts that have urls of their own. */
const WHOLE = ['http://snomed.info/sct', 'http://loinc.org', 'http://unitsofmeasure.org', 'http://www.nlm.nih.gov/research/umls/rxnorm']

/** The problem with the url of an unknown code system; `undefined` when none is evident. */
function systemFault(url: string): string | undefined {
  const whole = WHOLE.find((one) => url.startsWith(one))
  if (whole !== undefined) return `Invalid system URI ${quoted(url)}; the code system is ${quoted(whole)}.`
  if (/^https?:\/\/build\.fhir\.org(?:\/|$)/.test(url))
    return `The system ${quoted(url)} is wrong: it must not be a reference to build.fhir.org.`
  const path = FHIR_SITE.test(url) ? url.replace(FHIR_SITE, '') : undefined
  if (path === undefined || BY_OTHERS.test(path)) return undefined
  return path.endsWith('.html')
    ? `The system ${quoted(url)} is wrong: it must not be an HTML page.`
    : `Unknown code system ${quoted(url)}: FHIR defines none with this url.`
}

const IDENTIFIER_TYPES = 'http://terminology.hl7.org/CodeSystem/v2-0203'

/** ISO 3166-1 alpha-3. */
const COUNTRIES =
  'ABW AFG AGO AIA ALA ALB AND ARE ARG ARM ASM ATA ATF ATG AUS AUT AZE BDI BEL BEN BES BFA BGD BGR BHR BHS BIH BLM BLR BLZ BMU BOL BRA BRB BRN BTN BVT ' +
  'BWA CAF CAN CCK CHE CHL CHN CIV CMR COD COG COK COL COM CPV CRI CUB CUW CXR CYM CYP CZE DEU DJI DMA DNK DOM DZA ECU EGY ERI ESH ESP EST ETH FIN FJI ' +
  'FLK FRA FRO FSM GAB GBR GEO GGY GHA GIB GIN GLP GMB GNB GNQ GRC GRD GRL GTM GUF GUM GUY HKG HMD HND HRV HTI HUN IDN IMN IND IOT IRL IRN IRQ ISL ISR ' +
  'ITA JAM JEY JOR JPN KAZ KEN KGZ KHM KIR KNA KOR KWT LAO LBN LBR LBY LCA LIE LKA LSO LTU LUX LVA MAC MAF MAR MCO MDA MDG MDV MEX MHL MKD MLI MLT MMR ' +
  'MNE MNG MNP MOZ MRT MSR MTQ MUS MWI MYS MYT NAM NCL NER NFK NGA NIC NIU NLD NOR NPL NRU NZL OMN PAK PAN PCN PER PHL PLW PNG POL PRI PRK PRT PRY PSE ' +
  'PYF QAT REU ROU RUS RWA SAU SDN SEN SGP SGS SHN SJM SLB SLE SLV SMR SOM SPM SRB SSD STP SUR SVK SVN SWE SWZ SXM SYC SYR TCA TCD TGO THA TJK TKL TKM ' +
  'TLS TON TTO TUN TUR TUV TWN TZA UGA UKR UMI URY USA UZB VAT VCT VEN VGB VIR VNM VUT WLF WSM YEM ZAF ZMB ZWE'

/**
 * True for `NN` with a country, such as `NNESP`: the national identifier of that country. The code system of identifier types states that it has these
 * codes, but does not list them.
 *
 * @see https://terminology.hl7.org/CodeSystem-v2-0203.html
 */
export function isNationalIdentifierType(system: string, code: string): boolean {
  return system === IDENTIFIER_TYPES && /^NN[A-Z]{3}$/.test(code) && COUNTRIES.split(' ').includes(code.slice(2))
}

/** The type of a definition with this canonical that is not of the wanted type; `undefined` when there is none. */
export function otherKindOf(run: Run, canonical: string, wanted: string): string | undefined | Pending {
  const kinds = run.definitions.kinds(canonical)
  return kinds === PENDING ? PENDING : kinds.find((type) => type !== wanted)
}
