import { PENDING, rootNode, type TypeDefinition, type TypeModel } from '../../fhirpath/index.js'
import { isObject, stringAt, type JsonObject } from '../../json/index.js'
import type { Definitions } from '../run/definitions.js'
import { isNested } from '../run/run.js'

/**
 * Fetches the definitions of all types in a resource together, if that of the resource itself is not known yet. Otherwise walks would discover them
 * level by level, with one more walk for each level. `undefined` when there is nothing to wait for.
 */
export function fetchTypesOf(resource: unknown, definitions: Definitions, model: TypeModel): Promise<unknown> | undefined {
  const type = isObject(resource) ? (stringAt(resource, 'resourceType') ?? '') : ''
  if (definitions.baseType(type) !== PENDING) return undefined
  for (const name of typesIn(model, resource)) definitions.baseType(name)
  return definitions.settle()
}

/** Maximum number of values examined; later ones seldom have other types. */
const MOST_VALUES = 5_000

/** Names of the types with definitions of their own that occur in the JSON of a resource, as far as it is examined. */
function typesIn(model: TypeModel, resource: unknown): ReadonlySet<string> {
  const found = new Set<string>()
  // Without recursion, because parsed objects may be nested deeper than the stack allows.
  const open: Typed[] = [{ value: resource, type: rootNode(model, resource).type }]
  for (let left = MOST_VALUES; left > 0; left--) {
    const next = open.pop()
    if (next === undefined) break
    const { value, type } = next
    if (Array.isArray(value)) for (const item of value.slice(0, left)) open.push({ value: item, type })
    else if (isObject(value)) addMembers(model, value, type.kind === 'resource' ? namedType(model, value, type) : type, { found, open })
    else found.add(type.name)
  }
  return found
}

/** A value and the type of its element. */
interface Typed {
  readonly value: unknown
  readonly type: TypeDefinition
}

/** The type that a resource states in `resourceType`. */
function namedType(model: TypeModel, resource: JsonObject, otherwise: TypeDefinition): TypeDefinition {
  return model.type(stringAt(resource, 'resourceType') ?? '') ?? otherwise
}

function addMembers(
  model: TypeModel,
  object: JsonObject,
  type: TypeDefinition,
  { found, open }: { readonly found: Set<string>; readonly open: Typed[] },
): void {
  if (!isNested(type)) found.add(type.name)
  for (const [name, value] of Object.entries(object)) {
    const slot = type.members.get(name)
    const inner = slot && model.type(slot.type)
    if (inner !== undefined) open.push({ value, type: inner })
  }
}
