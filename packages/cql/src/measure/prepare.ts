import type { OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import type { GroupPlan, Scope } from 'fhir-ops/evaluate'
import type { RequirementScope } from 'fhir-ops/internal/evaluate'
import type { TypeModel } from 'fhir-ops/fhirpath'
import { canonicalOf } from 'fhir-ops/internal/content'
import { quoted } from 'fhir-ops/internal/errors'
import { parametersOf } from 'fhir-ops/internal/parameters'
import type { NodeTrace, RetrieveRequest } from '../compile/compiler.js'
import { definitionsNamed, FHIR_HELPERS_LIBRARY, identifierOf, libraryIn } from '../elm/library.js'
import { textAt, type ElmNode } from '../elm/node.js'
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
  /**
   * Most memory, in bytes by an estimate, for what was read of all subjects, so that the next evaluation over the same storage reads only what has changed:
   * also of another period, with other parameters, or of another Measure over the same data. Only over storages that tell changes (memory, SQLite). A
   * population that needs more is read for each evaluation. Default 0, which keeps nothing.
   */
  readonly keepBytes?: number | undefined
}

/** What the criteria of a Measure are compiled with. */
export interface Prepared {
  /** The Measure's library; `undefined` when it names none. */
  readonly library: CqlLibrary | undefined
  /** Criteria that are expressions themselves, by their text. */
  readonly expressions: ReadonlyMap<string, CompiledExpression>
  readonly terminology: Terminology
  /** What is retrieved, as far as criteria were compiled. */
  requests(): readonly RetrieveRequest[]
  /** What a node retrieves. */
  requestOf(node: ElmNode): RetrieveRequest | undefined
  readonly model: TypeModel
  readonly convert: UnitConversion
  readonly offset: number
  /** What was compiled. */
  readonly loaded: LoadedMeasure
  /** The value that the request gives to a parameter; `undefined` for one that has its default. */
  given(name: string, type: string | undefined): Value | undefined
  /** The same compiled again, with a trace that looks on. */
  traced(trace: NodeTrace): Prepared
}

/** A definition that was made of an expression. */
export interface CompiledExpression {
  readonly library: CqlLibrary
  readonly name: string
}

/** Name of the parameter that has the period. */
export const PERIOD = 'Measurement Period'

/** What is to be evaluated. */
interface Evaluated {
  readonly scope: RequirementScope
  readonly groups: readonly GroupPlan[]
}

/** The Measure's library and the expressions in its criteria, as ELM. */
export interface LoadedMeasure {
  /** The Measure's library; `undefined` when it names none. */
  readonly resource: LibraryResource | undefined
  readonly library: LoadedLibrary | undefined
  /** Criteria that are expressions themselves, in the order of the definitions `Expression 0` and so on of `expressions`. */
  readonly texts: readonly string[]
  readonly expressions: LoadedLibrary | undefined
}

/**
 * Loads the Measure's library, and translates the expressions in its criteria.
 *
 * @throws {OperationError} `definition-not-found` for a library that does not exist; `definition-required` for a Library without content;
 *   `definition-invalid` for CQL with errors.
 */
export async function loadMeasure(
  ctx: OperationContext,
  { scope, groups }: Evaluated,
  { translator }: CqlLanguageOptions,
): Promise<LoadedMeasure> {
  const loading = { ctx, translator }
  const resource = await libraryOf(ctx, scope)
  const library = resource === undefined ? undefined : await loadLibrary(loading, resource)
  const texts = expressionsIn({ scope, groups }, library)
  if (texts.length === 0) return { resource, library, texts, expressions: undefined }
  const source = { text: expressionLibrary(texts, { resource, loaded: library }), base: urlOf(resource) }
  return { resource, library, texts, expressions: await translatedExpressions(loading, source, texts.length) }
}

/** The libraries that a Measure is evaluated by: its own, and that of the expressions in its criteria. */
export function loadedLibraries({ loaded }: Pick<Prepared, 'loaded'>): readonly LoadedLibrary[] {
  return [loaded.library, loaded.expressions].filter((library) => library !== undefined)
}

/** Name of the definition that an expression was made to. */
export function expressionName(index: number): string {
  return `Expression ${index}`
}

/**
 * The Measure's library and the expressions in its criteria, compiled with the parameters of the request.
 *
 * @throws {OperationError} as `loadMeasure`; `parameter-invalid` for a parameter that the library does not declare.
 */
