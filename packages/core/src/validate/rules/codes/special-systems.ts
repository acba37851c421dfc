import { quoted } from '../../../errors/index.js'

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
export function isExampleUrl(url: string): boolean {
  return /^https?:\/\/(?:example\.org|acme\.com)(?:\/|$)/.test(url)
}

/** Where FHIR itself is published. */
const FHIR_SITE = /^https?:\/\/(?:www\.)?hl7\.org\/fhir(?=\/|$)/
/** Paths below it for identifiers of others, tests, and implementation guides of countries and regions. */
const BY_OTHERS = /^\/(?:sid|test|[a-z]{2})(?:\/|$)/
/** Systems without parts that have urls of their own. */
const WHOLE = ['http://snomed.info/sct', 'http://loinc.org', 'http://unitsofmeasure.org', 'http://www.nlm.nih.gov/research/umls/rxnorm']

/** The problem with the url of an unknown code system; `undefined` when none is evident. */
export function systemFault(url: string): string | undefined {
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
