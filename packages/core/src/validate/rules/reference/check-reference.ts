import { canonicalOf } from '../../../content/index.js'
import { quoted } from '../../../errors/index.js'
import { type FhirNode, isSubtype, pathOf, PENDING, rootNode, type TypeDefinition } from '../../../fhirpath/index.js'
import { isObject, type JsonObject, objectAt, objectsAt, stringAt } from '../../../json/index.js'
import { type ElementRule, TYPE_URL } from '../../run/element-rule.js'
import { defineFinding, type Finding, type FindingDefinition } from '../../run/finding.js'
import { emptyIndexes } from '../../run/indexes.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import { differenceFrom, rootsOf } from '../profile/conforms.js'
import type { DemandRule, MetTest, NodeRule, Run } from '../../run/run.js'
import { containedOf, containerOf, entryAround, referenceOf, resolveLocally } from './resolve-locally.js'

/** A reference that is malformed, or leads to nothing or to a type that is not allowed. */
const REFERENCE: FindingDefinition = defineFinding('reference', 'error', 'structure', 'Refer to an existing resource of an allowed type.')

/** A conditional reference: a search that finds one resource. */
const CONDITIONAL = /^[A-Z][A-Za-z]{0,63}\?/
const QUERY = /^[_a-zA-Z][_a-zA-Z0-9]*=[^=&]*$/

/** The form of References. */
export const referenceRule: NodeRule = {
  on: ['Reference'],
  finds: [REFERENCE],
  when: () => (value, run) => isObject(value) && !isUsual(run, value),
  check: checkReference,
}

/** True for a Reference without anything to check: it states no type and is not to a contained resource, or it has only a display. */
function isUsual({ policy }: Run, value: JsonObject): boolean {
  const reference = stringAt(value, 'reference')
  if (reference === undefined || reference === '') return stringAt(value, 'display') !== undefined
  return !policy.assumeValidRestReferences && !Object.hasOwn(value, 'type') && !/[\s?]|^#/.test(reference)
}

/** Checks the form of a Reference, the existence of a contained resource that it refers to, and the type that it states. */
function checkReference(run: Run, node: FhirNode, rules: readonly ElementRule[]): void {
  const reference = referenceOf(node)
  if (reference === undefined || reference === '') return checkUnresolvable(run, node)
  checkForm(run, node, reference)
  checkStatedType(run, node, { reference, rules })
}

function checkForm(run: Run, node: FhirNode, reference: string): void {
  if (/\s/.test(reference)) {
    run.findings.report(REFERENCE, node, { text: `The reference ${quoted(reference)} must not contain white space.`, code: 'invalid' })
    return
  }
  if (
    CONDITIONAL.test(reference) &&
    !reference
      .slice(reference.indexOf('?') + 1)
      .split('&')
      // An `&` after the last parameter is allowed.
      .every((part, index, parts) => QUERY.test(part) || (part === '' && index > 0 && index === parts.length - 1))
  )
    run.findings.report(REFERENCE, node, {
      text: `The conditional reference ${quoted(reference)} is not a valid search.`,
      code: 'invalid',
    })
  if (run.policy.assumeValidRestReferences && isSuspicious(run, reference))
    run.findings.report(REFERENCE, node, {
      text: `The syntax of the reference ${quoted(reference)} looks incorrect, and it should be checked.`,
      severity: 'warning',
    })
  if (!reference.startsWith('#') || containedOf(run, node, reference.slice(1)) !== undefined) return
  const why = reference === '#' ? 'only a contained resource has a container' : 'there is no contained resource with this id'
  run.findings.report(REFERENCE, node, { text: `Unable to resolve the reference ${quoted(reference)}: ${why}.` })
}

