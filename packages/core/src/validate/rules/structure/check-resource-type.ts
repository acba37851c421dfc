import { quoted } from '../../../errors/index.js'
import type { FhirNode, TypeModel } from '../../../fhirpath/index.js'
import { isObject, stringAt } from '../../../json/index.js'
import type { Run } from '../../walk/run.js'

const ABSTRACT: ReadonlySet<string> = new Set(['Resource', 'DomainResource'])

/** True for a type that resources can have. */
export function isConcrete(model: TypeModel, type: string): boolean {
  return model.type(type)?.kind === 'resource' && !ABSTRACT.has(type)
}

/** What to say about a resource whose type is not to be found. */
export function unknownType(name: string | undefined): string {
  return name === undefined ? 'A resource must have a resourceType.' : `There is no resource type ${quoted(name)}.`
}

/** Whether an inner resource has a type: without one nothing else can be checked. */
export function checkResourceType(run: Run, node: FhirNode): boolean {
  if (isConcrete(run.model, node.type.name)) return true
  const name = isObject(node.value) ? stringAt(node.value, 'resourceType') : undefined
  run.sink.report('unknown-resource-type', node, { text: unknownType(name) })
  return false
}