export async function prepare(
  ctx: OperationContext,
  { scope, groups }: { readonly scope: Scope; readonly groups: readonly GroupPlan[] },
  options: CqlLanguageOptions,
): Promise<Prepared> {
  const model = ctx.types
  if (model === undefined) throw new OperationError('not-supported', 'CQL needs the types of FHIR, which are not loaded.')
  const loaded = await loadMeasure(ctx, { scope, groups }, options)
  const terminology = createTerminology(ctx)
  const offset = options.offset ?? 0
  const convert: UnitConversion = ctx.convertUnit ?? ((from, to) => (from === to ? 1 : undefined))
  const given = parametersIn(scope, offset)
  const valueOf = (name: string, type: string | undefined): Value | undefined =>
    name === PERIOD ? periodOf(scope, offset, type) : given.get(name)
  const build = (trace?: NodeTrace): Prepared => {
    const requests = new Map<ElmNode, RetrieveRequest>()
    const taken = { slots: 0, memo: 0 }
    const compiled = ({ elm, includes }: LoadedLibrary): CqlLibrary =>
      compileLibrary(elm, {
        model,
        convert,
        offset,
        include: (id) => includes.get(id),
        parameters: valueOf,
        terminology,
        onRetrieve: (request, node) => {
          requests.set(node, request)
        },
        trace,
        taken,
      })
    const library = loaded.library === undefined ? undefined : compiled(loaded.library)
    const expressions = loaded.expressions === undefined ? undefined : compiled(loaded.expressions)
    const named =
      expressions === undefined
        ? []
        : loaded.texts.map((text, index) => [text, { library: expressions, name: expressionName(index) }] as const)
    return {
      library,
      expressions: new Map(named),
      terminology,
      requests: () => [...requests.values()],
      requestOf: (node) => requests.get(node),
      model,
      convert,
      offset,
      loaded,
      given: valueOf,
      traced: build,
    }
  }
  const prepared = build()
  checkParameters(given, prepared.library)
  return prepared
}

/** Criteria that are CQL themselves; the media type of CQL is also used for names of definitions. */
function expressionsIn({ scope, groups }: Evaluated, library: LoadedLibrary | undefined): readonly string[] {
  const criteria = [
    ...groups.flatMap(({ populations, stratifiers }) => [...populations, ...stratifiers.flatMap(({ criteria }) => criteria)]),
    ...groups.flatMap(({ populations }) => populations.flatMap(({ evidence = [] }) => evidence)),
    ...(scope.supplements ?? []),
  ]
  const texts = criteria.flatMap(({ language, expression }) => {
    if (!CQL_LANGUAGES.has(language) || CQL_IDENTIFIER_LANGUAGES.has(language)) return []
    return library !== undefined && definesName(library, expression) ? [] : [expression]
  })
  return [...new Set(texts)]
}

/** Whether a library has a definition or function with this name. */
export function definesName({ elm }: LoadedLibrary, name: string): boolean {
  return definitionsNamed(libraryIn(elm), 'statements', name).length > 0
}

/** A library with a definition for each expression, which may use the Measure's library by its name, and the period. */
function expressionLibrary(
  texts: readonly string[],
  { resource, loaded }: { readonly resource: LibraryResource | undefined; readonly loaded: LoadedLibrary | undefined },
): string {
  const name = loaded === undefined ? undefined : textAt(identifierOf(libraryIn(loaded.elm)) ?? {}, 'id')
  const version = resource === undefined ? undefined : textAt(resource, 'version')
  return [
    "library MeasureExpressions version '1'",
    "using FHIR version '4.0.1'",
    `include ${FHIR_HELPERS_LIBRARY} version '4.0.1'`,
    ...(name === undefined ? [] : [`include ${name}${version === undefined ? '' : ` version '${version}'`}`]),
    `parameter "${PERIOD}" Interval<DateTime>`,
    'context Patient',
    ...texts.map((text, index) => `define "${expressionName(index)}":\n${text}`),
  ].join('\n')
}

function urlOf(resource: LibraryResource | undefined): string | undefined {
  return resource === undefined ? undefined : textAt(resource, 'url')
}

/** The first library of the Measure, by canonical or `Library/<id>`. */
async function libraryOf(ctx: OperationContext, { measure }: Pick<Scope, 'measure'>): Promise<LibraryResource | undefined> {
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
