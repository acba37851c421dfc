import { quoted } from '../../../errors/index.js'
import { extensionElement, type ExtensionElement, type OtherElement } from '../../../cross-version/index.js'
import { PENDING, type FhirNode, type Pending, type ElementSlot, type TypeModel } from '../../../fhirpath/index.js'
import { isObject, objectsAt, stringAt } from '../../../json/index.js'
import type { Profile } from '../../run/element-rule.js'
import { defineFinding, type Finding, type FindingDefinition } from '../../run/finding.js'
import { rootsOf } from '../profile/conforms.js'
import type { Run, NodeRule } from '../../run/run.js'
import { reportEmpty } from '../profile/applied-profiles.js'
import { extensionUrl } from '../slicing/slice-match.js'
import { EXTENSION_CONTEXT, namesAround } from './extension-context.js'
import { OTHER_RELEASES } from './other-release-tables.js'

const EXTENSION_UNKNOWN: FindingDefinition = defineFinding(
  'extension-unknown',
  'error',
  'structure',
  'Load the definition of the extension, or correct its url.',
)
const EXTENSION_URL: FindingDefinition = defineFinding(
  'extension-url',
  'error',
  'invalid',
  'Use the absolute url of the extension, without version.',
)
const EXTENSION_RELEASE: FindingDefinition = defineFinding(
  'extension-release',
  'error',
  'invalid',
  'Use the url of an element that the other release has.',
)
const EXTENSION_URL_MISSING: FindingDefinition = defineFinding('extension-url-missing', 'error', 'invalid', 'Add the url of the extension.')

/** Extensions and their urls. */
export const extensionRule: NodeRule = {
  on: ['Extension'],
  finds: [EXTENSION_URL_MISSING, EXTENSION_URL, EXTENSION_UNKNOWN, EXTENSION_RELEASE, EXTENSION_CONTEXT],
  check: checkExtension,
}

/** Checks that the url of an extension is valid and has a definition. The parts of a complex extension are defined by that extension. */
function checkExtension(run: Run, node: FhirNode): void {
  const url = isObject(node.value) ? stringAt(node.value, 'url') : undefined
  if (url === undefined || url === '') run.findings.report(EXTENSION_URL_MISSING, node, { text: 'The extension must have a url.' })
  else if (url.includes(':')) checkAbsolute(run, node, url)
  else checkPart(run, node, url)
}

function checkAbsolute(run: Run, node: FhirNode, url: string): void {
  if (/\s/.test(url)) {
    run.findings.report(EXTENSION_URL, node, { text: `The url of an extension must be an absolute URL, which ${quoted(url)} is not.` })
    return
  }
  if (url.includes('|')) {
    const isKnown = run.definitions.profile(url.split('|', 1)[0] ?? url) !== undefined
    const text = `The url of an extension must not include a version: ${quoted(url)}.`
    run.findings.report(EXTENSION_URL, node, { text, ...(!isKnown && { severity: 'warning' }) })
    if (!isKnown) run.findings.report(EXTENSION_UNKNOWN, node, { text: `The extension ${quoted(url)} could not be found.` })
    return
  }
  const profile = run.definitions.profile(url)
  const element = extensionElement(url)
  if (element !== undefined && !hasContexts(profile)) return checkOtherRelease(run, node, { url, element })
  if (profile !== undefined && profile !== PENDING && profile.type !== 'Extension') {
    const text = `The url of an extension must be that of the definition of one: ${quoted(url)} defines a ${profile.type}.`
    run.findings.report(EXTENSION_UNKNOWN, node, { text })
    return
  }
  if (profile !== undefined && profile !== PENDING) reportEmpty(run, node, profile)
  const severity = profile === undefined ? unknownSeverity(url, run.policy.extensionDomains) : undefined
  if (severity === undefined) return
  run.findings.report(EXTENSION_UNKNOWN, node, { text: `The extension ${quoted(url)} could not be found.`, severity })
}

/** A guide may define the extension itself, and its contexts. */
function hasContexts(profile: Profile | undefined | Pending): boolean {
  return profile === PENDING || (profile?.extension?.contexts.length ?? 0) > 0
}

