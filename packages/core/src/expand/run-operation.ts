import { createPace, type Limits, type OperationContext } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import type { JsonObject } from '../json/index.js'
import type { OperationRequest, OperationResponse, WrittenResponse } from '../operation/index.js'
import { parameterReader, type ParameterReader } from '../parameters/index.js'
import { readLanguages, readTerminologyCall, readValueSetName, readVersionRules } from '../terminology/index.js'
import { expand, expandToText, openExpansion } from './expand.js'
import type { ExpandInput } from './input.js'
import { toContains, valueSetWith, writingValueSet } from './result.js'

/** Runs `$expand`. @throws {OperationError} as `readExpandInput` and `expand`. */
export async function runExpand(base: OperationContext, request: OperationRequest): Promise<OperationResponse> {
  const { ctx, input } = await readTerminologyCall(base, request, readExpandInput, readLimits)
  const writing = writingValueSet(await expand(ctx, input))
  return { status: 200, resource: { ...(await createPace(ctx).run(writing)) } }
}

/** As `runExpand`, but returns JSON text. @throws {OperationError} as `runExpand`. */
export async function writeExpand(base: OperationContext, request: OperationRequest): Promise<WrittenResponse> {
  const { ctx, input } = await readTerminologyCall(base, request, readExpandInput, readLimits)
  return { status: 200, text: await expandToText(ctx, input) }
}

/** As `runExpand`, but streams the result line by line. @throws {OperationError} as `runExpand`; `parameter-unsupported` for `_explain`. */
export async function streamExpand(base: OperationContext, request: OperationRequest): Promise<AsyncIterable<JsonObject>> {
  parameterReader(request.parameters).refuse('_explain')
  const { ctx, input } = await readTerminologyCall(base, request, readExpandInput, readLimits)
  return lines(ctx, input)
}

/** The parameter `limit` of the terminology ecosystem can only lower `maxExpansion`. */
function readLimits({ limits }: OperationContext, reader: ParameterReader): Partial<Limits> {
  return { maxExpansion: Math.min(limits.maxExpansion, reader.count('limit') ?? Infinity) }
}

/** Yields the ValueSet without its codes, then the codes. */
async function lines(ctx: OperationContext, input: ExpandInput): Promise<AsyncIterable<JsonObject>> {
  const { entries, ...frame } = await openExpansion(ctx, input)
  return (async function* all() {
    yield { ...valueSetWith(frame, []) }
    for await (const entry of entries) yield { ...toContains(entry) }
  })()
}

/**
 * Reads the inputs of `$expand`.
 *
 * @throws {OperationError} as `readValueSetName`; `parameter-value` and `parameter-invalid` for malformed inputs; `parameter-unsupported` for `date`.
 */
async function readExpandInput(ctx: OperationContext, request: OperationRequest, reader: ParameterReader): Promise<ExpandInput> {
  reader.refuse('date')
  readDirection(reader)
  return {
    ...(await readValueSetName(ctx, request, reader)),
    filter: blankIsNone(reader.freeText('filter')),
    tolerateTypo: reader.boolean('_tolerateTypo'),
    offset: reader.count('offset'),
    count: reader.count('count'),
    activeOnly: reader.boolean('activeOnly'),
    excludeNotForUI: reader.boolean('excludeNotForUI'),
    excludePostCoordinated: reader.boolean('excludePostCoordinated'),
    excludeNested: reader.boolean('excludeNested'),
    includeDesignations: reader.boolean('includeDesignations'),
    includeDefinition: reader.boolean('includeDefinition'),
    designations: reader.texts('designation'),
    properties: reader.texts('property'),
    excludeSystems: reader.texts('exclude-system'),
    useSupplement: reader.texts('useSupplement'),
    ...readLanguages(reader, request),
    rules: readVersionRules(reader),
    explain: reader.boolean('_explain'),
  }
}

/** Checks `contextDirection`, which has no effect: a binding is the same in both directions. */
function readDirection(reader: ParameterReader): void {
  const direction = reader.text('contextDirection')
  if (direction === undefined || direction === 'incoming' || direction === 'outgoing') return
  throw new OperationError('parameter-value', `Parameter 'contextDirection' must be incoming or outgoing, not ${quoted(direction)}.`, {
    expression: [reader.expressionOf('contextDirection')],
  })
}

function blankIsNone(filter: string | undefined): string | undefined {
  return filter === undefined || filter.trim() === '' ? undefined : filter
}
