import {
  type ClauseResources,
  type CriterionResult,
  type ExplainedCriterion,
  explainCriteria,
  type Explain,
} from 'fhir-ops/internal/explain'
import { type ElmNode, textAt } from '../elm/node.js'
import { MAX_NEAREST, because } from './reason.js'
import type { Because, ReasonScope } from './reason-scope.js'
import type { Entry, Tracer } from './trace.js'
import type { Criterion } from 'fhir-ops/internal/evaluate'
import { OperationError } from 'fhir-ops/errors'
import { compiledCriterion } from '../measure/criterion.js'
import type { Prepared } from '../measure/prepare.js'
import { type Value, isList } from '../values/value.js'
import { quote } from './comparison.js'
import { cut } from './clause-text.js'
import { shownValue } from './shown-value.js'
import type { NodeTrace } from '../compile/compiler.js'
import type { Records } from '../data/records.js'
import type { RetrieverOptions } from '../data/retrieve.js'
import type { LoadedLibrary } from '../libraries/content.js'
import type { EvaluationOptions } from '../libraries/evaluate.js'
import type { CqlLibrary } from '../libraries/library.js'
import { createObserver } from './observer.js'

/** A criterion to explain. */
interface ExplainedHead extends Pick<ExplainedCriterion, 'count' | 'definition' | 'expression' | 'name' | 'path' | 'result'> {
  /** Its value in short, if it is neither true nor false. */
  readonly shown?: string
  /** The reason for the result, if another criterion decides it: a population that contains or excludes this one. */
  readonly decided?: string
}

const MAX_RESOURCES = 20

/** Explains the result of a criterion from the trace of its evaluation. */
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

/** The start of a sentence: `Denominator exclusion is false`. The name of a definition is written as it is. */
function titleOf({ name, result, shown }: Pick<ExplainedHead, 'name' | 'result' | 'shown'>): string {
  const title = /^[a-z][a-z0-9-]{0,40}$/.test(name) ? `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('-', ' ')}` : `"${name}"`
  return `${title} ${shown === undefined ? RESULTS[result] : `is ${shown}`}`
}

/** A sentence with the outermost and the innermost deciding node, and the detail of the latter. Nodes that are only empty are left out if there is a detail. */
function sentence(start: string, { links, detail }: Because): string {
  const said = detail === '' ? links : links.filter((link, index) => index === 0 || !/ is (?:an empty list|not empty)$/.test(link))
  const first = said[0]
  const last = said.length > 1 ? said.at(-1) : undefined
  const parts = [first, last === first ? undefined : last, detail].filter((part) => part !== undefined && part !== '')
  return parts.length === 0 ? `${start}.` : `${start} because ${parts.join(': ')}.`
}

/** The resources that the retrieves of a criterion, and of definitions that it refers to, found; by clause. */
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

/** The nodes of an expression, and of the definitions that it refers to, that were evaluated. */
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

/** A criterion in FHIRPath. */
interface PathCriterion {
  readonly population: Criterion
  readonly prepared: Prepared
  readonly reasons: ReasonScope
}

/** Explains the result of a criterion in FHIRPath: the first of the parts joined by `and` that does not hold. */
export function pathReason(head: ExplainedHead, { population, prepared, reasons }: PathCriterion): ExplainedCriterion {
  const { decided, ...own } = head
  const parts = conjuncts(population.expression).map((expression) => ({
    expression,
    value: valueOf({ ...population, expression }, prepared, reasons),
  }))
  const deciding = head.result === 'true' ? undefined : parts.find(({ value }) => !holds(value))
  const shown = deciding ?? { expression: population.expression, value: valueOf(population, prepared, reasons) }
  const because =
    decided ??
    `${quote(cut(shown.expression))} is ${shown.value === undefined ? 'not evaluable' : shownValue(shown.value, reasons.context)}`
  const steps = parts.map(({ expression, value }) => {
    const result = value === undefined ? 'failed' : shownValue(value, reasons.context)
    return { kind: 'clause', result, text: `${quote(cut(expression))} is ${result}.` } as const
  })
  return { ...own, reason: `${titleOf(head)} because ${because}.`, nearest: [], steps, evaluated: [] }
}

