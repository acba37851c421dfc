import type { OperationOutcome, Parameters, ParametersParameter } from 'fhir/r4.js'
import type { OperationContext } from 'fhir-ops/context'
import { canonicalOf } from 'fhir-ops/internal/content'
import { manifestOf, pinnedVersions } from 'fhir-ops/internal/evaluate'
import { OperationError, outcomeOf } from 'fhir-ops/errors'
import { quoted } from 'fhir-ops/internal/errors'
import { criteriaItems, explanationParameter } from 'fhir-ops/internal/explain'
import type { Operation, OperationRequest, OperationResponse } from 'fhir-ops/operation'
import { parameterReader, parametersOf, type ParameterReader } from 'fhir-ops/internal/parameters'
import type { EvaluationMessage } from '../compile/compiler.js'
import { nodesAt, nodeAt } from '../elm/node.js'
import type { LibraryResource } from '../libraries/find-library.js'
import { toParameterEntries } from '../results/parameters.js'
import {
  CQL_OPTIONS,
  evaluateCql,
  type EvaluateCqlInput,
  type EvaluateCqlOptions,
  type EvaluateCqlResult,
  type IncludedLibrary,
} from './evaluate-cql.js'
import { readCqlParameters } from './read-parameters.js'
import { checkOptions } from 'fhir-ops/internal/input'

const IG = 'http://hl7.org/fhir/uv/cql/OperationDefinition'
const NEEDS = { text: 'a token; reading and searching what the library uses', anyOf: [] }

/** Parameters of the implementation guide that are not supported. */
const REFUSED = ['dataEndpoint', 'contentEndpoint', 'terminologyEndpoint', 'prefetchData']

/**
 * Creates `$cql` and `Library/$evaluate` (Using CQL with FHIR), for the handler's option `operations`.
 *
 * @throws {TypeError} for an option that is unknown or of another type.
 * @see https://hl7.org/fhir/uv/cql/operations.html
 */
export function cqlOperations(options: EvaluateCqlOptions = {}): readonly Operation[] {
  checkOptions('cqlOperations', CQL_OPTIONS, options)
  const offset = options.offset ?? 0
  return [
    {
      name: '$cql',
      types: [],
      levels: ['system'],
      methods: ['GET', 'POST'],
      definition: `${IG}/cql-cql`,
      answers: 'Parameters',
      needs: NEEDS,
      asynchronous: true,
      run: async (ctx, request) => {
        const reader = parameterReader(request.parameters)
        const expression = reader.freeText('expression')
        if (expression === undefined)
          throw new OperationError('parameter-required', 'Parameter expression is missing.', { expression: ['expression'] })
        const includes = await includedLibraries(ctx, reader)
        return await answer(ctx, request, reader, { input: { expression, includes, ...common(reader, offset) }, options })
      },
    },
    {
      name: '$evaluate',
      types: ['Library'],
      levels: ['type', 'instance'],
      methods: ['GET', 'POST'],
      definition: `${IG}/cql-library-evaluate`,
      answers: 'Parameters',
      needs: NEEDS,
      asynchronous: true,
      run: async (ctx, request) => {
        const reader = parameterReader(request.parameters)
        const library = await evaluatedLibrary(ctx, request, reader)
        const definitions = reader.texts('expression')
        const input = { library, ...(definitions.length > 0 && { definitions }), ...common(reader, offset) }
        return await answer(ctx, request, reader, { input, options })
      },
    },
  ]
}

function common(
  reader: ParameterReader,
  offset: number,
): Pick<EvaluateCqlInput, 'subject' | 'parameters' | 'data' | 'useServerData' | 'explain' | 'manifest'> {
  reader.refuse(...REFUSED)
  const useServerData = reader.boolean('useServerData')
  if (useServerData === false && reader.all('data').length === 0)
    throw new OperationError('parameter-invalid', 'Parameter data is needed when useServerData is false.', {
      expression: ['useServerData'],
    })
  const given = reader.resource('parameters')
  const data = reader.resource('data')
  return {
    subject: reader.text('subject'),
    manifest: reader.text('manifest'),
    explain: reader.boolean('_explain'),
    ...(given !== undefined && { parameters: readCqlParameters(parametersOf(given, 'parameters'), offset) }),
    ...(data !== undefined && { data: resourcesIn(data), useServerData }),
  }
}

