import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, stringAt, shownJson } from '../../../json/index.js'
import { extensionValues } from '../../profile/value-rule.js'
import { TYPE_URL, type ElementRule, type Profile, type TypeRule } from '../../run/element-rule.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { Run, ResourceRule } from '../../run/run.js'

const OPERATION_PARAMETER: FindingDefinition = defineFinding(
  'operation-parameter',
  'error',
  'invalid',
  'Define the parameter as the profile of the input or output does, or change the profile.',
)

/** OperationDefinitions. */
export const operationDefinitionRule: ResourceRule = {
  on: ['OperationDefinition'],
  finds: [OPERATION_PARAMETER],
  check: checkOperation,
}

/**
 * Checks that the parameters of an OperationDefinition agree with its input and output profiles, which are profiles on Parameters: in name, cardinality,
 * type and target profiles.
 */
function checkOperation(run: Run, node: FhirNode): void {
  checkBases(run, node)
  checkUse(run, node, { use: 'in', name: 'inputProfile' })
  checkUse(run, node, { use: 'out', name: 'outputProfile' })
}

function checkUse(run: Run, node: FhirNode, { use, name }: { use: string; name: string }): void {
  const canonical = textOf(node, name)
  const profile = canonical === undefined ? PENDING : run.definitions.profile(canonical)
  if (profile === PENDING) return
  const say = (text: string, code: 'unknown' | 'invalid'): void => run.findings.report(OPERATION_PARAMETER, node, { text, at: name, code })
  if (profile === undefined) return say(`The profile ${quoted(canonical ?? '')} could not be found.`, 'unknown')
  if (profile.type !== 'Parameters')
    return say(`The profile ${quoted(canonical ?? '')} must be one of Parameters, not of ${quoted(profile.type)}.`, 'invalid')
  for (const slice of unnamed(profile)) say(`The slice ${quoted(slice)} of the profile does not fix the name of its parameter.`, 'unknown')
  const slices = slicesOf(profile)
  const parameters = childrenOf(run, node, 'parameter').filter((parameter) => textOf(parameter, 'use') === use)
  const names = new Set(parameters.map((parameter) => textOf(parameter, 'name')))
  for (const missing of [...slices.keys()].filter((slice) => !names.has(slice))) {
    const text = `The profile ${quoted(profile.canonical)} has a parameter ${quoted(missing)}, which the operation does not define.`
    run.findings.report(OPERATION_PARAMETER, node, { text, at: name, severity: 'warning', code: 'unknown' })
  }
  for (const parameter of parameters) checkParameter(run, parameter, { profile, slice: slices.get(textOf(parameter, 'name') ?? '') })
}

/** Checks that an operation is not based on itself, directly or through others. */
function checkBases(run: Run, node: FhirNode): void {
  const url = textOf(node, 'url')
  const seen = new Set<string>()
  for (let base = textOf(node, 'base'); base !== undefined && !seen.has(base);) {
    seen.add(base)
    if (base.split('|', 1)[0] === url) {
      run.findings.report(OPERATION_PARAMETER, node, { text: 'The operation is based on itself.', code: 'unknown' })
      return
    }
    const found = run.definitions.definition('OperationDefinition', base)
    if (found === undefined || found === PENDING) return
    base = stringAt(found, 'base')
  }
}

/** The slices of `Parameters.parameter` by the name that they fix. */
function slicesOf(profile: Profile): ReadonlyMap<string, ElementRule> {
  return new Map(
    parameterSlices(profile).flatMap((slice) => {
      const name = nameOf(slice)
      return name === undefined ? [] : [[name, slice] as const]
    }),
  )
}

function unnamed(profile: Profile): readonly string[] {
  return parameterSlices(profile).flatMap((slice) => (nameOf(slice) === undefined ? [slice.sliceName ?? slice.id] : []))
}

function parameterSlices({ root }: Profile): readonly ElementRule[] {
  return root.children.get('parameter')?.slices ?? []
}

