import type { OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import type { Scope } from 'fhir-ops/evaluate'
import { subjectLinks, type SubjectLinks } from 'fhir-ops/internal/evaluate'
import type { Period } from 'fhir/r4.js'
import type { TypeModel } from 'fhir-ops/fhirpath'
import { quoted } from 'fhir-ops/internal/errors'
import { parametersOf } from 'fhir-ops/internal/parameters'
import type { Given, NodeTrace, RetrieveRequest, Places } from '../compile/compiler.js'
import { createGiven, fillPlaces, createPlaces } from '../compile/given.js'
import type { ElmNode } from '../elm/node.js'
import type { RetrievedProfiles } from '../data/profiles.js'
import { declaredParameters, type LoadedLibrary } from '../libraries/content.js'
import type { ExternalFunctions, LibraryOptions } from '../libraries/library-options.js'
import { compileLibrary, type CqlLibrary } from '../libraries/library.js'
import { readCqlParameters } from '../operations/read-parameters.js'
import { createTerminology } from '../operations/terminology.js'
import type { CqlTranslator } from '../translator/translator.js'
import { closedInterval } from '../values/interval.js'
import { dateOf } from '../values/temporal-arithmetic.js'
import { boundaryOf, parseDateTime } from '../values/temporal.js'
import type { UnitConversion } from '../values/units.js'
import { isTemporal, type Value } from '../values/value.js'
import { expressionName, loadMeasure, PERIOD, loadedLibraries, type LoadedMeasure } from './loaded-measure.js'

/** Options of `cqlLanguage`. */
export interface CqlLanguageOptions {
  /** Translates libraries without ELM, and expressions. If absent, these are refused. */
  readonly translator?: CqlTranslator | undefined
  /** Offset in minutes for times without one, and for the period. Default 0. */
  readonly offset?: number | undefined
  /** Maximum number of steps for one subject: items processed, resources read. Default 1,000,000. */
  readonly maxSteps?: number | undefined
  /**
   * Maximum memory, in estimated bytes, for resources that are kept after they were read, so that the next evaluation over the same storage reads only
   * what has changed; also for another period, other parameters, or another Measure over the same data. Only for storages that report changes (memory,
   * SQLite, PostgreSQL). A population that needs more is read for each evaluation. Default 0, which keeps nothing.
   */
  readonly keepBytes?: number | undefined
  /**
   * Functions that libraries declare as external, `{ Risk: { Score: (age) => ... } }`. Default: none, and calls of them are refused. Results are kept, so
   * each must return the same result for the same operands.
   */
  readonly functions?: ExternalFunctions | undefined
  /**
   * The resources that a retrieve by profile finds: those with all values that the profile fixes (default, if the profile is known), those that declare it in
   * `meta.profile`, or all resources of its type.
   */
  readonly profiles?: RetrievedProfiles | undefined
}

/** A Measure's libraries and expressions, compiled for an evaluation. */
export interface Prepared {
  /** The Measure's libraries, in its order. */
  readonly libraries: readonly CqlLibrary[]
  /** Criteria that are expressions, by their text. */
  readonly expressions: ReadonlyMap<string, CompiledExpression>
  /**
   * Called after everything was compiled: makes the values that the evaluation gives, and reads the terminology.
   *
   * @throws {OperationError} `parameter-value` for a parameter of another type; as `Terminology.load`.
   */
  begin(): Promise<void>
  /** Values that are the same for all subjects; complete after `begin`. */
  readonly given: Given
  /** The requests of all compiled retrieves; complete after `begin`. */
  requests(): readonly RetrieveRequest[]
  /** The request of a retrieve node. */
  requestOf(node: ElmNode): RetrieveRequest | undefined
  readonly model: TypeModel
  readonly convert: UnitConversion
  readonly offset: number
  /** How resources belong to the subjects of the Measure. */
  readonly links: SubjectLinks
  /** The Measure from which it was compiled. */
  readonly loaded: LoadedMeasure
  /** The value that the request gives to a parameter; `undefined` for one that has its default. */
  parameter(name: string, type: string | undefined): Value | undefined
  /** The same compiled again, with a trace that looks on. */
  traced(trace: NodeTrace): Prepared
}

/** The definition that an expression was translated to. */
interface CompiledExpression {
  readonly library: CqlLibrary
  readonly name: string
}

/** How Measures are prepared. */
export interface Preparing {
  readonly options: CqlLanguageOptions
  readonly compileLibraries: LibraryCompiler
}

/**
 * Compiles the Measure's libraries and the expressions in its criteria, with the parameters of the request.
 *
 * @throws {OperationError} as `loadMeasure`; `parameter-invalid` for a parameter that the library does not declare.
 */
export async function prepare(ctx: OperationContext, scope: Scope, { options, compileLibraries }: Preparing): Promise<Prepared> {
  const model = ctx.types
  if (model === undefined) throw new OperationError('not-supported', 'CQL needs the types of FHIR, which are not loaded.')
  const loaded = await loadMeasure({ ctx, translator: options.translator }, scope)
  const offset = options.offset ?? 0
  const given = parametersIn(scope, offset)
  const parts: PreparedParts = {
    loaded,
    links: await subjectLinks(ctx, scope.subjectType),
    terminology: createTerminology(ctx, { ...options, pinned: loaded.pinned }),
    parameter: (name, type) => (name === PERIOD ? periodValue(scope.period, offset, type) : given.get(name)),
    compiling: { model, subjectType: scope.subjectType, convert: ctx.convertUnit ?? SAME_UNIT, offset, functions: options.functions },
  }
  const prepared = preparedWith(parts, compileLibraries(loaded, parts.compiling, JSON.stringify([scope.groups, scope.supplements])))
  checkParameters(given, loaded)
  return prepared
}

/** What does not change if a Measure is compiled again, with a trace. */
interface PreparedParts extends Pick<Prepared, 'links' | 'loaded' | 'parameter'> {
  readonly terminology: ReturnType<typeof createTerminology>
  readonly compiling: Compiling & Pick<Prepared, 'convert' | 'model' | 'offset'>
}

function preparedWith(parts: PreparedParts, { libraries, expressions, places, keep }: CompiledLibraries): Prepared {
  const { loaded, links, terminology, parameter, compiling } = parts
  const { model, convert, offset } = compiling
  const requests = new Map<ElmNode, RetrieveRequest>()
  const given = createGiven({ parameters: parameter, terminology, onRetrieve: (request, node) => void requests.set(node, request) })
  const named =
    expressions === undefined
      ? []
      : loaded.texts.map((text, index) => [text, { library: expressions, name: expressionName(index) }] as const)
  return {
    libraries,
    expressions: new Map(named),
    begin: async () => {
      keep()
      fillPlaces(given, places)
      await terminology.load()
    },
    given,
    requests: () => [...requests.values()],
    requestOf: (node) => requests.get(node),
    model,
    convert,
    offset,
    links,
    loaded,
    parameter,
    traced: (trace) => preparedWith(parts, newlyCompiled(loaded, { ...compiling, trace })),
  }
}

/** Fallback for unit conversion. It must be one function for all evaluations, because values are kept by it. */
export const SAME_UNIT: UnitConversion = (from, to) => (from === to ? 1 : undefined)

function parametersIn({ parameters }: Scope, offset: number): ReadonlyMap<string, Value> {
  return parameters === undefined ? new Map() : readCqlParameters(parametersOf(parameters, 'parameters'), offset)
}

/** Rejects parameters that no library declares, and the period, which is an input of the operation. */
function checkParameters(given: ReadonlyMap<string, Value>, { libraries }: LoadedMeasure): void {
  const declared = libraries.map(({ library }) => declaredParameters(library))
  for (const name of given.keys()) {
    const fault =
      name === PERIOD
        ? 'is the period from periodStart to periodEnd'
        : declared.some((names) => names.has(name))
          ? undefined
          : 'is not declared by the library of the Measure'
    if (fault !== undefined)
      throw new OperationError('parameter-invalid', `The parameter ${quoted(name)} ${fault}.`, { expression: ['parameters'] })
  }
}

/** The period from its first to its last millisecond; as dates if the library declares it so. */
export function periodValue({ start: from = '', end: to = '' }: Period, offset: number, type: string | undefined): Value {
  const [start, end] = [parseDateTime(from, offset), parseDateTime(to, offset)]
  if (start === undefined || end === undefined) return null
  const [low, high] = [boundaryOf(start, 'least') ?? null, boundaryOf(end, 'greatest') ?? null]
  if (type !== 'Date') return closedInterval(periodEnd(low), periodEnd(high), 'DateTime')
  return closedInterval(dayOf(low), dayOf(high), 'Date')
}

function periodEnd(moment: Value): Value {
  return isTemporal(moment) ? { ...moment, isPeriodEnd: true } : moment
}

function dayOf(moment: Value): Value {
  return isTemporal(moment) ? (dateOf(moment) ?? null) : null
}

/** The libraries of a Measure, whose definitions are compiled when criteria need them. */
interface CompiledLibraries {
  /** In the Measure's order. */
  readonly libraries: readonly CqlLibrary[]
  /** The library of criteria that are expressions themselves. */
  readonly expressions: CqlLibrary | undefined
  /** Places in evaluations that the libraries use together. */
  readonly places: Places
  /** Keeps the compiled definitions for evaluations of the same criteria. */
  readonly keep: () => void
}

/** How libraries are compiled. */
export type Compiling = Omit<LibraryOptions, 'include' | 'onRetrieve' | 'parameters' | 'places' | 'terminology'>

/** Opens the libraries of a Measure, to compile their definitions. */
function newlyCompiled(loaded: LoadedMeasure, compiling: Compiling): CompiledLibraries {
  const places = createPlaces()
  const compiled = ({ elm, includes }: LoadedLibrary): CqlLibrary =>
    compileLibrary(elm, { ...compiling, include: (id) => includes.get(id), places })
  return {
    libraries: loaded.libraries.map(({ library }) => compiled(library)),
    expressions: loaded.expressions === undefined ? undefined : compiled(loaded.expressions),
    places,
    keep: () => undefined,
  }
}

/**
 * Compiles the libraries of a Measure, or returns them as they were compiled before.
 *
 * @param criteria Text that identifies the criteria: they determine which definitions are compiled, and therefore what is read for each subject.
 */
type LibraryCompiler = (loaded: LoadedMeasure, compiling: Compiling, criteria: string) => CompiledLibraries

interface Compiled {
  readonly elm: readonly ElmNode[]
  readonly compiling: Compiling
}

interface Kept extends Compiled {
  readonly compiled: CompiledLibraries
}

/** Number of Measures that are kept for one library. */
const MOST = 8

/**
 * Creates a compiler that keeps compiled libraries for as long as the cache of definitions keeps their ELM. A Measure is evaluated for one period after the other, or one subject after the
 * other, and compiling it takes as long as evaluating several hundred subjects.
 */
export function createLibraryCompiler(): LibraryCompiler {
  const kept = new WeakMap<ElmNode, Map<string, Kept>>()
  return (loaded, compiling, criteria) => {
    const elm = loadedLibraries({ loaded }).flatMap((library) => [library.elm, ...library.includes.values()])
    const [first] = elm
    if (first === undefined) return newlyCompiled(loaded, compiling)
    const own = kept.get(first) ?? new Map<string, Kept>()
    const known = own.get(criteria)
    const compiled = known !== undefined && isSame(known, { elm, compiling }) ? known.compiled : newlyCompiled(loaded, compiling)
    const keep = (): void => {
      kept.set(first, own)
      own.delete(criteria)
      own.set(criteria, { elm, compiling, compiled })
      for (const oldest of own.keys()) if (own.size > MOST) own.delete(oldest)
    }
    return { ...compiled, keep }
  }
}

function isSame(known: Compiled, wanted: Compiled): boolean {
  const [parts, others] = [partsOf(known), partsOf(wanted)]
  return parts.length === others.length && parts.every((part, at) => part === others[at])
}

/** Everything that the compiled code depends on. */
function partsOf({ elm, compiling }: Compiled): readonly unknown[] {
  return [...elm, ...Object.entries(compiling).flat()]
}
