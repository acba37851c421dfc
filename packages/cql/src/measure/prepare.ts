import type { OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import type { GroupPlan, Scope } from 'fhir-ops/evaluate'
import type { TypeModel } from 'fhir-ops/fhirpath'
import { canonicalOf } from 'fhir-ops/internal/content'
import { quoted } from 'fhir-ops/internal/errors'
import { parametersOf } from 'fhir-ops/internal/parameters'
import type { RetrieveRequest } from '../compile/compiler.js'
import { nodeAt, textAt, type ElmNode } from '../elm/node.js'
import { loadLibrary, translatedExpressions, type LibraryResource, type LoadedLibrary } from '../libraries/content.js'
import { compileLibrary, type CqlLibrary } from '../libraries/library.js'
import { readCqlParameters } from '../operations/read-parameters.js'
import { createTerminology, type Terminology } from '../operations/terminology.js'
import type { CqlTranslator } from '../translator/translator.js'
import { closedInterval } from '../values/interval.js'
import { dateOf } from '../values/temporal-arithmetic.js'
import { boundaryOf, parseDateTime } from '../values/temporal.js'
import type { UnitConversion } from '../values/units.js'
import { isTemporal, type Value } from '../values/value.js'
import { CQL_IDENTIFIER_LANGUAGES, CQL_LANGUAGES } from './languages.js'

/** How criteria in CQL are evaluated. */
export interface CqlLanguageOptions {
  /** Translates libraries that bring no ELM, and expressions; these are refused when absent. */
  readonly translator?: CqlTranslator | undefined
  /** Offset in minutes of times that have none, and of the period. Default 0. */
  readonly offset?: number | undefined
  /** Steps of the evaluation of one subject: items looked at, resources read. Default 1,000,000. */
  readonly maxSteps?: number | undefined
}

/** What the criteria of a Measure are compiled with. */
export interface Prepared {
  /** The Measure's library; `undefined` when it names none. */
  readonly library: CqlLibrary | undefined
  /** Criteria that are expressions themselves, by their text. */
  readonly expressions: ReadonlyMap<string, CompiledExpression>
  readonly terminology: Terminology
  /** What is retrieved, as far as criteria were compiled. */
  readonly requests: readonly RetrieveRequest[]
  readonly model: TypeModel
  readonly convert: UnitConversion
  readonly offset: number
}

/** A definition that was made of an expression. */
export interface CompiledExpression {
  readonly library: CqlLibrary
  readonly name: string
}

const PERIOD = 'Measurement Period'

/** What is to be evaluated. */
interface Evaluated {
  readonly scope: Scope
  readonly groups: readonly GroupPlan[]
}

/**
 * The Measure's library and the expressions in its criteria, compiled with the parameters of the request.
 *
 * @throws {OperationError} `definition-not-found` for a library that does not exist; `definition-required` for a Library without content;
 *   `definition-invalid` for CQL with errors; `parameter-invalid` for a parameter that the library does not declare.
 */
export async function prepare(ctx: OperationContext, { scope, groups }: Evaluated, options: CqlLanguageOptions): Promise<Prepared> {
  const model = ctx.types
  if (model === undefined) throw new OperationError('not-supported', 'CQL needs the types of FHIR, which are not loaded.')
  const loading = { ctx, translator: options.translator }
  const resource = await libraryOf(ctx, scope)
  const loaded = resource === undefined ? undefined : await loadLibrary(loading, resource)
  const terminology = createTerminology(ctx)
  const offset = options.offset ?? 0
  const convert: UnitConversion = ctx.convertUnit ?? ((from, to) => (from === to ? 1 : undefined))
  const given = parametersIn(scope, offset)
  const requests: RetrieveRequest[] = []
  const compiled = (library: LoadedLibrary): CqlLibrary =>
    compileLibrary(library.elm, {
      model,
      convert,
      offset,
      include: (id) => library.includes.get(id),
      parameters: (name, type) => (name === PERIOD ? periodOf(scope, offset, type) : given.get(name)),
      terminology,
      onRetrieve: (request) => requests.push(request),
    })
  const library = loaded === undefined ? undefined : compiled(loaded)
  checkParameters(given, library)
  const texts = expressionsIn({ scope, groups }, library)
  const expressions =
    texts.length === 0
      ? undefined
      : compiled(
          await translatedExpressions(
            loading,
            { text: expressionLibrary(texts, { resource, loaded }), base: urlOf(resource) },
            texts.length,
          ),
        )
  return {
    library,
    expressions: new Map(
      expressions === undefined ? [] : texts.map((text, index) => [text, { library: expressions, name: `Expression ${index}` }]),
    ),
    terminology,
    requests,
    model,
    convert,
    offset,
  }
}

/** Criteria that are CQL themselves; the media type of CQL is also used for names of definitions. */
function expressionsIn({ scope, groups }: Evaluated, library: CqlLibrary | undefined): readonly string[] {
  const criteria = [
    ...groups.flatMap(({ populations, stratifiers }) => [...populations, ...stratifiers.flatMap(({ criteria }) => criteria)]),
    ...groups.flatMap(({ populations }) => populations.flatMap(({ evidence = [] }) => evidence)),
    ...(scope.supplements ?? []),
  ]
  const texts = criteria.flatMap(({ language, expression }) => {
    if (!CQL_LANGUAGES.has(language) || CQL_IDENTIFIER_LANGUAGES.has(language)) return []
    return library?.has(expression) === true ? [] : [expression]
  })
  return [...new Set(texts)]
}

/** A library with a definition for each expression, which may use the Measure's library by its name, and the period. */
function expressionLibrary(
  texts: readonly string[],
  { resource, loaded }: { readonly resource: LibraryResource | undefined; readonly loaded: LoadedLibrary | undefined },
): string {
  const name = loaded === undefined ? undefined : nameOf(loaded.elm)
  const version = resource === undefined ? undefined : textAt(resource, 'version')
  return [
    "library MeasureExpressions version '1'",
    "using FHIR version '4.0.1'",
    "include FHIRHelpers version '4.0.1'",
    ...(name === undefined ? [] : [`include ${name}${version === undefined ? '' : ` version '${version}'`}`]),
    `parameter "${PERIOD}" Interval<DateTime>`,
    'context Patient',
    ...texts.map((text, index) => `define "Expression ${index}":\n${text}`),
  ].join('\n')
}

function nameOf(elm: ElmNode): string | undefined {
  return textAt(nodeAt(nodeAt(elm, 'library') ?? elm, 'identifier') ?? {}, 'id')
}

function urlOf(resource: LibraryResource | undefined): string | undefined {
  return resource === undefined ? undefined : textAt(resource, 'url')
}

/** The first library of the Measure, by canonical or `Library/<id>`. */
async function libraryOf(ctx: OperationContext, { measure }: Scope): Promise<LibraryResource | undefined> {
  const [name] = Array.isArray(measure['library']) ? measure['library'] : []
  if (typeof name !== 'string') return undefined
  ctx.authorize?.('read', 'Library')
  const id = /^Library\/([A-Za-z0-9\-.]{1,64})$/.exec(name)?.[1]
  const { url, version } = canonicalOf(name)
  const found =
    id === undefined ? (await ctx.content.resolve('Library', url, version))?.resource : (await ctx.storage.read('Library', id))?.resource
  if (found !== undefined) return found
  throw new OperationError('definition-not-found', `The library ${quoted(name)} of the Measure does not exist.`, {
    expression: ['Measure.library'],
  })
}

function parametersIn({ parameters }: Scope, offset: number): ReadonlyMap<string, Value> {
  return parameters === undefined ? new Map() : readCqlParameters(parametersOf(parameters), offset)
}

/** The period is an input of the operation; what the library does not declare is refused by name. */
function checkParameters(given: ReadonlyMap<string, Value>, library: CqlLibrary | undefined): void {
  for (const name of given.keys()) {
    const fault =
      name === PERIOD
        ? 'is the period from periodStart to periodEnd'
        : library?.parameters.includes(name) === true
          ? undefined
          : 'is not declared by the library of the Measure'
    if (fault !== undefined)
      throw new OperationError('parameter-invalid', `The parameter ${quoted(name)} ${fault}.`, { expression: ['parameters'] })
  }
}

/** The period from its first to its last millisecond; of days when the library declares it so. */
function periodOf({ period }: Scope, offset: number, type: string | undefined): Value {
  const [start, end] = [parseDateTime(period.start, offset), parseDateTime(period.end, offset)]
  if (start === undefined || end === undefined) return null
  const [low, high] = [boundaryOf(start, 'least') ?? null, boundaryOf(end, 'greatest') ?? null]
  if (type !== 'Date') return closedInterval(low, high, 'DateTime')
  return closedInterval(dayOf(low), dayOf(high), 'Date')
}

function dayOf(moment: Value): Value {
  return isTemporal(moment) ? (dateOf(moment) ?? null) : null
}