function nameOf(slice: ElementRule): string | undefined {
  const { fixed, pattern } = slice.children.get('name')?.value ?? {}
  const name = fixed ?? pattern
  return typeof name === 'string' ? name : undefined
}

function checkParameter(run: Run, node: FhirNode, { profile, slice }: { profile: Profile; slice: ElementRule | undefined }): void {
  const name = quoted(textOf(node, 'name') ?? '')
  if (slice === undefined) {
    const text = `The profile ${quoted(profile.canonical)} has no parameter ${name}.`
    run.findings.report(OPERATION_PARAMETER, node, { text, severity: 'warning', code: 'unknown' })
    return
  }
  const types = typesOf(slice, run)
  const say = (difference: string, code: 'unknown' | 'invalid'): void =>
    run.findings.report(OPERATION_PARAMETER, node, {
      text: `The profile ${quoted(profile.canonical)} defines ${name} differently: ${difference}.`,
      code,
    })
  for (const difference of numberDifferences(node, slice, profile)) say(difference, 'unknown')
  for (const difference of [...typeDifferences(node, types), ...targetDifferences(run, node, types)]) say(difference, 'invalid')
}

/** Differences in cardinality. A differential inherits what it does not state, unless its base is Parameters itself. */
function numberDifferences({ value }: FhirNode, { min, max, isComplete }: ElementRule, { base }: Profile): readonly string[] {
  if (!isObject(value)) return []
  const isAll = isComplete || base === undefined
  const own = { min: value['min'], max: value['max'] === '*' ? Infinity : Number(shownJson(value['max'])) }
  return [
    ...(min !== own.min && (isAll || min > 0) ? [`min is ${min}`] : []),
    ...(max !== own.max && (isAll || max < Infinity) ? [`max is ${max === Infinity ? '*' : max}`] : []),
  ]
}

/** The types of a slice's value and resource; a parameter has one of the two. */
function typesOf({ children }: ElementRule, run: Run): readonly TypeRule[] {
  return ['value', 'resource'].flatMap((name) => {
    const rule = children.get(name)
    return rule === undefined || rule.max === 0 || (name === 'value' && isOpen(rule, run)) ? [] : rule.types
  })
}

/** Whether a value may be of any type, which says no more than that there may be one. */
function isOpen({ types }: ElementRule, { model }: Run): boolean {
  return types.length === model.type('Parameters.parameter')?.elements.get('value')?.length
}

/** Types that include many others. */
const ANY: ReadonlySet<string> = new Set(['Any', 'Element', 'Resource', 'DomainResource'])

/** Compares the allowed types; types that include many others are not compared. */
function typeDifferences(node: FhirNode, types: readonly TypeRule[]): readonly string[] {
  const own = allowedTypes(node)
  const others = types.map(({ code }) => code)
  if (others.length === 0 || [...own, ...others].some((type) => ANY.has(type))) return []
  const isSame = own.every((type) => others.includes(type)) && others.every((type) => own.includes(type))
  return isSame ? [] : [`the type is ${others.join(' or ')}, not ${own.join(' or ') || 'parts'}`]
}

/** The type of a parameter, or the types that an extension lists instead. */
function allowedTypes(node: FhirNode): readonly string[] {
  const listed = isObject(node.value) ? extensionValues(node.value, `${TYPE_URL}operationdefinition-allowed-type`) : []
  const types = listed.filter((type) => typeof type === 'string')
  return types.length > 0 ? types : [textOf(node, 'type') ?? []].flat()
}

function targetDifferences(run: Run, node: FhirNode, types: readonly TypeRule[]): readonly string[] {
  if (types.length === 0 || ANY.has(textOf(node, 'type') ?? 'Any')) return []
  const own = new Set(childrenOf(run, node, 'targetProfile').map(({ value }) => value))
  const others = new Set<unknown>(types.flatMap(({ targetProfiles }) => targetProfiles))
  const same = own.size === others.size && [...own].every((canonical) => others.has(canonical))
  return same ? [] : [`the target profiles are ${[...others].map(shownJson).join(', ') || 'none'}`]
}
