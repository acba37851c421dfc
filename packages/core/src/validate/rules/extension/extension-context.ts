import { compareVersions } from '../../../content/index.js'
import { extensionElement } from '../../../cross-version/index.js'
import { OperationError, quoted } from '../../../errors/index.js'
import { isNode, pathOf, PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, stringAt } from '../../../json/index.js'
import { TYPE_URL } from '../../../text/index.js'
import { corrected } from '../../profile/corrections.js'
import type { ExtensionContext, ExtensionRule, Profile } from '../../run/element-rule.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { isCanonicalResource } from '../../run/nodes.js'
import { resourceOf, type Run, type NodeRule } from '../../run/run.js'
import { conforms, rootsOf } from '../profile/conforms.js'
import { expressionContext } from '../constraint/expression-context.js'

/** An extension where its definition does not allow it. */
export const EXTENSION_CONTEXT: FindingDefinition = defineFinding(
  'extension-context',
  'error',
  'structure',
  'Move the extension to an element that its definition allows.',
)
const EXTENSION_MODIFIER: FindingDefinition = defineFinding(
  'extension-modifier',
  'error',
  'structure',
  'Use modifierExtension for extensions that change the meaning, and extension for all others.',
)
const EXTENSION_OUTDATED: FindingDefinition = defineFinding(
  'extension-outdated',
  'information',
  'business-rule',
  'Use the replacement that the definition of the extension names.',
)

/** Extensions and the places where they are used. */
export const extensionContextRule: NodeRule = {
  on: ['Extension'],
  finds: [EXTENSION_CONTEXT, EXTENSION_MODIFIER, EXTENSION_OUTDATED],
  check: checkExtensionContext,
}

/** Checks that an extension is used where its definition allows, and is a modifier only where it may be one. */
function checkExtensionContext(run: Run, node: FhirNode): void {
  const url = isObject(node.value) ? stringAt(node.value, 'url') : undefined
  const profile = url?.includes(':') === true ? run.definitions.profile(url.split('|', 1)[0] ?? url) : undefined
  if (profile === undefined || profile === PENDING || profile.extension === undefined) return
  noteOutdated(run, node, { profile, rule: profile.extension })
  checkReleases(run, node, { profile, rule: profile.extension })
  checkModifier(run, node, { profile, rule: profile.extension })
  checkContext(run, node, { profile, rule: profile.extension })
  checkInvariants(run, node, { profile, rule: profile.extension })
}

interface Definition {
  readonly profile: Profile
  readonly rule: ExtensionRule
}

/** Reports an outdated extension once, because it may occur in hundreds of places. */
function noteOutdated(run: Run, node: FhirNode, { profile, rule: { outdated } }: Definition): void {
  if (outdated === undefined || run.seen.outdated?.has(profile.canonical) === true) return
  ;(run.seen.outdated ??= new Set()).add(profile.canonical)
  const text = `The extension ${profile.canonical} should not be used: ${quoted(outdated)}.`
  run.findings.report(EXTENSION_OUTDATED, node, { text, profile: profile.canonical })
}

/** R4, in the form that definitions use. */
const RELEASE = '4.0'

function checkReleases(run: Run, { parent }: FhirNode, { profile, rule: { releases } }: Definition): void {
  if (parent === undefined || releases === undefined) return
  const say = (text: string): void =>
    run.findings.report(EXTENSION_CONTEXT, parent, {
      text: `The extension ${quoted(profile.url)} can be used ${text}, and this is FHIR ${RELEASE}.`,
      code: 'business-rule',
      profile: profile.canonical,
    })
  if (isEarlier(RELEASE, releases.start)) say(`from FHIR ${releases.start} on`)
  if (isEarlier(releases.end, RELEASE)) say(`up to FHIR ${releases.end}`)
}

function isEarlier(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && compareVersions(one.split('.', 2).join('.'), other.split('.', 2).join('.')) < 0
}

function holdsFor({ releases }: ExtensionContext): boolean {
  return !isEarlier(RELEASE, releases?.start) && !isEarlier(releases?.end, RELEASE)
}

