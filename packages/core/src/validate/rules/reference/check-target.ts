import { quoted } from '../../../errors/index.js'
import { pathOf, PENDING, rootNode, type FhirNode, type TypeDefinition } from '../../../fhirpath/index.js'
import { isObject, objectAt, objectsAt, stringAt } from '../../../json/index.js'
import type { ElementRule } from '../../run/element-rule.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { emptyIndexes } from '../../run/indexes.js'
import type { DemandRule, MetTest, Run } from '../../run/run.js'
import { isAllowed, isOwnType, isUnknown, namesOf, targetProfilesOf, type Target, REFERENCE, typeIn } from './check-reference.js'
import { containerOf, entryAround, referenceOf, resolveLocally } from './resolve-locally.js'

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
    text: `The target of the reference ${quoted(reference)} is of type ${target.type.name}, which is not a valid target; valid targets: ${namesOf(canonicals)}.`,
    ...own,
  })
  return false
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
