import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectsAt } from '../../../json/index.js'
import type { ElementRule } from '../../profile/element-rule.js'
import type { Run } from '../../walk/run.js'

/** A primitive has a value, or one of the extensions that can stand in its place. */
export function checkValued(
  run: Run,
  node: FhirNode,
  { alternatives, rule }: { alternatives: readonly string[]; rule: ElementRule },
): void {
  if (node.value !== undefined || !isObject(node.extra)) return
  if (objectsAt(node.extra, 'extension').some(({ url }) => alternatives.some((alternative) => alternative === url))) return
  const instead = alternatives.length === 0 ? '' : ` or, in its place, one of the extensions ${alternatives.join(', ')}`
  run.sink.report('value-missing', node, { text: `A value is required here${instead}.`, profile: rule.profile })
}