function checkModifier(run: Run, node: FhirNode, { profile, rule }: Definition): void {
  const isModifier = node.slot?.name === 'modifierExtension'
  if (rule.isModifier === isModifier) return
  const text = isModifier
    ? `${quoted(profile.url)} is not a modifier extension, so it must not be used as one.`
    : `${quoted(profile.url)} is a modifier extension, so it must be used in modifierExtension.`
  run.findings.report(EXTENSION_MODIFIER, node, { text, profile: profile.canonical })
}

function reportUnknownProfile(run: Run, parent: FhirNode, { profile, context }: { profile: Profile; context: ExtensionContext }): void {
  const named = context.type === 'element' ? profileContext(context.expression) : undefined
  if (named === undefined || !isProfileUnknown(run, named)) return
  run.findings.report(EXTENSION_CONTEXT, parent, {
    text: `The extension ${quoted(profile.url)} has the context ${quoted(context.expression)}, but the profile could not be found.`,
    code: 'unknown',
    profile: profile.canonical,
  })
}

/** Checks the contexts of an extension. `checkOtherRelease` decides where an extension for an element of another release may be used. */
function checkContext(run: Run, { parent }: FhirNode, { profile, rule: { contexts } }: Definition): void {
  if (parent === undefined) return
  for (const context of contexts) reportUnknownProfile(run, parent, { profile, context })
  if (contexts.length === 0 && extensionElement(profile.url) !== undefined) return
  if (contexts.some((context) => holdsFor(context) && isIn(run, parent, context))) return
  if (FURTHER_PLACES.get(profile.url)?.some((path) => isElement(run, parent, path)) === true) return
  const allowed = contexts.map(({ expression }) => expression).join(', ')
  run.findings.report(EXTENSION_CONTEXT, parent, {
    text: `The extension ${quoted(profile.url)} is not allowed at this point; allowed contexts: ${allowed === '' ? 'none' : allowed}.`,
    profile: profile.canonical,
  })
}

function checkInvariants(run: Run, { parent }: FhirNode, { profile, rule: { invariants } }: Definition): void {
  if (parent === undefined) return
  for (const expression of invariants) {
    const holds = evaluated(() => run.definitions.expression(corrected(expression)).test(expressionContext(run, parent), parent))
    if (holds === true || holds === PENDING) continue
    run.findings.report(EXTENSION_CONTEXT, parent, {
      text: `The extension ${quoted(profile.url)} is not allowed at this point: the context invariant ${quoted(expression)} is not met.`,
      profile: profile.canonical,
    })
  }
}

/** Places of what a CapabilityStatement says, to which later definitions of these extensions and many guides attach expectations. */
const CAPABILITIES: readonly string[] = [
  'CapabilityStatement',
  ...['format', 'patchFormat', 'imports', 'implementationGuide', 'rest', 'rest.operation', 'rest.resource'].map(inCapabilities),
  ...['rest.security', 'rest.security.cors', 'rest.security.service'].map(inCapabilities),
  ...['conditionalCreate', 'conditionalRead', 'conditionalUpdate', 'conditionalDelete', 'operation', 'supportedProfile', 'versioning']
    .concat(['readHistory', 'updateCreate', 'referencePolicy', 'searchInclude', 'searchRevInclude'])
    .map((name) => inCapabilities(`rest.resource.${name}`)),
]

function inCapabilities(path: string): string {
  return `CapabilityStatement.${path}`
}

/** Places where R4 itself or its guides use extensions, beyond their published contexts. */
const FURTHER_PLACES: ReadonlyMap<string, readonly string[]> = new Map([
  [`${TYPE_URL}capabilitystatement-expectation`, CAPABILITIES],
  [`${TYPE_URL}capabilitystatement-prohibited`, CAPABILITIES],
  [`${TYPE_URL}structuredefinition-fhir-type`, ['ElementDefinition.type']],
  [`${TYPE_URL}regex`, ['ElementDefinition.type']],
  [
    `${TYPE_URL}structuredefinition-normative-version`,
    ['CodeSystem', 'ConceptMap', 'ElementDefinition', 'OperationDefinition', 'SearchParameter', 'ValueSet'],
  ],
])

