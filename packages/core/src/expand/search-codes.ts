import type { OperationContext } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import type { JsonObject } from '../json/index.js'
import type { CodeExpander, CodeGroup, CodeQuestion } from '../search/index.js'
import { isResourceId } from '../storage/index.js'
import { expand } from './expand.js'
import type { ExpandInput } from './input.js'
import type { ExpansionEntry } from './result.js'

/**
 * Finds the codes for the search modifiers `:in`, `:not-in`, `:above` and `:below`, by expansion.
 *
 * @param context Returns the context. A function, because searching is part of the context itself; called for each question.
 */
export function searchCodes(context: () => OperationContext): CodeExpander {
  return async (question) => {
    const ctx = context()
    const { contains } = await expand(ctx, await inputOf(ctx, question))
    return groups(contains)
  }
}

async function inputOf(ctx: OperationContext, question: CodeQuestion): Promise<ExpandInput> {
  if (question.modifier !== 'in') return { valueSet: related(question), excludeNested: true }
  const [type, id = '', ...rest] = question.valueSet.split('/')
  if (type !== 'ValueSet' || !isResourceId(id) || rest.length > 0) return { url: question.valueSet, excludeNested: true }
  const stored = await ctx.storage.read('ValueSet', id)
  if (stored === undefined) throw new OperationError('content-not-found', `There is no ${quoted(question.valueSet)}.`)
  return { valueSet: stored.resource, excludeNested: true }
}

/** Creates a value set of a code and all codes that it subsumes, or all codes that subsume it. */
function related({ modifier, system, code }: Exclude<CodeQuestion, { modifier: 'in' }>): JsonObject {
  const filter = [{ property: 'concept', op: modifier === 'below' ? 'is-a' : 'generalizes', value: code }]
  return { resourceType: 'ValueSet', status: 'active', compose: { include: [{ system, filter }] } }
}

function groups(entries: readonly ExpansionEntry[]): readonly CodeGroup[] {
  const found = new Map<string, string[]>()
  const visit = ({ system, code, contains }: ExpansionEntry): void => {
    const codes = found.get(system)
    if (codes === undefined) found.set(system, [code])
    else codes.push(code)
    contains.forEach(visit)
  }
  entries.forEach(visit)
  return Array.from(found, ([system, codes]) => ({ system, codes }))
}
