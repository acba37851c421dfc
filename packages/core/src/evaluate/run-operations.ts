import type { MeasureReport } from 'fhir/r4.js'
import { canonicalOf } from '../content/index.js'
import { createPace, type OperationContext } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import type { JsonObject } from '../json/index.js'
import { storedInstance, type Operation, type OperationRequest, type OperationResponse } from '../operation/index.js'
import { parameterReader, type ParameterReader } from '../parameters/index.js'
import { puttingResource, type Indexer } from '../storage/index.js'
import { collectData, parametersTexts, toParameters, type CollectDataInput } from './collect/collect-data.js'
import { manifestOf, pinnedVersions } from './find-measure.js'
import { measureOf, referenceAt, required, readEvaluate } from './read-request.js'
import { dataRequirements, toLibrary, type DataRequirementsInput, type DataRequirementsOptions } from './requirements/data-requirements.js'
import { evaluateMeasure, type EvaluateMeasureOptions } from './evaluate-measure.js'
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

/** Returns the function that runs `$data-requirements` on a type. */
export function dataRequirementsRun(type: 'Library' | 'Measure', options: DataRequirementsOptions): Operation['run'] {
  const read = async (ctx: OperationContext, request: OperationRequest): Promise<DataRequirementsInput> =>
    type === 'Measure' ? readMeasure(request) : readLibrary(ctx, request)
  return async (ctx, request) => {
    const input = await read(ctx, request)
    return { status: 200, resource: { ...toLibrary(await dataRequirements(ctx, input, options)) } }
  }
}

function readMeasure(request: OperationRequest): DataRequirementsInput {
  const reader = parameterReader(request.parameters)
  const input = measureAndPeriod(reader, request)
  reader.refuseUnknown()
  return input
}

/** The inputs that both operations have. */
function measureAndPeriod(
  reader: ParameterReader,
  request: OperationRequest,
): Pick<CollectDataInput, 'manifest' | 'measure' | 'periodStart' | 'periodEnd'> {
  return {
    measure: measureOf(reader, request),
    periodStart: required(reader, 'periodStart'),
    periodEnd: required(reader, 'periodEnd'),
    manifest: reader.text('manifest'),
  }
}

async function readLibrary(ctx: OperationContext, request: OperationRequest): Promise<DataRequirementsInput> {
  const reader = parameterReader(request.parameters)
  reader.refuse('target', 'parameters', 'identifier')
  const [url, given] = [reader.text('url', 'canonical'), reader.resource('library')]
  const [definitions, manifest] = [reader.texts('expression'), reader.text('manifest')]
  reader.refuseUnknown()
  const named = [request.id, url, given].filter((one) => one !== undefined)
  if (named.length !== 1)
    throw new OperationError(
      named.length === 0 ? 'parameter-required' : 'parameter-invalid',
      'The Library is named by its id in the path, by url, or given as library: by one of these.',
      { expression: ['url'] },
    )
  const library = given ?? (await storedLibrary(ctx, request, { canonical: url ?? '', manifest }))
  return { library, manifest, ...(definitions.length > 0 && { definitions }) }
}

async function storedLibrary(
  ctx: OperationContext,
  request: OperationRequest,
  { canonical, manifest }: { readonly canonical: string; readonly manifest: string | undefined },
): Promise<JsonObject> {
  const stored = await storedInstance(ctx, request)
  if (stored !== undefined) return stored.resource
  ctx.authorize?.('read', 'Library')
  const { url, version } = canonicalOf(canonical)
  const found = await ctx.content.resolve('Library', url, version ?? pinnedVersions([[await manifestOf(ctx, manifest)]]).of(url))
  if (found !== undefined) return found.resource
  throw new OperationError('not-found', `Library ${quoted(canonical)} does not exist.`, {
    expression: ['url'],
    missing: { kind: 'Library', name: canonical },
  })
}

/** Returns the function that runs `$collect-data`. */
export function collectDataRun(options: DataRequirementsOptions): Operation['run'] {
  return async (ctx, request) => ({ status: 200, resource: toParameters(await collectData(ctx, readCollect(request), options)) })
}

/** Like `collectDataRun`, with the answer as text. */
export function collectDataWrite(options: DataRequirementsOptions): NonNullable<Operation['write']> {
  return async (ctx, request) => ({ status: 200, text: parametersTexts(await collectData(ctx, readCollect(request), options)) })
}

function readCollect(request: OperationRequest): CollectDataInput {
  const reader = parameterReader(request.parameters)
  const input = {
    ...measureAndPeriod(reader, request),
    subject: referenceAt(reader, 'subject'),
    practitioner: referenceAt(reader, 'practitioner'),
    lastReceivedOn: reader.text('lastReceivedOn'),
  }
  reader.refuseUnknown()
  return input
}
