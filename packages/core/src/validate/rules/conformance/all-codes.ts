import { objectAt, objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'

/** A `CodeSystem.valueSet` that is not exactly all codes. */
export const CODE_SYSTEM_VALUE_SET: FindingDefinition = defineFinding(
  'code-system-value-set',
  'error',
  'business-rule',
  'Let valueSet be a value set that includes the whole code system and nothing else.',
)

/**
 * Why a ValueSet is not the value set of all codes of a code system, to follow its name; `undefined` when it is.
 *
 * @param count Number of concepts of the code system.
 */
export function allCodesProblem(valueSet: JsonObject, url: string | undefined, count: number): string | undefined {
  const [include, ...others] = objectsAt(objectAt(valueSet, 'compose'), 'include')
  if (include === undefined || others.length > 0) return 'does not have a single include'
  if (stringAt(include, 'system') !== url) return `includes another code system, ${stringAt(include, 'system') ?? 'none'}`
  if (['valueSet', 'concept', 'filter'].some((name) => include[name] !== undefined)) return 'does not include the whole code system'
  const expansion = objectAt(valueSet, 'expansion')
  const listed = objectsAt(expansion, 'contains').length
  return expansion === undefined || listed === count ? undefined : `has an expansion of ${listed} codes, but there are ${count}`
}
