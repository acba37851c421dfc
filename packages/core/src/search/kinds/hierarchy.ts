import { OperationError } from '../../errors/index.js'
import { allMatches, isResourceId, type Condition, type Storage } from '../../storage/index.js'
import { anyOf, oneOf } from '../filter/conditions.js'
import { unsupportedName, type FilterScope, invalidValue, type Ask } from './kind.js'
import type { SearchParameter } from '../parameters/search-parameter.js'
import type { HierarchyQuestion } from '../search-options.js'
import { unescaped } from '../written-values.js'
import { localReference, type StoredAddress } from '../indexing/address.js'

/**
 * Parses `:above` and `:below` of a reference: matches the resource itself, and all that it is part of (`above`) or that are part of it (`below`). The
 * parameter `partof` or `part-of` of the type defines the hierarchy.
 *
 * @see https://hl7.org/fhir/R4/search.html#recursive
 */
export async function parseHierarchy(scope: FilterScope, parameter: SearchParameter, asks: readonly Ask[]): Promise<Condition> {
  const { hierarchyOf: idsOf } = scope.options
  const modifier = asks[0]?.modifier === 'above' ? 'above' : 'below'
  if (idsOf === undefined) throw unsupportedName(scope, `has the modifier '${modifier}', which is not supported`)
  const conditions: Condition[] = []
  for (const ask of asks) {
    const { type, id } = memberOf(scope, parameter, ask)
    const ids = await idsOf({ type, id, modifier, param: partOf(scope, type) ?? '' })
    conditions.push(oneOf(parameter.code, type, ids))
  }
  return anyOf(conditions)
}

/** Returns the resource that a value names. An id alone is enough if only one target type of the reference has a hierarchy. */
function memberOf(scope: FilterScope, { targets }: SearchParameter, ask: Ask): StoredAddress {
  const text = unescaped(ask.value)
  const types = targets.filter((type) => partOf(scope, type) !== undefined)
  const [only] = types
  const member =
    localReference(text, ask.base) ??
    (types.length === 1 && only !== undefined && isResourceId(text) ? { type: only, id: text } : undefined)
  if (member === undefined || (targets.length > 0 && !targets.includes(member.type))) throw invalidValue(ask, 'a reference (Type/id)')
  if (partOf(scope, member.type) === undefined) throw unsupportedName(scope, `asks for the hierarchy of ${member.type}, which has none`)
  return member
}

/** Returns the parameter by which resources of a type state what they are part of. */
function partOf({ options: { parameters } }: FilterScope, type: string): string | undefined {
  const found = ['partof', 'part-of'].map((code) => parameters.find(type, code)).find((parameter) => parameter?.targets.includes(type))
  return found?.code
}

/** Maximum number of resources of a hierarchy in one search. */
const MAX_MEMBERS = 10_000
const PAGE = 1_000

/**
 * Finds the ids of a resource and of all that it is part of, or that are part of it, over any number of steps.
 *
 * @param step Called before each query, and awaited if it lets other work run: storages that answer immediately leave no gap between thousands of queries.
 * @throws {OperationError} `too-costly` for more than 10,000; and what `step` throws.
 */
export async function hierarchyOf(
  storage: Pick<Storage, 'search'>,
  question: HierarchyQuestion,
  step?: () => Promise<void> | undefined,
): Promise<readonly string[]> {
  const { type } = question
  const known = new Set([question.id])
  let edge: readonly string[] = [question.id]
  while (edge.length > 0) {
    const next: string[] = []
    await step?.()
    for await (const { id } of allMatches(storage, { type, where: neighbours(question, edge), limit: PAGE })) {
      if (known.has(id)) continue
      known.add(id)
      next.push(id)
      if (known.size > MAX_MEMBERS)
        throw new OperationError('too-costly', `More than ${MAX_MEMBERS} ${type} resources are in the hierarchy.`)
    }
    edge = next
  }
  return [...known]
}

/** Creates the condition for one step up or down from any of these resources. */
function neighbours({ type, param, modifier }: HierarchyQuestion, ids: readonly string[]): Condition {
  if (modifier === 'above') return { kind: 'referredBy', param, query: { type, where: { kind: 'id', ids } } }
  return oneOf(param, type, ids)
}
