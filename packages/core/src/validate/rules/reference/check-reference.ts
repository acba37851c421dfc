import { quoted } from '../../../errors/index.js'
import { type FhirNode, isSubtype, PENDING, type TypeDefinition } from '../../../fhirpath/index.js'
import { isObject, stringAt, type JsonObject } from '../../../json/index.js'
import { canonicalOf } from '../../../content/index.js'
import { type ElementRule, TYPE_URL } from '../../run/element-rule.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { Run, NodeRule } from '../../run/run.js'
import { rootsOf } from '../../run/profile-roots.js'
import { conformsToRules } from '../profile/conforms.js'
import { containedOf, referenceOf, resolveLocally } from './resolve-locally.js'

/** A reference that is malformed, or leads to nothing or to a type that is not allowed. */
export const REFERENCE: FindingDefinition = defineFinding(
  'reference',
  'error',
  'structure',
  'Refer to an existing resource of an allowed type.',
)

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
export function typeIn(run: Run, reference: string): string | undefined {
  return typeAt(run, reference, ADDRESS)
}

function typeAt(run: Run, reference: string, form: RegExp): string | undefined {
  const name = form.exec(reference)?.[1] ?? ''
  return run.model.type(name)?.kind === 'resource' ? name : undefined
}

/** The target of a reference: the type that the reference names, and the resource if it is available. */
export interface Target {
  readonly type: TypeDefinition
  readonly resource?: FhirNode
  /** `Type/id` of a stored resource that is not part of the validated one. */
  readonly address?: string
}

/** Canonicals of the profiles of which the target of a Reference must conform to one; empty when any target is allowed. */
export function targetProfilesOf({ types }: ElementRule): readonly string[] {
  return types.find(({ code }) => code === 'Reference')?.targetProfiles ?? []
}

/** Whether a target conforms to a profile; true when the profile is unknown or pending. */
export function isAllowed(run: Run, { type, resource, address }: Target, canonical: string): boolean {
  const own = ownType(run, canonical)
  if (own !== undefined) return isSubtype(run.model, type, own)
  const profile = run.definitions.profile(canonical)
  if (profile === undefined || profile === PENDING) return true
  if (!isSubtype(run.model, type, profile.type)) return false
  if (profile.isBase || resource === undefined) return true
  // `noteFaults` reports other errors of the target.
  const key = address === undefined ? canonical : `${canonical} ${address}`
  return conformsToRules(run, resource, { rules: rootsOf(run, profile), key })
}

/** True for the canonical of an unknown profile. */
export function isUnknown(run: Run, canonical: string): boolean {
  return ownType(run, canonical) === undefined && run.definitions.profile(canonical) === undefined
}

/** Formats canonicals for messages. */
export function namesOf(canonicals: readonly string[]): string {
  return canonicals.map((canonical) => canonical.replace(TYPE_URL, '')).join(', ')
}

/** True for the canonical of one of FHIR's own types. */
export function isOwnType(run: Run, canonical: string): boolean {
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
