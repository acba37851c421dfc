import type { MeasureReport } from 'fhir/r4.js'
import { createPace, type OperationContext } from '../context/index.js'
import type { Operation, OperationResponse } from '../operation/index.js'
import { puttingResource, type Indexer } from '../storage/index.js'
import { evaluateMeasure, type EvaluateMeasureOptions } from './evaluate-measure.js'
import { readEvaluate } from './read-request.js'
import { toMeasureReport } from './report.js'

/** Returns the function that runs `$evaluate-measure`. @param storeReports Indexes the reports that are stored; when absent, none is stored. */
export function evaluateMeasureRun(options: EvaluateMeasureOptions, storeReports: Indexer | undefined): Operation['run'] {
  return async (ctx, request) => {
    const report = toMeasureReport(await evaluateMeasure(ctx, readEvaluate(request), options))
    return storeReports === undefined ? { status: 200, resource: { ...report } } : storeReport(ctx, report, storeReports)
  }
}

async function storeReport(ctx: OperationContext, report: MeasureReport, indexer: Indexer): Promise<OperationResponse> {
  ctx.authorize?.('create', 'MeasureReport')
  const { id = ctx.newId() } = report
  const put = puttingResource({ type: 'MeasureReport', id, source: { ...report }, ifVersion: null }, indexer)
  const results = await ctx.storage.write([await createPace(ctx).run(put)])
  const meta = results.map(({ versionId, lastUpdated }) => ({ ...(versionId !== undefined && { versionId }), lastUpdated }))[0]
  return { status: 201, resource: { ...report, id, meta }, location: `MeasureReport/${id}` }
}