function valueOf(criterion: Criterion, prepared: Prepared, { evaluation }: ReasonScope): Value | undefined {
  try {
    return compiledCriterion(criterion, prepared).ofSubject?.(evaluation) ?? null
  } catch (error) {
    if (error instanceof OperationError) return undefined
    throw error
  }
}

function holds(value: Value | undefined): boolean {
  return value !== undefined && value !== null && value !== false && !(isList(value) && value.length === 0)
}

/** The parts that a path joins by `and`, outside of strings and brackets; the whole path if it has an operator of lower precedence. */
function conjuncts(path: string): readonly string[] {
  const parts: string[] = []
  let [depth, from, quoteMark] = [0, 0, '']
  for (let at = 0; at < path.length; at++) {
    const character = path.charAt(at)
    if (quoteMark !== '') {
      if (character === '\\') at++
      else if (character === quoteMark) quoteMark = ''
    } else if (character === "'" || character === '`' || character === '"') quoteMark = character
    else if ('([{'.includes(character)) depth++
    else if (')]}'.includes(character)) depth--
    else if (depth === 0 && character === ' ') {
      const word = /^ {1,9}(and|or|xor|implies)\b/.exec(path.slice(at, at + 20))
      if (word === null) continue
      if (word[1] !== 'and') return [path]
      parts.push(path.slice(from, at).trim())
      from = at + word[0].length
    }
  }
  return [...parts, path.slice(from).trim()]
}

/** Definitions that were evaluated. */
interface EvaluatedDefinitions {
  readonly names: readonly string[]
  readonly values: ReadonlyMap<string, Value>
  readonly failures: ReadonlyMap<string, OperationError>
  readonly loaded: LoadedLibrary
  readonly records: Records
  readonly retriever: RetrieverOptions
  readonly options: Omit<EvaluationOptions, 'retrieve'>
  /** Compiles the library again, with the terminology already loaded. */
  readonly compile: (trace: NodeTrace) => CqlLibrary
}

/** Explains the values of definitions, one by one, with a second, traced compilation. */
export async function explainDefinitions(explain: Explain, evaluated: EvaluatedDefinitions): Promise<void> {
  const { names, loaded, records, retriever, options } = evaluated
  const observer = createObserver([loaded], retriever)
  const library = evaluated.compile(observer.trace)
  const reasons = observer.reasons(options, records)
  for (const name of names) {
    const compute = library.definition(name)?.compute
    if (compute !== undefined) await records.evaluate(() => withoutFailure(() => compute(reasons.evaluation)))
  }
  observer.counter.endSubject()
  const criteria = await observer.explain(reasons, records, () => names.map((name) => explainedDefinition(name, evaluated, reasons)))
  explainCriteria(explain, { criteria, source: observer.counter.coverage(reasons.definitions) })
}

/** Ignores run-time errors of CQL: the explained evaluation had the same, and reports them. */
function withoutFailure(evaluate: () => Value): void {
  try {
    evaluate()
  } catch (error) {
    if (!(error instanceof OperationError) || error.code !== 'unprocessable') throw error
  }
}

function explainedDefinition(name: string, { values, failures }: EvaluatedDefinitions, reasons: ReasonScope): ExplainedCriterion {
  const library = reasons.definitions.libraries[0]
  const root = library?.definitions.find((definition) => definition.name === name)?.expression
  const failure = failures.get(name)
  const value = values.get(name) ?? null
  const head = {
    name,
    ...(library !== undefined && { definition: library.name }),
    expression: root === undefined || library === undefined ? name : reasons.texts.of(root, library.id),
    result: failure === undefined ? resultOf(value) : 'failed',
    ...(value !== null && typeof value !== 'boolean' && { shown: shownValue(value, reasons.context) }),
    ...(isList(value) && { count: value.length }),
    ...(failure !== undefined && { decided: failure.message.replace(/\.$/, '') }),
  } as const
  return explainedCriterion(head, root, reasons)
}

function resultOf(value: Value): CriterionResult {
  if (value === null) return 'unknown'
  return typeof value === 'boolean' ? (value ? 'true' : 'false') : 'value'
}