function isIn(run: Run, parent: FhirNode, { type, expression }: ExtensionContext): boolean {
  if (type === 'element') return isElement(run, parent, expression)
  if (type === 'extension') return isWithin(parent, expression) || (parent.parent !== undefined && isWithin(parent.parent, expression))
  const found = evaluated(() => run.definitions.expression(expression).evaluate(expressionContext(run, parent), resourceOf(parent)))
  return found === PENDING || found?.some((item) => isNode(item) && pathOf(item) === pathOf(parent)) === true
}

/**
 * The result of an expression in a definition. `undefined` if it cannot be evaluated: then it allows nothing, as an invariant that cannot be evaluated is
 * not met.
 */
function evaluated<T>(evaluate: () => T): T | undefined {
  try {
    return evaluate()
  } catch (error) {
    if (error instanceof OperationError) return undefined
    throw error
  }
}

/** True for an extension with the url. A context of type `extension` also covers the value of that extension. */
function isWithin({ type, value }: FhirNode, url: string): boolean {
  return type.name === 'Extension' && isObject(value) && value['url'] === url
}

/** Whether an element context matches: it is a type, or a path from a type. A context for a type also covers types that specialise it. */
function isElement(run: Run, parent: FhirNode, expression: string): boolean {
  const context = profileContext(expression)
  if (context !== undefined) return isInProfile(run, parent, { context, names: namesAround(run, parent) })
  const path = expression.replace(/\[x\]/g, '')
  if (path === 'CanonicalResource' || path === 'MetadataResource') return isCanonicalResource(parent)
  if (path === 'Element' || typeNames(run, parent.type.name).includes(path)) return true
  // Paths are checked last, because they are rarer and take longer.
  return path.includes('.') && namesAround(run, parent).includes(path)
}

/** The names by which contexts can mean an element: its type, the types that this derives from, and its path from each type around it. */
export function namesAround(run: Run, node: FhirNode): readonly string[] {
  const names = new Set<string>(typeNames(run, node.type.name))
  const steps: string[] = []
  for (let current = node; current.parent !== undefined && current.slot !== undefined; current = current.parent) {
    steps.unshift(current.slot.name)
    for (const type of typeNames(run, current.parent.type.name)) {
      names.add([type, ...steps].join('.'))
      if (current.slot.isChoice) names.add([type, current.slot.jsonName, ...steps.slice(1)].join('.'))
    }
  }
  return [...names]
}

/** A type and all types that it specialises. */
function typeNames(run: Run, name: string): readonly string[] {
  const names: string[] = []
  for (let type = run.model.type(name); type !== undefined; type = type.base === undefined ? undefined : run.model.type(type.base))
    names.push(type.name)
  return names
}

/**
 * A context that is an element of a profile: the canonical of the profile, `#`, and the id of the element.
 *
 * @see https://hl7.org/fhir/R4/defining-extensions.html#context
 */
interface ProfileContext {
  readonly canonical: string
  readonly element: string
}

/** Reads the expression of a context; `undefined` for one that is not about a profile. */
export function profileContext(expression: string): ProfileContext | undefined {
  const end = expression.indexOf('#')
  return end > 0 && expression.includes(':') ? { canonical: expression.slice(0, end), element: expression.slice(end + 1) } : undefined
}

/** True if the profile is not known. */
function isProfileUnknown(run: Run, { canonical }: ProfileContext): boolean {
  return run.definitions.profile(canonical) === undefined
}

/**
 * Whether a node is the element of the profile, and conforms to the profile's requirements on it.
 *
 * @param names The names by which contexts can mean the node.
 */
function isInProfile(run: Run, node: FhirNode, { context, names }: { context: ProfileContext; names: readonly string[] }): boolean {
  const profile = run.definitions.profile(context.canonical)
  if (profile === PENDING) return true
  const rule = profile?.elements.get(context.element)
  if (profile === undefined || rule === undefined || !names.includes(rule.path.replace('[x]', ''))) return false
  const rules = rule.path.includes('.') ? [rule] : rootsOf(run, profile)
  return conforms(run, node, { rules, key: `${context.canonical}#${context.element}` })
}
