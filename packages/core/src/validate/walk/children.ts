import { pushChildren, type FhirNode } from '../../fhirpath/index.js'
import { isObject, stringAt } from '../../json/index.js'
import type { Run } from './run.js'

/** The children of a node with a FHIRPath name, in document order. */
export function childrenOf({ model }: Run, node: FhirNode, name: string): readonly FhirNode[] {
  const into: FhirNode[] = []
  pushChildren(model, node, { name, into })
  return into
}

/** The text of a member of a node, `undefined` when it is absent or no string. */
export function textOf({ value }: FhirNode, name: string): string | undefined {
  return isObject(value) ? stringAt(value, name) : undefined
}
