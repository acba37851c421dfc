import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject, isString, objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import type { NodeRule, Run } from '../../run/run.js'

const WORK_GROUP: FindingDefinition = defineFinding(
  'work-group',
  'warning',
  'business-rule',
  'Name one work group of HL7, and give its name in publisher and its page as a url in contact.',
)

/** What a definition lacks that is to be published. */
const PUBLICATION: FindingDefinition = defineFinding(
  'publication',
  'warning',
  'required',
  'State what published definitions state, so that others can find and use them.',
)

/** Requirements on definitions that HL7 publishes, which name the work group that is responsible for them. */
export const workGroupRule: NodeRule = { on: ['DomainResource'], finds: [WORK_GROUP, PUBLICATION], check: checkPublished }

const EXTENSION = 'http://hl7.org/fhir/StructureDefinition/structuredefinition-wg'
const PUBLISHED = 'http://hl7.org/fhir/'
/** Urls of systems of identifiers, whose definitions no work group has. */
const SID = 'http://hl7.org/fhir/sid'
const PAGES = 'http://www.hl7.org/Special/committees/'

/** A publisher that is a work group of HL7. Definitions of R4 itself name other publishers, some with a slash. */
const OF_GROUP = /^HL7[^/]*\//i

interface WorkGroup {
  readonly names: readonly string[]
  /** The last part of the address of its page. */
  readonly page: string
}

/** The work groups of HL7 by the codes of http://terminology.hl7.org/CodeSystem/hl7-work-group. */
const WORK_GROUPS: ReadonlyMap<string, WorkGroup> = new Map(
  [
    ['aid', 'java', 'Application Implementation and Design'],
    ['arden', 'arden', 'Arden Syntax'],
    ['brr', 'rcrim', 'Biomedical Research and Regulation'],
    ['cbcc', 'cbcc', 'Community Based Collaborative Care'],
    ['cdamg', 'cdamg', 'CDA Management Group'],
    ['cds', 'dss', 'Clinical Decision Support'],
    ['cg', 'clingenomics', 'Clinical Genomics'],
    ['cgp', 'cgp', 'Cross-Group Projects'],
    ['cic', 'cic', 'Clinical Interoperability Council'],
    ['cimi', 'cimi', 'Clinical Information Modeling Initiative'],
    ['claims', 'claims', 'Payer/Provider Information Exchange Work Group'],
    ['cqi', 'cqi', 'Clinical Quality Information'],
    ['dev', 'healthcaredevices', 'Devices'],
    ['ec', 'emergencycare', 'Emergency Care'],
    ['ehr', 'ehr', 'Electronic Health Records'],
    ['fhir', 'fiwg', 'FHIR Infrastructure'],
    ['fm', 'fm', 'Financial Management'],
    ['fmg', 'fhirmg', 'FHIR Management Group'],
    ['hsi', 'hsi', 'Health Standards Integration'],
    ['hsswg', 'hsswg', 'Human and Social Services'],
    ['hta', 'termauth', 'Terminology Authority'],
    ['ictc', 'ictc', 'Conformance'],
    ['ii', 'imagemgt', 'Imaging Integration'],
    ['inm', 'inm', 'Infrastructure And Messaging'],
    ['its', 'xml', 'Implementable Technology Specifications'],
    ['lhs', 'lhs', 'Learning Health Systems'],
    ['mnm', 'mnm', 'Modeling and Methodology'],
    ['mobile', 'mobile', 'Mobile Health'],
    ['oo', 'orders', 'Orders and Observations'],
    ['pa', 'pafm', 'Patient Administration'],
    ['pc', 'patientcare', 'Patient Care'],
    ['pe', 'patientempowerment', 'Patient Empowerment'],
    ['pher', 'pher', 'Public Health'],
    ['phx', 'medication', 'Pharmacy'],
    ['sd', 'structure', 'Structured Documents'],
    ['sec', 'secure', 'Security'],
    ['soa', 'soa', 'Services Oriented Architecture'],
    ['ti', 'Vocab', 'Terminology Infrastructure', 'Vocabulary'],
    ['tsmg', 'tsmg', 'Terminology Services Management Group (TSMG)'],
    ['us', 'usrealm', 'US Realm Steering Committee'],
    ['v2', 'v2management', 'V2 Management Group'],
    ['vocab', 'Vocab', 'Terminology Infrastructure', 'Vocabulary'],
  ].map(([code = '', page = '', ...names]) => [code, { page, names }]),
)

function checkPublished(run: Run, node: FhirNode): void {
  const { value } = node
  if (!isObject(value)) return
  const url = stringAt(value, 'url') ?? ''
  if (run.policy.forPublication) checkForPublication(run, node, { definition: value, url })
  if (!url.startsWith(PUBLISHED)) return
  if (node.type.name === 'ImplementationGuide') checkGuideOfHl7(run, node, value)
  checkWorkGroup(run, node, value)
}

/** A part of HL7 that keeps its own code systems, or the definitions that they move to. */
const OF_TERMINOLOGY = /terminology\.hl7\.org|hl7\.org\/cda\/stds\/core/