/** True for a relative reference that is not a type with an id, unlike those of a RESTful server. */
function isSuspicious(run: Run, reference: string): boolean {
  if (/^#|^[a-z][a-z0-9+.-]{0,63}:/i.test(reference) || CONDITIONAL.test(reference)) return false
  return !/^[A-Z][A-Za-z]{0,63}\/[^/]+(?:\/_history\/[^/]+)?$/.test(reference) || typeIn(run, reference) === undefined
}

/** Reports a Reference without `reference` and identifier that has no display for people either. */
function checkUnresolvable(run: Run, node: FhirNode): void {
  const [identifier] = childrenOf(run, node, 'identifier')
  const isIdentified = identifier !== undefined && (textOf(identifier, 'system') ?? textOf(identifier, 'value')) !== undefined
  if (isIdentified || textOf(node, 'display') !== undefined) return
  const text = 'A Reference without an actual reference or identifier should have a display.'
  run.findings.report(REFERENCE, node, { text, severity: 'warning' })
}

/** Checks the type that a Reference states: it must be the type of the target, and be allowed. A URL is the type of a logical model, not of a resource. */
function checkStatedType(run: Run, node: FhirNode, { reference, rules }: { reference: string; rules: readonly ElementRule[] }): void {
  const stated = textOf(node, 'type')
  const say = (text: string): void => run.findings.report(REFERENCE, node, { text })
  if (stated === undefined || stated === '') return
  if (stated.includes(':')) return say(`The type ${quoted(stated)} of the reference must be the name of a type of resource, not a URL.`)
  const type = resolveLocally(run, node, reference)?.type.name ?? typeAt(run, reference, NAMED)
  if (type !== undefined && stated !== type)
    say(`The type ${quoted(stated)} of the reference does not match the type ${type} of the target.`)
  const forbidding = rules.map(targetProfilesOf).find((canonicals) => canonicals.length > 0 && !allows(run, canonicals, stated))
  if (forbidding !== undefined)
    say(`The type ${quoted(stated)} of the reference is not a valid target; valid targets: ${namesOf(forbidding)}.`)
}

function allows(run: Run, canonicals: readonly string[], stated: string): boolean {
  const type = run.model.type(stated)
  return type !== undefined && canonicals.some((canonical) => isAllowed(run, { type }, canonical))
}

const ADDRESS = /(?:^|\/)([A-Z][A-Za-z]{0,63})\/[A-Za-z0-9\-.]{1,64}(?:\/_history\/[A-Za-z0-9\-.]{1,64})?$/

/** An address whose type is well-formed; its id need not be. */
const NAMED = /(?:^|\/)([A-Z][A-Za-z]{0,63})\/[^/\s]+(?:\/_history\/[^/\s]+)?$/

/** The type of resource that the address ends with. */
function typeIn(run: Run, reference: string): string | undefined {
  return typeAt(run, reference, ADDRESS)
}

function typeAt(run: Run, reference: string, form: RegExp): string | undefined {
  const name = form.exec(reference)?.[1] ?? ''
  return run.model.type(name)?.kind === 'resource' ? name : undefined
}

/** The target of a reference: the type that the reference names, and the resource if it is available. */
interface Target {
  readonly type: TypeDefinition
  readonly resource?: FhirNode
  /** `Type/id` of a stored resource that is not part of the validated one. */
  readonly address?: string
}

/** Canonicals of the profiles of which the target of a Reference must conform to one; empty when any target is allowed. */
function targetProfilesOf({ types }: ElementRule): readonly string[] {
  return types.find(({ code }) => code === 'Reference')?.targetProfiles ?? []
}

/** Whether a target conforms to a profile; true when the profile is unknown or pending. */
function isAllowed(run: Run, target: Target, canonical: string): boolean {
  const { type } = target
  const own = ownType(run, canonical)
  if (own !== undefined) return isSubtype(run.model, type, own)
  const profile = run.definitions.profile(canonical)
  if (profile === undefined || profile === PENDING) return true
  if (!isSubtype(run.model, type, profile.type)) return false
  return profile.isBase || differenceOf(run, target, canonical) === undefined
}

/** The first difference of a target from a profile; `undefined` if one of them is not known. `noteFaults` reports other errors of the target. */
function differenceOf(run: Run, { resource, address }: Target, canonical: string): Finding | undefined {
  const profile = run.definitions.profile(canonical)
  if (resource === undefined || profile === undefined || profile === PENDING) return undefined
  const key = address === undefined ? canonical : `${canonical} ${address}`
  return differenceFrom(run, resource, { rules: rootsOf(run, profile), key })
}

/** True for the canonical of an unknown profile. */
function isUnknown(run: Run, canonical: string): boolean {
  return ownType(run, canonical) === undefined && run.definitions.profile(canonical) === undefined
}

/** Formats canonicals for messages. */
function namesOf(canonicals: readonly string[]): string {
  return canonicals.map((canonical) => canonical.replace(TYPE_URL, '')).join(', ')
}

/** True for the canonical of one of FHIR's own types. */
function isOwnType(run: Run, canonical: string): boolean {
  return ownType(run, canonical) !== undefined
}

const RELEASE = '4.0.1'

/**
 * The type of FHIR's own with this canonical, unless its version is that of another release. Only the canonical is examined, because each definition to
 * fetch would take another walk.
 */
function ownType({ model }: Run, canonical: string): string | undefined {
  const { url, version } = canonicalOf(canonical)
  if (version !== undefined && !`${RELEASE}.`.startsWith(`${version}.`)) return undefined
  const name = url.startsWith(TYPE_URL) ? url.slice(TYPE_URL.length) : ''
  return model.type(name) === undefined ? undefined : name
}

const REFERENCE_TARGET: FindingDefinition = defineFinding(
  'reference-target',
  'information',
  'structure',
  'Fix the errors of the referenced resource.',
)

/** Targets of references. */
export const targetRule: DemandRule = {
  name: 'target',
  finds: [REFERENCE, REFERENCE_TARGET],
  appliesTo: ({ types }) =>
    types.some(({ code, targetProfiles, aggregation }) => code === 'Reference' && targetProfiles.length + aggregation.length > 0),
  metTest: surelyAllowed,
  checkBy: (rules) => (run, node) => checkTarget(run, node, rules),
}

/** Creates the test whether a Reference certainly has nothing to report: its target is neither validated nor read, and it names an allowed type or none. */
function surelyAllowed(rule: ElementRule, { name }: TypeDefinition): MetTest | undefined {
  if (name !== 'Reference') return undefined
  const canonicals = targetProfilesOf(rule)
  const isAnywhere = aggregationOf(rule).length === 0
  const known = new Map<TypeDefinition, boolean>()
  // For FHIR's own types, the answer does not depend on what is loaded.
  const isTypeAllowed = (run: Run, type: TypeDefinition): boolean => {
    const found = known.get(type)
    if (found !== undefined) return found
    const isAllowedType = canonicals.some((canonical) => isAllowed(run, { type }, canonical))
    if (canonicals.every((canonical) => isOwnType(run, canonical))) known.set(type, isAllowedType)
    return isAllowedType
  }
  return (value, run) => {
    const reference = isObject(value) ? stringAt(value, 'reference') : undefined
    if (reference === undefined) return true
    if (run.policy.validateReferences !== 'off' || !isAnywhere) return false
    if (reference.startsWith('#') || resolveLocally(run, run.quickCheck.within, reference) !== undefined) return false
    const target = targetOf(run, reference, undefined)
    return target === undefined || canonicals.length === 0 || isTypeAllowed(run, target.type)
  }
}

/**
 * Checks that the target of a Reference is where the rules require it, is of a type that they allow and, if it is available, conforms to a profile that
 * they allow and has no errors of its own.
 */
function checkTarget(run: Run, node: FhirNode, rules: readonly ElementRule[]): void {
  const reference = node.type.name === 'Reference' ? referenceOf(node) : undefined
  if (reference === undefined) return
  const resource = resolveLocally(run, node, reference)
  checkAggregation(run, node, { rules, reference, resource })
  const target = targetOf(run, reference, resource)
  if (target === undefined) return
  const narrow = rules.filter((rule) => targetProfilesOf(rule).length > 0)
  if (resource === undefined) checkStored(run, node, { reference, canonicals: narrow.map(targetProfilesOf) })
  if (!narrow.every((rule) => checkProfiles(run, node, { rule, reference, target }))) return
  if (resource === undefined || narrow.every((rule) => targetProfilesOf(rule).includes(ANY))) return
  const profiled = narrow.find(
    (rule) => !targetProfilesOf(rule).some((canonical) => isOwnType(run, canonical) && isAllowed(run, target, canonical)),
  )
  noteFaults(run, node, { resource, reference, canonicals: profiled && targetProfilesOf(profiled) })
}

interface Targeted {
  readonly rule: ElementRule
  readonly reference: string
  readonly target: Target
}

/** False when the target conforms to none of the profiles that a rule allows. */
function checkProfiles(run: Run, node: FhirNode, { rule, reference, target }: Targeted): boolean {
  const canonicals = targetProfilesOf(rule)
  const own = rule.isBase ? {} : { profile: rule.profile }
  const unknown = target.resource === undefined ? undefined : canonicals.find((canonical) => isUnknown(run, canonical))
  if (unknown !== undefined)
    run.findings.report(REFERENCE, node, {
      text: `The profile ${quoted(unknown)}, which the target of the reference may have, could not be found.`,
      ...own,
    })
  if (rule.isBase && canonicals.some((canonical) => isAllowed(run, target, canonical))) return true
  const fitting = canonicals.filter((canonical) => isAllowed(run, target, canonical))
  if (fitting.length > 1 && target.resource !== undefined && unknown === undefined)
    run.findings.report(REFERENCE, node, {
      text: `The target of the reference ${quoted(reference)} matches several profiles: ${namesOf(fitting)}.`,
      severity: 'warning',
      ...own,
    })
  if (fitting.length > 0) return true
  run.findings.report(REFERENCE, node, {
    text:
      whyNot(run, target, { reference, canonicals }) ??
      `The target of the reference ${quoted(reference)} is of type ${target.type.name}, which is not a valid target; valid targets: ${namesOf(canonicals)}.`,
    ...own,
  })
  return false
}

/** Says why a target of an allowed type conforms to none of the profiles. */
function whyNot(
  run: Run,
  target: Target,
  { reference, canonicals }: { readonly reference: string; readonly canonicals: readonly string[] },
): string | undefined {
  const nearest = canonicals.find((canonical) => isAllowed(run, { type: target.type }, canonical))
  const difference = nearest === undefined ? undefined : differenceOf(run, target, nearest)
  if (nearest === undefined || difference === undefined) return undefined
  const { expression = '', text } = difference
  return `Unable to find a profile match for ${quoted(reference)} among choices: ${namesOf(canonicals)}. By ${namesOf([nearest])}, at ${expression}: ${text}`
}

const ANY = 'http://hl7.org/fhir/StructureDefinition/Resource'

interface FaultyTarget {
  readonly resource: FhirNode
  readonly reference: string
  /** Profiles of which the resource must conform to one; absent when any resource of its type is allowed. */
  readonly canonicals: readonly string[] | undefined
}

/** Reports errors of the target at the end, because they may come after the reference. A resource with errors conforms to no profile. */
function noteFaults(run: Run, node: FhirNode, { resource, reference, canonicals }: FaultyTarget): void {
  if (!run.checksTypes || resource === containerOf(node)) return
  run.scheduler.atEnd(() => {
    if (!run.findings.hasErrorIn(resource)) return
    if (canonicals !== undefined)
      run.findings.report(REFERENCE, node, {
        text: `Unable to find a profile match for ${quoted(reference)} among choices: ${canonicals.join(', ')}.`,
      })
    run.findings.report(REFERENCE_TARGET, node, {
      text: `The referenced ${resource.type.name} at ${pathOf(resource)} has errors.`,
    })
  })
}

/** A relative reference, which begins with type and id. */
const RELATIVE = /^([A-Z][A-Za-z]{0,63})\/([A-Za-z0-9\-.]{1,64})(?:\/_history\/[A-Za-z0-9\-.]{1,64})?(?:#.*)?$/

function targetOf(run: Run, reference: string, resource: FhirNode | undefined): Target | undefined {
  if (resource !== undefined) return { type: resource.type, resource }
  const isAssumed = run.policy.assumeValidRestReferences && /^https?:/.test(reference)
  const type = run.model.type((isAssumed ? typeIn(run, reference) : RELATIVE.exec(reference)?.[1]) ?? '')
  return type?.kind === 'resource' ? { type } : undefined
}

/**
 * Checks that the target of a Reference is where the rules require it: contained, in the Bundle, or elsewhere.
 *
 * @see https://hl7.org/fhir/R4/valueset-resource-aggregation-mode.html
 */
function checkAggregation(run: Run, node: FhirNode, { rules, reference, resource }: Referred): void {
  const [mode = '', other = mode] = modesOf(reference, resource)
  const code = mode === 'referenced' ? 'required' : 'structure'
  if (!run.policy.enforceAggregationOutsideBundles && entryAround(node) === undefined) return
  for (const rule of rules) {
    const aggregation = aggregationOf(rule)
    if (aggregation.length === 0 || aggregation.includes(mode) || aggregation.includes(other)) continue
    const wanted = aggregation.map((one) => PLACES.get(one) ?? one).join(' or ')
    const text = `The target of ${quoted(reference)} is ${PLACES.get(mode)}, but must be ${wanted}.`
    run.findings.report(REFERENCE, node, { text, code, profile: rule.profile })
  }
}

/** A Reference with its target, if that is available. */
interface Referred {
  readonly rules: readonly ElementRule[]
  readonly reference: string
  readonly resource: FhirNode | undefined
}

/** The aggregation modes of a reference. An entry of the Bundle counts as being elsewhere, too. */
function modesOf(reference: string, resource: FhirNode | undefined): readonly string[] {
  if (reference.startsWith('#')) return ['contained']
  return resource === undefined ? ['referenced'] : ['bundled', 'referenced']
}

function aggregationOf({ types }: ElementRule): readonly string[] {
  return types.find(({ code }) => code === 'Reference')?.aggregation ?? []
}

const PLACES: ReadonlyMap<string, string> = new Map([
  ['contained', 'contained'],
  ['bundled', 'in the Bundle'],
  ['referenced', 'elsewhere'],
])

/**
 * Checks that the resource that a relative reference names is stored and, if the caller requests it, that it conforms to one of the profiles that the
 * element allows. References in the stored resource are not followed.
 *
 * @param canonicals For each rule on the element, the profiles of which the resource must conform to one.
 */
function checkStored(
  run: Run,
  node: FhirNode,
  { reference, canonicals }: { reference: string; canonicals: readonly (readonly string[])[] },
): void {
  if (run.policy.validateReferences === 'off' || !run.checksTypes) return
  const [, type = '', id = ''] = RELATIVE.exec(reference) ?? []
  if (run.model.type(type)?.kind !== 'resource') return
  if (isBeside(run, type, id)) return
  const stored = run.definitions.stored(type, id)
  if (stored === PENDING) return
  if (stored === undefined) {
    run.findings.report(REFERENCE, node, { text: `Unable to resolve the reference ${quoted(reference)}: no such resource is stored.` })
    return
  }
  if (run.policy.validateReferences === 'exists' || !isObject(stored.value) || stringAt(stored.value, 'resourceType') !== type) return
  const resource = rootNode(run.model, stored.value)
  const policy = { ...run.policy, validateReferences: 'off' as const }
  const outside: Run = { ...run, root: resource, policy, numberText: stored.numberText, indexes: emptyIndexes() }
  const target: Target = { type: resource.type, resource, address: `${type}/${id}` }
  const unmet = canonicals.find((allowed) => !allowed.some((canonical) => isAllowed(outside, target, canonical)))
  if (unmet === undefined) return
  run.findings.report(REFERENCE, node, {
    text: `The resource that is stored as ${quoted(reference)} does not conform to any profile that is allowed here: ${unmet.join(', ')}.`,
  })
}

/** True for a resource in another parameter of the same Parameters. */
function isBeside({ root }: Run, type: string, id: string): boolean {
  if (root.type.name !== 'Parameters' || !isObject(root.value)) return false
  return objectsAt(root.value, 'parameter').some((parameter) => {
    const resource = objectAt(parameter, 'resource')
    return stringAt(resource, 'resourceType') === type && stringAt(resource, 'id') === id
  })
}
