import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { TYPE_URL, type ElementRule } from '../../run/element-rule.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import type { NodeRule, Run } from '../../run/run.js'
import { isAbsoluteUri } from '../primitive/uri.js'

const CANONICAL_TYPE: FindingDefinition = defineFinding(
  'canonical-type',
  'error',
  'invalid',
  'Refer to a definition of a type that the element allows.',
)

/** Canonicals by what they lead to. */
export const canonicalRule: NodeRule = {
  on: ['canonical'],
  finds: [CANONICAL_TYPE],
  when: ({ rules }) => {
    const allowed = allowedTypes(rules)
    return allowed && ((value, run) => typeof value === 'string' && otherType(run, value, allowed) !== undefined)
  },
  check: checkCanonical,
}

/** Types of definitions, those first that are referred to most. */
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

/** Names of examples, of what code systems define by rules, and of elements in what contains them are not looked up. */
const NOT_LOOKED_UP =
  /^#|\?|^https?:\/\/(?:[a-z0-9-]+\.)*(?:example\.(?:org|com|net)|acme\.(?:com|org))(?:[:/|?#]|$)|^http:\/\/(?:snomed\.info|loinc\.org)\//

/** Refuses a canonical that leads to a definition of another type than its element allows. One that leads to nothing that is known here may be right. */
function checkCanonical(run: Run, node: FhirNode, rules: readonly ElementRule[]): void {
  const { value } = node
  const allowed = allowedTypes(rules)
  if (typeof value !== 'string' || isReportedElsewhere(node)) return
  const other = otherType(run, value, allowed)
  if (other !== undefined)
    run.findings.report(CANONICAL_TYPE, node, {
      text: `${quoted(value)} is a ${other}, but the element takes ${allowed?.join(' or ')}.`,
    })
}

/** The type of definition that a canonical leads to where it leads to none of those that are allowed. */
function otherType(run: Run, canonical: string, allowed: readonly string[] | undefined): string | undefined {
  if (allowed === undefined || !isLookedUp(canonical)) return undefined
  for (const type of allowed) if (run.definitions.definition(type, canonical) !== undefined) return undefined
  const kinds = run.definitions.kinds(canonical)
  return kinds === PENDING ? undefined : DEFINITIONS.find((type) => !allowed.includes(type) && kinds.includes(type))
}

function isLookedUp(canonical: string): boolean {
  return isAbsoluteUri(canonical) && !NOT_LOOKED_UP.test(canonical)
}

/** The profiles of a resource and of definitions, and the questionnaire or measure that is answered, have findings of their own. */
function isReportedElsewhere({ slot, parent }: FhirNode): boolean {
  return ELSEWHERE.has(`${parent?.type.name}.${slot?.name}`)
}

const ELSEWHERE: ReadonlySet<string> = new Set([
  'Meta.profile',
  'QuestionnaireResponse.questionnaire',
  'MeasureReport.measure',
  'ElementDefinition.binding.valueSet',
])

/** The types of definitions that every rule allows; `undefined` where any resource may be meant. */
function allowedTypes(rules: readonly ElementRule[]): readonly string[] | undefined {
  const targets = rules.map(({ types }) => types.find(({ code }) => code === 'canonical')?.targetProfiles ?? [])
  const narrow = targets
    .find((one) => one.length > 0 && one.every((url) => url.startsWith(TYPE_URL)))
    ?.map((url) => url.slice(TYPE_URL.length))
  return narrow === undefined || narrow.includes('Resource') ? undefined : narrow
}
