import { childrenOf, textOf } from '../../../walk/children.js'
import type { ElementCheck } from './check-elements.js'

/** Types that have no codes to bind. What is not listed may have. */
const UNBOUND: ReadonlySet<string> = new Set([
  'boolean',
  'integer',
  'decimal',
  'unsignedInt',
  'positiveInt',
  'date',
  'dateTime',
  'instant',
  'time',
  'base64Binary',
  'Period',
  'Range',
  'Ratio',
  'Attachment',
  'HumanName',
  'Address',
  'ContactPoint',
  'Timing',
  'Annotation',
  'SampledData',
  'Signature',
])

/** Checks that an element with a binding has a type that can be bound. */
export function checkBinding({ run, node, place }: ElementCheck): void {
  if (childrenOf(run, node, 'binding').length === 0) return
  const stated = childrenOf(run, node, 'type').flatMap((type) => textOf(type, 'code') ?? [])
  const types = stated.length > 0 ? stated : (place?.slots.map(({ type }) => type) ?? [])
  if (types.length === 0 || types.some((type) => !UNBOUND.has(type))) return
  run.sink.report('definition-binding', node, { text: `The element has a binding, but its type ${types.join(', ')} has no codes.` })
}
