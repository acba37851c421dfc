import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { TYPE_URL, type ElementRule } from '../../run/element-rule.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import type { NodeRule, Run } from '../../run/run.js'
import { isAbsoluteUri } from '../primitive/uri.js'
import { containedOf } from './resolve-locally.js'

const CANONICAL_TYPE: FindingDefinition = defineFinding(
  'canonical-type',
  'error',
  'invalid',
  'Refer to a definition of a type that the element allows.',
)

/** Canonicals and the definitions that they lead to. */
export const canonicalRule: NodeRule = {
  on: ['canonical'],
  finds: [CANONICAL_TYPE],
  when: ({ rules }) => {
    const allowed = allowedTypes(rules)
    return allowed && ((value, run) => typeof value === 'string' && (value.startsWith('#') || otherType(run, value, allowed) !== undefined))
  },
  check: checkCanonical,
}

/** Types of definitions, the most referenced ones first. */
const DEFINITIONS = [
  'ValueSet',
  'StructureDefinition',
  'Questionnaire',
  'CodeSystem',
  'Library',
  'Measure',
  'PlanDefinition',
  'ActivityDefinition',
  'ConceptMap',
  'SearchParameter',
  'OperationDefinition',
  'CapabilityStatement',
  'ImplementationGuide',
  'MessageDefinition',
  'CompartmentDefinition',
  'GraphDefinition',
  'NamingSystem',
  'StructureMap',
]

/** Canonicals that are not looked up: parts of a resource, as contained ones, implicit value sets of code systems, and examples. */
const NOT_LOOKED_UP =
  /#|\?|^https?:\/\/(?:[a-z0-9-]+\.)*(?:example\.(?:org|com|net)|acme\.(?:com|org))(?:[:/|?#]|$)|^http:\/\/(?:snomed\.info|loinc\.org)\//

/** Reports a canonical that leads to a definition of a type that its element does not allow. One that leads to no known definition may be right. */
function checkCanonical(run: Run, node: FhirNode, rules: readonly ElementRule[]): void {
  const { value } = node
  const allowed = allowedTypes(rules)
  if (typeof value !== 'string') return
  const isContained = value.startsWith('#')
  if (!isContained && isReportedElsewhere(node)) return
  const other = isContained ? otherContained(run, node, { id: value.slice(1), allowed }) : otherType(run, value, allowed)
  if (other !== undefined)
    run.findings.report(CANONICAL_TYPE, node, {
      text: `${quoted(value)} is a ${other}, but the element takes ${allowed?.join(' or ')}.`,
    })
}

/** The type of the contained resource that a canonical leads to, if it is none of the allowed types. */
function otherContained(
  run: Run,
  node: FhirNode,
  { id, allowed }: { id: string; allowed: readonly string[] | undefined },
): string | undefined {
  const type = id === '' ? undefined : containedOf(run, node, id)?.type.name
  return type === undefined || allowed?.includes(type) !== false ? undefined : type
}

/** The type of the definition that a canonical leads to, if it leads to none of the allowed types. */
function otherType(run: Run, canonical: string, allowed: readonly string[] | undefined): string | undefined {
  if (allowed === undefined || !isLookedUp(canonical)) return undefined
  for (const type of allowed) if (run.definitions.definition(type, canonical) !== undefined) return undefined
  const kinds = run.definitions.kinds(canonical)
  return kinds === PENDING ? undefined : DEFINITIONS.find((type) => !allowed.includes(type) && kinds.includes(type))
}

function isLookedUp(canonical: string): boolean {
  return isAbsoluteUri(canonical) && !NOT_LOOKED_UP.test(canonical)
}

/** True for canonicals with findings of their own: profiles of a resource, value sets of bindings, and the questionnaire or measure that is answered. */
function isReportedElsewhere({ slot, parent }: FhirNode): boolean {
  return ELSEWHERE.has(`${parent?.type.name}.${slot?.name}`)
}

const ELSEWHERE: ReadonlySet<string> = new Set([
  'Meta.profile',
  'QuestionnaireResponse.questionnaire',
  'MeasureReport.measure',
  'ElementDefinition.binding.valueSet',
])

/** The types of definitions that the rules allow; `undefined` when any resource is allowed. */
function allowedTypes(rules: readonly ElementRule[]): readonly string[] | undefined {
  const targets = rules.map(({ types }) => types.find(({ code }) => code === 'canonical')?.targetProfiles ?? [])
  const narrow = targets
    .find((one) => one.length > 0 && one.every((url) => url.startsWith(TYPE_URL)))
    ?.map((url) => url.slice(TYPE_URL.length))
  return narrow === undefined || narrow.includes('Resource') ? undefined : narrow
}
