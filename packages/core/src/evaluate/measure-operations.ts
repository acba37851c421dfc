import { canonicalOf } from '../content/index.js'
import type { OperationContext } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import type { JsonObject } from '../json/index.js'
import { storedInstance, type Operation, type OperationRequest } from '../operation/index.js'
import { parameterReader } from '../parameters/index.js'
import { collectData, parametersTexts, toParameters, type CollectDataInput } from './collect/collect-data.js'
import { measureOf, referenceAt, required } from './read-request.js'
import { evaluateMeasureOperation, type EvaluateMeasureOperationOptions } from './operation.js'
import { dataRequirements, toLibrary, type DataRequirementsInput, type DataRequirementsOptions } from './requirements/data-requirements.js'

/**
 * Makes every operation of Measures, and those of Libraries that answer for them, with the same languages: `$evaluate-measure`,
 * `$data-requirements` and `$collect-data`. A handler has `$submit-data` by itself.
 *
 * @throws {TypeError} for an option that is unknown or of another type.
 */
export function measureOperations(options: EvaluateMeasureOperationOptions = {}): readonly Operation[] {
  const own = options.languages === undefined ? {} : { languages: options.languages }
  return [evaluateMeasureOperation(options), ...dataRequirementsOperations(own), collectDataOperation(own)]
}

/**
 * `Measure/$data-requirements` and `Library/$data-requirements`.
 *
 * @see https://hl7.org/fhir/R4/measure-operation-data-requirements.html
 * @see https://hl7.org/fhir/R4/library-operation-data-requirements.html
 */
function dataRequirementsOperations(options: DataRequirementsOptions): readonly Operation[] {
  return [operationOf('Measure', async (_, request) => readMeasure(request), options), operationOf('Library', readLibrary, options)]
}

type ReadInput = (ctx: OperationContext, request: OperationRequest) => Promise<DataRequirementsInput>

function operationOf(type: 'Library' | 'Measure', read: ReadInput, options: DataRequirementsOptions): Operation {
  return {
    name: '$data-requirements',
    types: [type],
    levels: ['type', 'instance'],
    methods: ['GET', 'POST'],
    definition: `http://hl7.org/fhir/OperationDefinition/${type}-data-requirements`,
    answers: 'Library',
    ...(type === 'Library' && { resourceParameter: 'library' }),
    needs: { text: `${type}.r, and .r on the definitions that it uses`, anyOf: [{ action: 'read', type }] },
    run: async (ctx, request) => {
      const input = await read(ctx, request)
      return { status: 200, resource: { ...toLibrary(await dataRequirements(ctx, input, options)) } }
    },
  }
}

function readMeasure(request: OperationRequest): DataRequirementsInput {
  const reader = parameterReader(request.parameters)
  const input = {
    measure: measureOf(reader, request),
    periodStart: required(reader, 'periodStart'),
    periodEnd: required(reader, 'periodEnd'),
  }
  reader.refuseUnknown()
  return input
}

async function readLibrary(ctx: OperationContext, request: OperationRequest): Promise<DataRequirementsInput> {
  const reader = parameterReader(request.parameters)
  reader.refuse('target', 'parameters', 'identifier')
  const [url, given] = [reader.text('url', 'canonical'), reader.resource('library')]
  const definitions = reader.texts('expression')
  reader.refuseUnknown()
  const named = [request.id, url, given].filter((one) => one !== undefined)
  if (named.length !== 1)
    throw new OperationError(
      named.length === 0 ? 'parameter-required' : 'parameter-invalid',
      'The Library is named by its id in the path, by url, or given as library: by one of these.',
      { expression: ['url'] },
    )
  const library = given ?? (await storedLibrary(ctx, request, url ?? ''))
  return { library, ...(definitions.length > 0 && { definitions }) }
}

async function storedLibrary(ctx: OperationContext, request: OperationRequest, canonical: string): Promise<JsonObject> {
  const stored = await storedInstance(ctx, request)
  if (stored !== undefined) return stored.resource
  ctx.authorize?.('read', 'Library')
  const { url, version } = canonicalOf(canonical)
  const found = await ctx.content.resolve('Library', url, version)
  if (found !== undefined) return found.resource
  throw new OperationError('not-found', `Library ${quoted(canonical)} does not exist.`, {
    expression: ['url'],
    missing: { kind: 'Library', name: canonical },
  })
}

/** `Measure/$collect-data`. @see https://hl7.org/fhir/R4/measure-operation-collect-data.html */
function collectDataOperation(options: DataRequirementsOptions): Operation {
  return {
    name: '$collect-data',
    types: ['Measure'],
    levels: ['type', 'instance'],
    methods: ['GET', 'POST'],
    definition: 'http://hl7.org/fhir/OperationDefinition/Measure-collect-data',
    answers: 'Parameters',
    asynchronous: true,
    needs: { text: 'Measure.r, and .s on every type that the Measure looks at', anyOf: [{ action: 'read', type: 'Measure' }] },
    run: async (ctx, request) => ({ status: 200, resource: toParameters(await collectData(ctx, readCollect(request), options)) }),
    write: async (ctx, request) => ({ status: 200, text: parametersTexts(await collectData(ctx, readCollect(request), options)) }),
  }
}

function readCollect(request: OperationRequest): CollectDataInput {
  const reader = parameterReader(request.parameters)
  const input = {
    measure: measureOf(reader, request),
    periodStart: required(reader, 'periodStart'),
    periodEnd: required(reader, 'periodEnd'),
    subject: referenceAt(reader, 'subject'),
    practitioner: referenceAt(reader, 'practitioner'),
    lastReceivedOn: reader.text('lastReceivedOn'),
  }
  reader.refuseUnknown()
  return input
}
