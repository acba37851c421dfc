import type { NodeTrace, RetrieveRequest } from '../compile/compiler.js'
import type { Records } from '../data/records.js'
import type { RetrieverOptions } from '../data/retrieve.js'
import type { LoadedLibrary } from '../libraries/content.js'
import { createEvaluation, type EvaluationOptions } from '../libraries/evaluate.js'
import { clauseTexts } from './clause-text.js'
import { clauseCounter, type ClauseCounter } from './coverage.js'
import { elmDefinitions } from './elm-libraries.js'
import type { ReasonScope } from './reason-scope.js'
import { createTracer } from './trace.js'

/** Maximum number of steps of all reasons in one explanation. */
const MAX_REASON_STEPS = 5_000

/** Observes an evaluation in order to explain it. */
interface EvaluationObserver {
  /** Trace for the second compilation. */
  readonly trace: NodeTrace
  readonly counter: ClauseCounter
  /** Creates the scope for finding reasons, over the records of the first evaluation. */
  reasons(options: Omit<EvaluationOptions, 'retrieve'>, records: Records): ReasonScope
  /** Finds reasons. Near misses may need parts that were not evaluated, and therefore resources that were not read: then `find` is called again. */
  explain<T>(scope: ReasonScope, records: Records, find: () => T): Promise<T>
}

/** Creates the observer of the evaluation of one subject with these libraries. */
export function createObserver(libraries: readonly LoadedLibrary[], options: RetrieverOptions): EvaluationObserver {
  const definitions = elmDefinitions(libraries)
  const [tracer, counter] = [createTracer(definitions.roots), clauseCounter()]
  return {
    counter,
    trace: (compute, node, scope, library) => tracer.trace(counter.trace(compute, node, scope, library), node, scope, library),
    reasons: (own, records) => {
      const retrieve = (request: RetrieveRequest): ReturnType<Records['retrieve']> => records.retrieve(request)
      const evaluation = createEvaluation({
        ...own,
        retrieve: (request) => {
          const found = retrieve(request)
          tracer.retrieved(request, found)
          return found
        },
      })
      return {
        tracer,
        definitions,
        evaluation,
        texts: clauseTexts(definitions),
        context: options,
        options,
        retrieve,
        left: { steps: MAX_REASON_STEPS },
      }
    },
    explain: async (scope, records, find) =>
      await records.evaluate(() => {
        scope.left.steps = MAX_REASON_STEPS
        return find()
      }),
  }
}
