import type { MeasureReport } from 'fhir/r4.js'
import type { OperationContext } from '../context/index.js'
import type { Operation, OperationResponse } from '../operation/index.js'
import { putResource, type Indexer } from '../storage/index.js'
import { evaluateMeasure, type EvaluateMeasureOptions } from './evaluate-measure.js'
import { readEvaluate } from './read-request.js'
import { toMeasureReport } from './report.js'
import { checkOptions, FUNCTION, inputShape, type InputShape } from '../input/index.js'
import { LANGUAGES } from './languages/index.js'

/** How `$evaluate-measure` is offered. */
export interface EvaluateMeasureOperationOptions extends EvaluateMeasureOptions {
  /**
   * Store each report, with the index entries that this makes of it, and answer 201 with its location. Such a call changes data, so GET is
   * not offered then. Nothing is stored when absent.
   */
  readonly storeReports?: Indexer
}

const SHAPE: InputShape = inputShape<EvaluateMeasureOperationOptions>({
  storeReports: FUNCTION,
  languages: LANGUAGES,
})

/**
 * Makes the descriptors of `Measure/$evaluate-measure` and `Measure/<id>/$evaluate-measure`.
 *
 * @throws {TypeError} for an option that is unknown or of another type.
 * @see https://hl7.org/fhir/R4/measure-operation-evaluate-measure.html
 */
export function evaluateMeasureOperation(given: EvaluateMeasureOperationOptions = {}): Operation {
  checkOptions('evaluateMeasureOperation', SHAPE, given)
  const { storeReports, ...options } = given
  return {
    name: '$evaluate-measure',
    types: ['Measure'],
    levels: ['type', 'instance'],
    methods: storeReports === undefined ? ['GET', 'POST'] : ['POST'],
    definition: 'http://hl7.org/fhir/OperationDefinition/Measure-evaluate-measure',
    answers: 'MeasureReport',
    asynchronous: true,
    needs: { text: 'Measure.r, and .s on every type of the criteria', anyOf: [{ action: 'read', type: 'Measure' }] },
    run: async (ctx: OperationContext, request): Promise<OperationResponse> => {
      const report = toMeasureReport(await evaluateMeasure(ctx, readEvaluate(request), options))
      return storeReports === undefined ? { status: 200, resource: { ...report } } : storedReport(ctx, report, storeReports)
    },
  }
}

async function storedReport(ctx: OperationContext, report: MeasureReport, indexer: Indexer): Promise<OperationResponse> {
  ctx.authorize?.('create', 'MeasureReport')
  const { id = ctx.newId() } = report
  const results = await ctx.storage.write([putResource({ type: 'MeasureReport', id, source: { ...report }, ifVersion: null }, indexer)])
  const meta = results.map(({ versionId, lastUpdated }) => ({ ...(versionId !== undefined && { versionId }), lastUpdated }))[0]
  return { status: 201, resource: { ...report, id, meta }, location: `MeasureReport/${id}` }
}
