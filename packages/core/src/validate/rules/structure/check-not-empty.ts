import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject } from '../../../json/index.js'
import { nodeRemoval } from '../../fix/patch.js'
import type { Run } from '../../walk/run.js'

/** ele-1: an element has a value or something inside beside its id. */
export function checkNotEmpty(run: Run, node: FhirNode): boolean {
  const { value, extra } = node
  const holder = isObject(value) ? value : extra
  if (hasMembers(holder, node) || (value !== undefined && !isObject(value))) return true
  const names = Object.keys(holder ?? {})
  const isOnlyId = names.length === 1 && names[0] === 'id'
  run.sink.report('empty-object', node, {
    text: 'An element must have a value or something inside it.',
    ...(isOnlyId && { code: 'invariant' }),
    fix: names.length === 0 ? nodeRemoval(node) : undefined,
  })
  return false
}

/** The `_name` beside a primitive can hold nothing but extensions. */
function hasMembers(holder: object | undefined, { type }: FhirNode): boolean {
  if (holder === undefined) return false
  if (type.kind === 'primitive') return Object.hasOwn(holder, 'extension')
  for (const name in holder) if (name !== 'id' && Object.hasOwn(holder, name)) return true
  return false
}