/** Checks an extension for an element of another release: that release must have the element, and the extension must be on the type with that element. */
function checkOtherRelease(run: Run, node: FhirNode, { url, element }: { url: string; element: ExtensionElement }): void {
  const problem = elementProblem(run, element)
  if (problem !== undefined) {
    run.findings.report(EXTENSION_RELEASE, node, { text: `The extension ${quoted(url)} is not valid: ${problem}.` })
    return
  }
  if (isUnchanged(run, element)) {
    const text = `The extension ${quoted(url)} is not needed: R4 has ${element.path} itself, as FHIR ${element.release} has it.`
    run.findings.report(EXTENSION_RELEASE, node, { text, ...(!isEarlier(element.release) && { severity: 'warning' }) })
  }
  const { parent } = node
  if (parent !== undefined && isRepeated(run, node, { url, element, parent })) {
    const text = `The extension ${quoted(url)} is here more than once; FHIR ${element.release} has ${element.path} at most once.`
    run.findings.report(EXTENSION_RELEASE, node, { text, severity: 'warning' })
  }
  const isKnownType = run.model.type(element.type) !== undefined
  if (parent === undefined || !isKnownType || namesAround(run, parent).some((name) => isUpTo(element.path, name))) return
  run.findings.report(EXTENSION_CONTEXT, parent, {
    text: `The extension ${quoted(url)} is not allowed at this point; it is for ${element.path} of FHIR ${element.release}.`,
    severity: 'warning',
  })
}

/** True for the second of two extensions for an element that the other release has once. */
function isRepeated(
  { definitions }: Run,
  node: FhirNode,
  { url, element, parent }: { url: string; element: ExtensionElement; parent: FhirNode },
): boolean {
  const other = definitions.otherRelease(element.release)?.element(element.path)
  if (other === undefined || (other.max ?? '1') !== '1') return false
  const holder = isObject(parent.value) ? parent.value : parent.extra
  return node.index > objectsAt(holder, node.slot?.name ?? '').findIndex((one) => one['url'] === url)
}

/** HL7's lists of extensions for earlier releases leave out the elements that R4 has; the list for R5 has all. */
function isEarlier(release: string): boolean {
  return release < '4'
}

/**
 * Checks the url of an extension that is not absolute, which is right only for a part of a complex extension. Parts of an unknown extension are not
 * checked.
 */
function checkPart(run: Run, node: FhirNode, url: string): void {
  const isInner = node.parent?.type.name === 'Extension'
  const [outer] = isInner && node.parent !== undefined ? extensionProfile(run, node.parent) : []
  if (isInner && outer === undefined) return
  const parts = outer === undefined ? [] : partsOf(run, outer)
  if (outer === undefined || parts.length === 0) {
    run.findings.report(EXTENSION_URL, node, { text: `The extension url must be absolute, not ${quoted(url)}.` })
  } else if (!parts.includes(url)) {
    const text = `The extension ${quoted(outer.url)} does not define a sub-extension ${quoted(url)}; it defines ${parts.map(quoted).join(', ')}.`
    run.findings.report(EXTENSION_URL, node, { text, code: 'invalid' })
  }
}

/** The urls of the parts of a complex extension. */
function partsOf(run: Run, profile: Profile): readonly string[] {
  const slices = rootsOf(run, profile).flatMap(({ children }) => children.get('extension')?.slices ?? [])
  return slices.flatMap((slice) => extensionUrl(slice) ?? [])
}

/** The definition of an extension, as a list of at most one. Parts of a complex extension are defined within it, not separately. */
export function extensionProfile(run: Run, node: FhirNode): readonly Profile[] {
  const url = isObject(node.value) ? stringAt(node.value, 'url') : undefined
  if (url === undefined || url === '' || !url.includes(':')) return []
  const profile = run.definitions.profile(url.split('|', 1)[0] ?? url)
  return profile === undefined || profile === PENDING || profile.type !== 'Extension' ? [] : [profile]
}

/** Extensions that are not errors although their definition is not loaded. */
interface Exemption {
  readonly urls: RegExp
  /** `undefined` when they are not reported. */
  readonly severity: Finding['severity'] | undefined
}

/**
 * Extensions that need no definition. FHIR lets a resource have extensions that its reader does not know ("Extensions ... SHALL NOT cause an
 * application to fail", https://hl7.org/fhir/R4/extensibility.html), so it is HL7's validator that makes unknown ones errors; these rows are its
 * exceptions, and those that R4's own examples need. A host that wants them reported adds a rule on `Extension`.
 */