/** @throws {OperationError} `parameter-value` for any other resource, which would count as no data. */
function resourcesIn(bundle: LibraryResource): readonly LibraryResource[] {
  if (bundle['resourceType'] !== 'Bundle')
    throw new OperationError('parameter-value', 'Parameter data must be a Bundle.', { expression: ['data'] })
  return nodesAt(bundle, 'entry')
    .map((entry) => nodeAt(entry, 'resource'))
    .filter((resource) => resource !== undefined)
}

async function answer(
  ctx: OperationContext,
  request: OperationRequest,
  reader: ParameterReader,
  call: { readonly input: EvaluateCqlInput; readonly options: EvaluateCqlOptions },
): Promise<OperationResponse> {
  if (request.strict) reader.refuseUnknown()
  const result = await evaluateCql(ctx, call.input, call.options)
  return { status: 200, resource: { ...parametersWith(result, ctx) } }
}

/** The results, followed by errors and messages of `Message`, as OperationOutcomes. */
function parametersWith({ values, failures, messages, explanation }: EvaluateCqlResult, ctx: OperationContext): Parameters {
  const results = [...values].flatMap(([name, value]) => toParameterEntries(name, value, ctx.types))
  const failed = [...failures].map(([name, error]): ParametersParameter => ({
    name: 'evaluation error',
    resource: outcomeOf(new OperationError(error.code, `${quoted(name)}: ${error.message}`), ctx.newId()),
  }))
  const said: readonly ParametersParameter[] =
    messages.length === 0 ? [] : [{ name: '_messages', resource: outcomeOfMessages(messages, ctx.newId()) }]
  return {
    resourceType: 'Parameters',
    parameter: [...results, ...failed, ...said, ...explanationParameter(explanation, criteriaItems(explanation))],
  }
}

function outcomeOfMessages(messages: readonly EvaluationMessage[], id: string): OperationOutcome {
  return {
    resourceType: 'OperationOutcome',
    id,
    issue: messages.map(({ severity, code, message }) => ({
      severity: severity === 'Warning' ? 'warning' : 'information',
      code: 'informational',
      details: { text: [code, message].filter((part) => part !== null).join(': ') || severity },
    })),
  }
}

/** The libraries whose definitions an expression may use: parameters `library` with parts `url` (canonical) and `name` (optional, another name for it). */
async function includedLibraries(ctx: OperationContext, reader: ParameterReader): Promise<readonly IncludedLibrary[]> {
  const included: IncludedLibrary[] = []
  for (const { resource, parts, expression } of reader.all('library')) {
    const partOf = (part: string): unknown => parts.find(({ name }) => name === part)?.value
    const [url, called] = [partOf('url'), partOf('name')]
    if (resource === undefined && typeof url !== 'string')
      throw new OperationError('parameter-required', 'The library must have a url.', { expression: [expression] })
    included.push({
      resource: resource ?? (await libraryByUrl(ctx, String(url), { place: expression, manifest: reader.text('manifest') })),
      ...(typeof called === 'string' && { called }),
    })
  }
  return included
}

async function evaluatedLibrary(ctx: OperationContext, { id }: OperationRequest, reader: ParameterReader): Promise<LibraryResource> {
  const [url, given] = [reader.text('url'), reader.resource('library')]
  if ([id, url, given].filter((one) => one !== undefined).length > 1)
    throw new OperationError(
      'parameter-invalid',
      'The Library is named by its id in the path, by url, or given as library: by one of these.',
      {
        expression: ['url', 'library'],
      },
    )
  if (id !== undefined) {
    ctx.authorize?.('read', 'Library', id)
    const stored = await ctx.storage.read('Library', id)
    if (stored === undefined) throw new OperationError('not-found', `Library/${id} does not exist.`)
    return stored.resource
  }
  if (given !== undefined) return given
  if (url === undefined) throw new OperationError('parameter-required', 'Parameter url or library is needed.', { expression: ['url'] })
  return await libraryByUrl(ctx, url, { place: 'url', manifest: reader.text('manifest') })
}

async function libraryByUrl(
  ctx: OperationContext,
  canonical: string,
  { place, manifest }: { readonly place: string; readonly manifest: string | undefined },
): Promise<LibraryResource> {
  ctx.authorize?.('read', 'Library')
  const { url, version } = canonicalOf(canonical)
  const pinned = pinnedVersions([[await manifestOf(ctx, manifest)]])
  const found = await ctx.content.resolve('Library', url, version ?? pinned.of(url))
  if (found === undefined) throw new OperationError('not-found', `Library ${quoted(canonical)} does not exist.`, { expression: [place] })
  return found.resource
}