/** Members that definitions of a type state when they are published, by the profiles for definitions that are shared; without those that only should be there. */
const SHARED = ['url', 'version', 'title', 'status', 'experimental', 'description']
const SHAREABLE: ReadonlyMap<string, readonly string[]> = new Map([
  ['CodeSystem', [...SHARED, 'content', 'caseSensitive']],
  ['ValueSet', SHARED],
  ['ConceptMap', SHARED],
  ['Measure', [...SHARED, 'publisher']],
])

interface Published {
  readonly definition: JsonObject
  readonly url: string
}

/** Checks that a definition has what the profiles for shared definitions demand: an error for those of HL7, else a warning. */
function checkForPublication({ findings }: Run, node: FhirNode, { definition, url }: Published): void {
  const type = node.type.name
  const wanted = SHAREABLE.get(type)
  if (wanted === undefined) return
  const isOfHl7 = url.includes('hl7')
  const isThere = (name: string): boolean => definition[name] !== undefined || definition[`_${name}`] !== undefined
  const report = (name: string, isError: boolean): void => {
    const text = `${isOfHl7 ? 'HL7' : 'Who publishes it'} should state ${quoted(name)}, as the profile Shareable${type} does.`
    findings.report(PUBLICATION, node, { text, ...(isOfHl7 && isError && { severity: 'error' }) })
  }
  for (const name of wanted)
    if (!isThere(name) && (name !== 'caseSensitive' || definition['content'] !== 'supplement'))
      report(name, type !== 'Measure' || name !== 'title')
  if (!isThere('name')) report('name', type === 'Measure')
  if (type === 'CodeSystem' && url.includes('hl7.org') && !OF_TERMINOLOGY.test(url)) {
    const text = 'Most code systems of HL7 move to terminology.hl7.org; consider giving this one such a url now.'
    findings.report(PUBLICATION, node, { text, severity: 'information', code: 'business-rule' })
  }
}

const DEFINED = 'http://hl7.org/fhir/StructureDefinition/structuredefinition-'

/** Guides of HL7 state their status, their work group and how mature they are. */
function checkGuideOfHl7({ findings }: Run, node: FhirNode, guide: JsonObject): void {
  const urls = new Set(objectsAt(guide, 'extension').map(({ url }) => url))
  for (const name of ['standards-status', 'wg', 'fmm'])
    if (!urls.has(DEFINED + name))
      findings.report(PUBLICATION, node, {
        text: `A guide of HL7 ${name === 'fmm' ? 'should' : 'must'} have the extension ${quoted(DEFINED + name)}.`,
        code: 'business-rule',
        ...(name !== 'fmm' && { severity: 'error' }),
      })
}

function checkWorkGroup({ findings, policy }: Run, node: FhirNode, value: JsonObject): void {
  const codes = objectsAt(value, 'extension').flatMap(nominated)
  const [code] = codes
  const error = (text: string): void => findings.report(WORK_GROUP, node, { text, severity: 'error' })
  if (code === undefined) {
    if (policy.forPublication && stringAt(value, 'url')?.includes(SID) !== true)
      error(`A resource that HL7 publishes must state its work group with the extension ${quoted(EXTENSION)}.`)
    return
  }
  if (codes.length > 1) error(`The resource has more than one work group (${EXTENSION}).`)
  const group = WORK_GROUPS.get(code)
  if (group === undefined) return error(`The nominated WG ${quoted(code)} is unknown.`)
  const publisher = stringAt(value, 'publisher')
  const wanted = group.names.map((name) => `HL7 International / ${name}`)
  if (publisher === undefined || !wanted.includes(publisher))
    findings.report(WORK_GROUP, node, {
      text: publisherProblem(code, wanted, publisher),
      ...(OF_GROUP.test(publisher ?? '') && { severity: 'error' }),
    })
  if (!hasUrl(value, PAGES + group.page))
    findings.report(WORK_GROUP, node, {
      text: `The nominated WG ${quoted(code)} means that the contact url should be ${quoted(PAGES + group.page)}, but it was not found.`,
    })
}

/** The work groups that an extension names; the type of its value has a finding of its own. */
function nominated({ url, valueCode, valueString }: JsonObject): readonly string[] {
  return url === EXTENSION ? [valueCode ?? valueString].filter(isString) : []
}

function publisherProblem(code: string, wanted: readonly string[], publisher: string | undefined): string {
  const names = wanted.map(quoted).join(' or ')
  return publisher === undefined
    ? `When HL7 is publishing a resource, the publisher must be provided, and for WG ${quoted(code)} it should be ${names}.`
    : `The nominated WG ${quoted(code)} means that the publisher should be ${names}, but ${quoted(publisher)} was found.`
}

function hasUrl(definition: JsonObject, url: string): boolean {
  const telecoms = objectsAt(definition, 'contact').flatMap((contact) => objectsAt(contact, 'telecom'))
  return telecoms.some(({ system, value }) => system === 'url' && value === url)
}