const EXEMPTIONS: readonly Exemption[] = [
  // Hosts for examples, and DICOM's: HL7's validator allows their extensions whether they are defined or not, and R4's examples use them.
  { urls: /^https?:\/\/(?:[a-z0-9.-]+\.)?(?:example\.org|acme\.com|nema\.org)(?:\/|$)/, severity: undefined },
  // Extensions that FHIR's publishing tools write. HL7's validator allows them. Their definitions are in a package that no other package depends on.
  { urls: /^https?:\/\/hl7\.org\/fhir\/tools\//, severity: undefined },
  // R4's own examples use extensions of US Core, whose definitions R4 does not include.
  { urls: /^http:\/\/hl7\.org\/fhir\/us\/core\//, severity: 'warning' },
]

/** The severity of an extension without a definition; `undefined` when it is not reported. */
function unknownSeverity(url: string, domains: readonly string[]): Finding['severity'] | undefined {
  if (domains.some((domain) => url.startsWith(domain))) return undefined
  const exemption = EXEMPTIONS.find(({ urls }) => urls.test(url))
  return exemption === undefined ? 'error' : exemption.severity
}

/** Numbers of releases and of their drafts. */
const RELEASES = /^(?:1\.[0-8]|3\.[0-6]|4\.[0-6]|5\.0|6\.0)$/

/** The problem with an element of another release, as the end of a sentence. */
function elementProblem({ model, definitions }: Run, { release, type, path }: ExtensionElement): string | undefined {
  if (!RELEASES.test(release)) return `there is no release ${release}`
  if (release === '4.0') return `FHIR ${release} is the release of the resource: use the element itself`
  const other = definitions.otherRelease(release)
  if (other !== undefined) return other.element(path) === undefined ? `FHIR ${release} has no element ${path}` : undefined
  const own = model.type(type)
  if (own === undefined) return isTypeOf(type) ? undefined : `no release has a type ${type}`
  const listed = OTHER_RELEASES[release]
  return listed === undefined || hasElement(model, path, listed.elements) ? undefined : `FHIR ${release} has no element ${path}`
}

function isTypeOf(type: string): boolean {
  return Object.values(OTHER_RELEASES).some(({ types }) => ` ${types} `.includes(` ${type} `))
}

/** Follows a path through the types of R4, to an element that only the other release has. */
function hasElement(model: TypeModel, path: string, listed: string): boolean {
  const [first = '', ...steps] = path.split('.')
  let type = first
  for (const step of steps) {
    const name = step.replace('[x]', '')
    const here = model.type(type)
    const elements = here === undefined ? undefined : (here.elements.get(name) ?? here.members.get(name))
    if (elements === undefined) return here === undefined || membersAt(type, listed).some((one) => one === name || isChoiceOf(one, name))
    const slot = 'length' in elements ? elements[0] : elements
    type = slot?.type ?? ''
  }
  return true
}

function membersAt(type: string, listed: string): readonly string[] {
  const found = listed.split(' ').find((row) => row.startsWith(`${type}:`))
  return found === undefined ? [] : found.slice(type.length + 1).split(',')
}

function isChoiceOf(name: string, stem: string): boolean {
  return name.startsWith(stem) && /^[A-Z]/.test(name.slice(stem.length))
}

/**
 * Whether R4 has the element with all its types, so that the value belongs there. An extension is right for codes of another value set and for references to
 * other types.
 */
function isUnchanged({ model, definitions }: Run, { release, path }: ExtensionElement): boolean {
  const element = definitions.otherRelease(release)?.element(path)
  const slots = slotsAt(model, path)
  if (element?.types === undefined || element.codes !== undefined || slots.length === 0) return false
  return (
    isRepeatable(element) === slots.some(({ isCollection }) => isCollection) &&
    element.types.every((type) => slots.some((slot) => slot.type === type))
  )
}

function isRepeatable({ max = '1' }: OtherElement): boolean {
  return max !== '1'
}

function slotsAt(model: TypeModel, path: string): readonly ElementSlot[] {
  const [first = '', ...steps] = path.replaceAll('[x]', '').split('.')
  let [type, slots]: [string, readonly ElementSlot[]] = [first, []]
  for (const step of steps) {
    slots = model.type(type)?.elements.get(step) ?? []
    type = slots[0]?.type ?? ''
  }
  return slots
}

/** True if an extension for the element at `path` can be on the element `name`: that element, or one that contains it. */
function isUpTo(path: string, name: string): boolean {
  return path === name || path.startsWith(`${name}.`)
}
