import { OperationError } from '../../errors/index.js'
import { allMatches, type Condition, type Storage } from '../../storage/index.js'
import type { HierarchyQuestion } from '../search-options.js'

/** Most resources of a hierarchy that one search looks at. */
const MAX_MEMBERS = 10_000
const PAGE = 1_000

/**
 * The ids of a resource and of all that it is part of, or that are part of it, over any number of steps.
 *
 * @throws {OperationError} `too-costly` for more than 10,000.
 */
export async function hierarchyOf(storage: Pick<Storage, 'search'>, question: HierarchyQuestion): Promise<readonly string[]> {
  const { type } = question
  const known = new Set([question.id])
  let edge: readonly string[] = [question.id]
  while (edge.length > 0) {
    const next: string[] = []
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

/** One step up or down from any of these. */
function neighbours({ type, param, modifier }: HierarchyQuestion, ids: readonly string[]): Condition {
  if (modifier === 'above') return { kind: 'referredBy', param, query: { type, where: { kind: 'id', ids } } }
  return {
    kind: 'entry',
    param,
    all: [
      { field: 'value', op: 'in', operands: ids },
      { field: 'system', op: 'eq', operand: type },
    ],
  }
}
