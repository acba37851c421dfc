import type { MeasureReport } from 'fhir/r4.js'
import type { OperationContext } from '../context/index.js'
import type { OperationResponse } from '../operation/index.js'
import { putResource, type Indexer } from '../storage/index.js'

/**
 * Stores a report under its id.
 *
 * @returns 201 with the report as stored, and its place.
 */
export async function storeReport(ctx: OperationContext, report: MeasureReport, indexer: Indexer): Promise<OperationResponse> {
  ctx.authorize?.('create', 'MeasureReport')
  const { id = ctx.newId() } = report
  const results = await ctx.storage.write([putResource({ type: 'MeasureReport', id, source: { ...report }, ifVersion: null }, indexer)])
  const meta = results.map(({ versionId, lastUpdated }) => ({ ...(versionId !== undefined && { versionId }), lastUpdated }))[0]
  return { status: 201, resource: { ...report, id, meta }, location: `MeasureReport/${id}` }
}
