import type { FhirNode } from '../../../fhirpath/index.js'
import { objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import type { Run } from '../../run/run.js'

/** A code system without information that users of its codes need. */
export const CODE_SYSTEM_INCOMPLETE: FindingDefinition = defineFinding(
  'code-system-incomplete',
  'warning',
  'business-rule',
  'Add the elements that a code system of its kind should have.',
)

/** HL7's own code systems must follow a stricter rule. */
export function isOfHl7(system: JsonObject): boolean {
  return /(?:hl7|fhir)\.org/.test(stringAt(system, 'url') ?? '')
}

/** Checks that a code system states how complete its content is, whether case matters, and what the hierarchy means. */
export function checkMeaning(run: Run, node: FhirNode, system: JsonObject): void {
  const isStrict = isOfHl7(system)
  const say = (name: string, why: string, severity: 'error' | 'warning' | 'information'): void =>
    run.findings.report(CODE_SYSTEM_INCOMPLETE, node, {
      text: `The code system should have ${name}, which states ${why}.`,
      severity,
      ...(system[`_${name}`] !== undefined && { at: name }),
    })
  const usual = isStrict ? 'warning' : 'information'
  if (system['content'] === undefined) say('content', 'how much of it is here', isStrict ? 'error' : 'warning')
  if (system['caseSensitive'] === undefined) say('caseSensitive', 'whether codes are case-sensitive', usual)
  const isNested = objectsAt(system, 'concept').some((concept) => objectsAt(concept, 'concept').length > 0)
  if (isNested && system['hierarchyMeaning'] === undefined) say('hierarchyMeaning', 'what the hierarchy of concepts means', usual)
}
