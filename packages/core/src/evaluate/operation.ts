import type { OperationContext } from '../context/index.js'
import type { Operation, OperationResponse } from '../operation/index.js'
import type { Indexer } from '../storage/index.js'
import { evaluateMeasure, type EvaluateOptions } from './evaluate-measure.js'
import { readEvaluate } from './input.js'
import { storeReport } from './store-report.js'

/** How `$evaluate-measure` is offered. */
export interface EvaluateOperationOptions extends EvaluateOptions {
  /**
   * Store each report, found by what this makes of it, and answer 201 with its place. Such a call changes something, so GET is not
   * offered then. Nothing is stored when absent.
   */
  readonly storeReports?: Indexer
}

/** Makes `Measure/$evaluate-measure` and `Measure/<id>/$evaluate-measure` (INTERFACE.md 4.8). */
export function createEvaluateMeasureOperation({ storeReports, ...options }: EvaluateOperationOptions = {}): Operation {
  return {
    name: '$evaluate-measure',
    types: ['Measure'],
    levels: ['type', 'instance'],
    methods: storeReports === undefined ? ['GET', 'POST'] : ['POST'],
    definition: 'http://hl7.org/fhir/OperationDefinition/Measure-evaluate-measure',
    needs: { text: 'Measure.r, and .s on every type of the criteria', anyOf: [{ action: 'read', type: 'Measure' }] },
    run: async (ctx: OperationContext, request): Promise<OperationResponse> => {
      const report = await evaluateMeasure(ctx, readEvaluate(request), options)
      return storeReports === undefined ? { status: 200, resource: { ...report } } : storeReport(ctx, report, storeReports)
    },
  }
}

/** The operation as it is by default: nothing is stored. */
export const evaluateMeasureOperation: Operation = createEvaluateMeasureOperation()
