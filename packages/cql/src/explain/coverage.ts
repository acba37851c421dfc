import type { ClauseCounts, Coverage, CoveredClause, CoveredDefinition, CoveredLibrary, SourcePart } from 'fhir-ops/internal/explain'
import type { NodeTrace } from '../compile/compiler.js'
import { NODE_COMPILERS } from '../compile/registry.js'
import { isNode, textAt, typeOf, type ElmNode } from '../elm/node.js'
import { isList, type Value } from '../values/value.js'
import { annotatedParts, clauseTexts } from './clause-text.js'
import type { ElmDefinition, ElmDefinitions } from './elm-libraries.js'

/** Counts the results of the clauses of libraries, subject by subject. Its memory is bounded by the number of clauses. */
export interface ClauseCounter {
  readonly trace: NodeTrace
  /** Ends a subject: adds the results of its clauses to the counts. */
  endSubject(): void
  coverage(definitions: ElmDefinitions): Coverage
}

/** The results of a clause: `own` for the current subject, and the number of subjects with each. */
interface Seen {
  own: number
  true: number
  false: number
  null: number
}

const [TRUE, FALSE, NULL] = [1, 2, 4]

/** Creates a counter. */
export function clauseCounter(): ClauseCounter {
  const byNode = new Map<ElmNode, Seen>()
  const all: Seen[] = []
  let subjects = 0
  return {
    trace: (compute, node) => {
      const seen = byNode.get(node) ?? { own: 0, true: 0, false: 0, null: 0 }
      if (!byNode.has(node)) all.push(seen)
      byNode.set(node, seen)
      return (evaluation) => {
        const value = compute(evaluation)
        seen.own |= markOf(value)
        return value
      }
    },
    endSubject: () => {
      subjects++
      for (const seen of all) {
        if (seen.own !== 0) seen[(seen.own & TRUE) !== 0 ? 'true' : (seen.own & FALSE) !== 0 ? 'false' : 'null']++
        seen.own = 0
      }
    },
    coverage: (definitions) => coverageOf(definitions, byNode, subjects),
  }
}

function markOf(value: Value): number {
  if (value === null) return NULL
  return value === false || (isList(value) && value.length === 0) ? FALSE : TRUE
}

const MAX_CLAUSES = 20_000

function coverageOf(definitions: ElmDefinitions, seen: ReadonlyMap<ElmNode, Seen>, subjects: number): Coverage {
  let [left, omitted] = [MAX_CLAUSES, 0]
  const countsOf = (nodes: readonly ElmNode[]): ClauseCounts =>
    mostSeen(
      nodes.flatMap((node) => seen.get(node) ?? []),
      subjects,
    )
  const texts = clauseTexts(definitions)
  const definitionOf = (definition: ElmDefinition): readonly CoveredDefinition[] => {
    const clauses = clausesOf(definition.expression)
    if (clauses.size > left) {
      omitted += clauses.size
      return []
    }
    left -= clauses.size
    const locator = textAt(definition.node, 'locator')
    return [
      {
        name: definition.name,
        ...(locator !== undefined && { locator }),
        counts: countsOf([definition.expression]),
        clauses: [...clauses].map(([id, nodes]): CoveredClause => {
          const place = textAt(nodes[0] ?? {}, 'locator')
          return { id, ...(place !== undefined && { locator: place }), counts: countsOf(nodes) }
        }),
        source: sourceOf(definition, clauses, texts.of(definition.expression, definition.library)),
      },
    ]
  }
  const libraries = definitions.libraries.flatMap(({ name, definitions: own }, index): readonly CoveredLibrary[] => {
    const shown = index === 0 ? own : own.filter(({ expression }) => seen.has(expression))
    return shown.length === 0 ? [] : [{ library: name, definitions: inOrder(shown).flatMap(definitionOf) }]
  })
  return { subjects, libraries, omitted }
}

/** Sorts definitions as in the text; the translator writes a definition before those that refer to it. */
function inOrder(definitions: readonly ElmDefinition[]): readonly ElmDefinition[] {
  const lineOf = ({ node }: ElmDefinition): number => Number.parseInt(textAt(node, 'locator') ?? '0', 10)
  return definitions.toSorted((one, other) => lineOf(one) - lineOf(other))
}

/** The counts of a clause. The translator may create several nodes from one text; the one that was evaluated for most subjects counts. */
function mostSeen(all: readonly Seen[], subjects: number): ClauseCounts {
  const counts = { true: 0, false: 0, null: 0 }
  for (const seen of all)
    if (seen.true + seen.false + seen.null > counts.true + counts.false + counts.null)
      Object.assign(counts, { true: seen.true, false: seen.false, null: seen.null })
  return { ...counts, notEvaluated: subjects - counts.true - counts.false - counts.null }
}

/** Names and constants, which are not counted as clauses. */
const NO_CLAUSES: ReadonlySet<string> = new Set([
  'Literal',
  'Null',
  'AliasRef',
  'OperandRef',
  'QueryLetRef',
  'IdentifierRef',
  'ParameterRef',
  'ValueSetRef',
  'CodeSystemRef',
  'CodeRef',
  'ConceptRef',
  'Code',
  'Concept',
  'Quantity',
])
/** Members that are not evaluated as values. */
const NO_VALUES: ReadonlySet<string> = new Set(['annotation', 'signature', 'codes', 'valueset', 'codesystem', 'resultTypeSpecifier'])

/** The clauses of an expression: its nodes that have a value, by `localId`. */
function clausesOf(expression: ElmNode): ReadonlyMap<string, readonly ElmNode[]> {
  const clauses = new Map<string, ElmNode[]>()
  const open: unknown[] = [expression]
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (Array.isArray(value)) open.push(...value.toReversed())
    if (!isNode(value)) continue
    const id = textAt(value, 'localId')
    const type = typeOf(value)
    if (id !== undefined && Object.hasOwn(NODE_COMPILERS, type) && !NO_CLAUSES.has(type)) {
      const known = clauses.get(id)
      if (known === undefined) clauses.set(id, [value])
      else known.push(value)
    }
    for (const [member, inner] of Object.entries(value).toReversed())
      if (typeof inner === 'object' && inner !== null && !NO_VALUES.has(member)) open.push(inner)
  }
  return clauses
}

/** The text of a definition in parts, each with its innermost clause. */
function sourceOf(definition: ElmDefinition, clauses: ReadonlyMap<string, unknown>, short: string): readonly SourcePart[] {
  const parts = annotatedParts(definition)
  if (parts.length === 0) return [{ text: `define "${definition.name}": ` }, { text: short, ...idAt(definition.expression, clauses) }]
  const merged: { text: string; clause?: string }[] = []
  for (const { text, ids } of parts) {
    const clause = ids.findLast((id) => clauses.has(id))
    const last = merged.at(-1)
    if (last !== undefined && last.clause === clause) last.text += text
    else merged.push({ text, ...(clause !== undefined && { clause }) })
  }
  return merged
}

function idAt(node: ElmNode, clauses: ReadonlyMap<string, unknown>): { readonly clause?: string } {
  const id = textAt(node, 'localId')
  return id === undefined || !clauses.has(id) ? {} : { clause: id }
}
