import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { TYPE_URL } from '../../run/element-rule.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { ResourceRule, Run } from '../../run/run.js'
import { isAbsoluteUri } from '../primitive/uri.js'

const DEFINITION_TYPE_NAME: FindingDefinition = defineFinding(
  'definition-type-name',
  'error',
  'invalid',
  'Name a type of FHIR that is constrained, or give a logical model the absolute URL of its own type.',
)

/** The types that StructureDefinitions name. */
export const typeNameRule: ResourceRule = { on: ['StructureDefinition'], finds: [DEFINITION_TYPE_NAME], check: checkTypeName }

/**
 * Checks that a StructureDefinition is about a type of FHIR, or defines one of its own by an absolute URL.
 *
 * @see https://hl7.org/fhir/R4/structuredefinition-definitions.html#StructureDefinition.type
 */
function checkTypeName(run: Run, node: FhirNode): void {
  const type = textOf(node, 'type')
  const isBare = type === undefined && childrenOf(run, node, 'type').length > 0
  const text = type === undefined ? undefined : problemOf(run, node, type)
  if (isBare) run.findings.report(DEFINITION_TYPE_NAME, node, { text: 'The definition names no type.', at: 'type' })
  if (text !== undefined) run.findings.report(DEFINITION_TYPE_NAME, node, { text, at: 'type' })
  const url = textOf(node, 'url')
  if (type === undefined || url === undefined || !isAbsoluteUri(type) || namespaceOf(type) === namespaceOf(url)) return
  const other = `The type ${quoted(type)} should be in the same namespace as the definition, whose url is ${quoted(url)}.`
  run.findings.report(DEFINITION_TYPE_NAME, node, { text: other, at: 'type', severity: 'warning' })
}

function namespaceOf(url: string): string {
  return url.slice(0, Math.max(0, url.lastIndexOf('/')))
}

function problemOf(run: Run, node: FhirNode, type: string): string | undefined {
  const kind = textOf(node, 'kind')
  if (isAbsoluteUri(type)) {
    const isOwn = kind === undefined || kind === 'logical'
    return isOwn ? undefined : `The type ${quoted(type)} can only be defined if the kind is 'logical', not ${quoted(kind)}.`
  }
  if (textOf(node, 'url') === TYPE_URL + type) return undefined
  if (run.model.type(type) === undefined || type.includes('.'))
    return `The type ${quoted(type)} is not defined by FHIR; other types must be absolute URLs.`
  return textOf(node, 'derivation') === 'specialization'
    ? `The type ${quoted(type)} can only be used when its own definition is constrained, and this one is a specialization.`
    : undefined
}
