import type { OperationContext } from 'fhir-ops/context'
import { createPace } from 'fhir-ops/internal/context'
import { indexing } from 'fhir-ops/internal/storage'
import { DEFINITION_PARAM, writableText, type Condition, type Indexer, type SearchQuery, type Storage } from 'fhir-ops/storage'
import type { SearchParameters } from 'fhir-ops/search'
import type { JsonObject } from 'fhir-ops/internal/json'

/** Functions of FHIRPath that find members without naming them. */
const OF_ANY_MEMBER = ['children', 'descendants']
/** A plain path, which leads to one member of the resource. */
const PATH = /^[\s(]*[A-Z]\w*\.(\w+)(?:\.(?:as|ofType)\(\w+\)|\.\w+|\s+as\s+\w+)*[\s)]*$/

/** The search parameters of a type that find the same in a definition and in its head, by code, each with names that its expression has for members. */
export type HeadParameters = ReadonlyMap<string, readonly string[]>

/** Returns the parameters whose expressions name the members that they lead to. */
export function headParameters(parameters: SearchParameters, type: string): HeadParameters {
  const ofHeads = parameters.of(type).flatMap(({ code, expression, components, unites }): readonly [string, readonly string[]][] => {
    const names = expression.split('|').flatMap(namesInPart)
    const isOfHead =
      names.length > 0 && components.length === 0 && unites.length === 0 && !names.some((name) => OF_ANY_MEMBER.includes(name))
    return isOfHead ? [[code, names]] : []
  })
  return new Map(ofHeads)
}

/** Of anything else than a path, every word may name a member. */
function namesInPart(part: string): readonly string[] {
  const member = PATH.exec(part)?.[1]
  return member === undefined || OF_ANY_MEMBER.some((name) => part.includes(name)) ? (part.match(/\w+/g) ?? []) : [member]
}

/** Returns a definition with only the members that one of these names leads to: `source` to `source`, `_source` and `sourceUri`. */
export function headOf(resource: JsonObject, names: ReadonlySet<string>): JsonObject {
  const isNamed = (member: string): boolean => {
    for (const name of names) if (member.startsWith(name) && !/^[a-z]/.test(member.slice(name.length))) return true
    return false
  }
  const kept = Object.entries(resource).filter(([member]) => member === 'resourceType' || isNamed(member.replace(/^_/, '')))
  return Object.fromEntries(kept)
}

/** Returns the names in the expressions of all parameters of a query; `undefined` if heads do not decide it. */
function namesFor({ where, sort = [] }: Pick<SearchQuery, 'where' | 'sort'>, ofHeads: HeadParameters): readonly string[] | undefined {
  const sorting = sort.filter(({ field }) => field !== 'id' && field !== 'lastUpdated').map(({ param }) => namesOf(param, ofHeads))
  const all = [namesIn(where, ofHeads), ...sorting]
  return all.every((names) => names !== undefined) ? all.flat() : undefined
}

function namesIn(where: Condition, ofHeads: HeadParameters): readonly string[] | undefined {
  switch (where.kind) {
    case 'id':
    case 'lastUpdated':
      return []
    case 'entry':
      return namesOf(where.param, ofHeads)
    case 'not':
      return namesIn(where.condition, ofHeads)
    case 'and':
    case 'or': {
      const all = where.conditions.map((one) => namesIn(one, ofHeads))
      return all.every((names) => names !== undefined) ? all.flat() : undefined
    }
    default:
      return undefined
  }
}

/** @param param The code of a parameter, perhaps with a modifier that has entries of its own. */
function namesOf(param: string, ofHeads: HeadParameters): readonly string[] | undefined {
  return param.startsWith(DEFINITION_PARAM) ? undefined : ofHeads.get(param.split(':', 1)[0] ?? '')
}

/** What is needed to index heads. */
interface HeadIndexing {
  readonly type: string
  readonly scheduler: OperationContext['scheduler']
  readonly indexer: Indexer
  readonly ofHeads: HeadParameters
  readonly emptyStorage: () => Storage
}

/**
 * Returns a function that returns a storage of the heads of all definitions, `undefined` if heads do not decide a query. It is made once, for all
 * requests that wait for it, with the members that queries have asked for so far.
 */
export function headsOf(
  definitions: readonly { readonly id: string; readonly source: { readonly resource: JsonObject } }[],
  { type, scheduler, indexer, ofHeads, emptyStorage }: HeadIndexing,
): (query: SearchQuery) => Promise<Storage> | undefined {
  const make = async (names: ReadonlySet<string>): Promise<Storage> => {
    const made = emptyStorage()
    const pace = createPace({ scheduler })
    for (const { id, source } of definitions) {
      await pace.step()
      const head = headOf(source.resource, names)
      const entries = await pace.run(indexing(indexer, head))
      // Only the ids of what is found are used, so the text of the head, which may be long, is not stored.
      await made.write([{ op: 'put', type, id, text: writableText(type, id, { resourceType: type }), entries }])
    }
    return made
  }
  let known: { readonly names: ReadonlySet<string>; readonly storage: Promise<Storage> } | undefined
  return (query) => {
    const asked = namesFor(query, ofHeads)
    if (asked === undefined) return undefined
    if (known !== undefined && asked.every((name) => known?.names.has(name))) return known.storage
    const names = new Set([...(known?.names ?? []), ...asked])
    const made = { names, storage: make(names) }
    // A failed attempt is repeated on the next call.
    made.storage.catch(() => (known = known === made ? undefined : known))
    known = made
    return made.storage
  }
}
