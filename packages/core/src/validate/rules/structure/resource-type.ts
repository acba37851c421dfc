import { quoted } from '../../../errors/index.js'
import { isSubtype, type FhirNode, type TypeModel } from '../../../fhirpath/index.js'
import { isObject, stringAt } from '../../../json/index.js'
import { didYouMean, nearest, otherCase } from '../../../text/index.js'
import type { ElementRule } from '../../run/element-rule.js'
import { type Report, defineFinding, type FindingDefinition } from '../../run/finding.js'
import { pointerOf } from '../../run/patch.js'
import type { Run, DemandRule } from '../../run/run.js'

/** A resource whose type is missing or not one of the release. */
export const UNKNOWN_RESOURCE_TYPE: FindingDefinition = defineFinding(
  'unknown-resource-type',
  'error',
  'structure',
  'Use a resource type of FHIR R4 in resourceType.',
)
/** A type of a choice or of a resource that is not allowed at its place. */
export const TYPE_NOT_ALLOWED: FindingDefinition = defineFinding(
  'type-not-allowed',
  'error',
  'structure',
  'Use one of the types that are allowed here.',
)

const ABSTRACT: ReadonlySet<string> = new Set(['Resource', 'DomainResource'])

/** True for a type that resources can have. */
export function isConcrete(model: TypeModel, type: string): boolean {
  return model.type(type)?.kind === 'resource' && !ABSTRACT.has(type)
}

/** The report on a resource whose type is missing or unknown. */
export function unknownType(model: TypeModel, node: FhirNode): Report {
  const name = isObject(node.value) ? stringAt(node.value, 'resourceType') : undefined
  if (name === undefined) return { text: 'Unable to find a resourceType property.' }
  const near = nearest(name, model.names()).filter((type) => isConcrete(model, type))
  const right = otherCase(name, near)
  return {
    text: `Unknown resource type ${quoted(name)}.`,
    hint: didYouMean(near),
    fix: right === undefined ? undefined : [{ op: 'replace', path: pointerOf(node, 'resourceType'), value: right }],
  }
}

/** Checks that an inner resource has a known type; without one nothing else can be checked. */
export function checkResourceType(run: Run, node: FhirNode): boolean {
  if (isConcrete(run.model, node.type.name)) return true
  run.findings.report(UNKNOWN_RESOURCE_TYPE, node, unknownType(run.model, node))
  return false
}

/** Types of inner resources. */
export const allowedTypeRule: DemandRule = {
  name: 'type',
  finds: [TYPE_NOT_ALLOWED],
  appliesTo: ({ isBase, types }, model) => !isBase && types.some(({ code }) => model.type(code)?.kind === 'resource'),
  checkBy: (rules) => (run, node) => checkAllowedType(run, node, rules),
}

/** Checks that an inner resource is of a type that the rules for its place allow. */
function checkAllowedType(run: Run, node: FhirNode, rules: readonly ElementRule[]): void {
  for (const { isBase, types, profile } of rules) {
    if (isBase || types.length === 0 || types.some(({ code }) => isSubtype(run.model, node.type, code))) continue
    run.findings.report(TYPE_NOT_ALLOWED, node, {
      text: `The type ${node.type.name} is not allowed here; allowed types: ${types.map(({ code }) => code).join(', ')}.`,
      code: 'informational',
      profile,
    })
  }
}
