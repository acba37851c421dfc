import type { ClauseResources, CriterionResult, ExplainedCriterion } from 'fhir-ops/internal/explain'
import { textAt, type ElmNode } from '../elm/node.js'
import { because, MAX_NEAREST } from './reason.js'
import type { Because, ReasonScope } from './reason-scope.js'
import type { Entry, Tracer } from './trace.js'

/** What is explained. */
export interface ExplainedHead {
  readonly name: string
  readonly definition?: string
  readonly path?: string
  /** As it is written. */
  readonly expression: string
  /** Its result, from the evaluation that is reported. */
  readonly result: CriterionResult
  readonly count?: number
  /** Its value in short, where that is neither true nor false. */
  readonly shown?: string
  /** Why it has that result, where that is not for its criterion to say: a population that it is within, or excluded by. */
  readonly decided?: string
}

const MAX_RESOURCES = 20

/** Why a criterion has its result, by what was written down while its expression was evaluated. */
export function explainedCriterion(head: ExplainedHead, root: ElmNode | undefined, scope: ReasonScope): ExplainedCriterion {
  const { decided, shown: _, ...own } = head
  const entry = root === undefined ? undefined : scope.tracer.firstOf(root)
  const start = titleOf(head)
  if (entry === undefined)
    return { ...own, reason: `${start}${decided === undefined ? '' : ` because ${decided}`}.`, nearest: [], steps: [], evaluated: [] }
  const found = because(entry, scope)
  const { nearest, steps } = found
  const evaluated = readBy(entry, scope)
  if (decided !== undefined) return { ...own, reason: `${start} because ${decided}.`, nearest: [], steps, evaluated }
  return { ...own, reason: sentence(start, found), nearest: nearest.slice(0, MAX_NEAREST), steps, evaluated }
}

const RESULTS: Readonly<Record<CriterionResult, string>> = {
  true: 'is true',
  false: 'is false',
  unknown: 'is unknown',
  value: 'has a value',
  'not-applicable': 'does not apply',
  failed: 'could not be evaluated',
}

/** `Denominator exclusion is false`; the name of a definition as it is. */
export function titleOf({ name, result, shown }: Pick<ExplainedHead, 'name' | 'result' | 'shown'>): string {
  const title = /^[a-z][a-z0-9-]{0,40}$/.test(name) ? `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('-', ' ')}` : `"${name}"`
  return `${title} ${shown === undefined ? RESULTS[result] : `is ${shown}`}`
}

/** The outermost node that decides, the innermost, and what that is about; that something is empty is said by what it is about. */
function sentence(start: string, { links, detail }: Because): string {
  const said = detail === '' ? links : links.filter((link, index) => index === 0 || !/ is (?:an empty list|not empty)$/.test(link))
  const first = said[0]
  const last = said.length > 1 ? said.at(-1) : undefined
  const parts = [first, last === first ? undefined : last, detail].filter((part) => part !== undefined && part !== '')
  return parts.length === 0 ? `${start}.` : `${start} because ${parts.join(': ')}.`
}

/** What the retrieves within a criterion found, clause by clause; of definitions that it refers to as well. */
function readBy(entry: Entry, { tracer, texts, definitions }: ReasonScope): readonly ClauseResources[] {
  const nodes = reached(entry.of.node, entry.of.library, tracer, definitions)
  return [...tracer.reads].flatMap(([{ node, library }, { references, total }]) => {
    if (!nodes.has(node)) return []
    const locator = textAt(node, 'locator')
    const name = definitions.libraries.find(({ id }) => id === library)?.name
    return [
      {
        clause: texts.of(node, library),
        ...(name !== undefined && { library: name }),
        ...(locator !== undefined && { locator }),
        resources: [...references].slice(0, MAX_RESOURCES),
        total,
      },
    ]
  })
}

/** The nodes of an expression, and of what it refers to, as far as that was evaluated. */
function reached(root: ElmNode, library: string, tracer: Tracer, definitions: ReasonScope['definitions']): ReadonlySet<unknown> {
  const known = new Set<unknown>()
  const open: { readonly value: unknown; readonly library: string }[] = [{ value: root, library }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value } = next
    if (typeof value !== 'object' || value === null || known.has(value)) continue
    known.add(value)
    for (const [member, inner] of Object.entries(value))
      if (member !== 'annotation' && member !== 'resultTypeSpecifier') open.push({ value: inner, library: next.library })
    const node: ElmNode = { ...value }
    const target = node['type'] === 'ExpressionRef' || node['type'] === 'FunctionRef' ? definitions.referred(node, next.library) : undefined
    if (target !== undefined && tracer.firstOf(target) !== undefined)
      open.push({ value: target, library: definitions.ofRoot(target)?.library ?? next.library })
  }
  return known
}
