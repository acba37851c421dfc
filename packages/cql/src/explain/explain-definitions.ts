import { explainCriteria, type CriterionResult, type Explain, type ExplainedCriterion } from 'fhir-ops/internal/explain'
import type { NodeTrace } from '../compile/compiler.js'
import type { Records } from '../data/records.js'
import type { RetrieverOptions } from '../data/retrieve.js'
import type { LoadedLibrary } from '../libraries/content.js'
import type { EvaluationOptions } from '../libraries/evaluate.js'
import type { CqlLibrary } from '../libraries/library.js'
import { OperationError } from 'fhir-ops/errors'
import { isList, type Value } from '../values/value.js'
import { explainedCriterion } from './explain-criteria.js'
import { createObserver } from './observer.js'
import type { ReasonScope } from './reason-scope.js'
import { shownValue } from './shown-value.js'

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
