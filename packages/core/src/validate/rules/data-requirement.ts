import { quoted } from '../../errors/index.js'
import { PENDING, type FhirNode } from '../../fhirpath/index.js'
import { defineFinding, type FindingDefinition } from '../run/finding.js'
import { childrenOf, textOf } from '../run/nodes.js'
import type { NodeRule, Run } from '../run/run.js'
import { elementAtPath } from '../profile/element-at-path.js'

const DATA_REQUIREMENT: FindingDefinition = defineFinding(
  'data-requirement',
  'warning',
  'business-rule',
  'Use paths of elements that the type has, and profiles on the type.',
)

/** The data requirements of Libraries, plans and modules. */
export const dataRequirementRule: NodeRule = { on: ['DataRequirement'], finds: [DATA_REQUIREMENT], check: checkDataRequirement }

/** The members that have a path, with the name of the path in each. */
const PATHS = [
  ['codeFilter', 'path'],
  ['dateFilter', 'path'],
  ['sort', 'path'],
] as const

/**
 * Checks that the paths of a DataRequirement lead to elements of its type, and that its profiles are for the type. Paths with functions or indexes are
 * not followed.
 *
 * @see https://hl7.org/fhir/R4/metadatatypes.html#DataRequirement
 */
function checkDataRequirement(run: Run, node: FhirNode): void {
  const type = textOf(node, 'type')
  if (type === undefined || run.model.type(type) === undefined) return
  const paths = PATHS.flatMap(([holder, name]) => childrenOf(run, node, holder).flatMap((one) => childrenOf(run, one, name)))
  for (const one of [...paths, ...childrenOf(run, node, 'mustSupport')]) checkPath(run, one, type)
  for (const one of childrenOf(run, node, 'profile')) checkProfile(run, one, type)
}

function checkPath(run: Run, node: FhirNode, type: string): void {
  const { value } = node
  if (typeof value !== 'string' || !/^[A-Za-z][A-Za-z0-9.]*(?:\[x\])?$/.test(value)) return
  const path = value.startsWith(`${type}.`) ? value : `${type}.${value}`
  if (elementAtPath(run.model, path) === undefined)
    run.findings.report(DATA_REQUIREMENT, node, { text: `The path ${quoted(value)} does not lead to an element of ${type}.` })
}

function checkProfile(run: Run, node: FhirNode, type: string): void {
  const profile = typeof node.value === 'string' ? run.definitions.profile(node.value) : undefined
  if (profile === undefined || profile === PENDING || profile.type === type) return
  run.findings.report(DATA_REQUIREMENT, node, {
    text: `The profile ${quoted(profile.url)} is a profile on ${profile.type}, not on ${type}.`,
  })
}
