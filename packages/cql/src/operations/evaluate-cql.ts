import type { OperationContext } from 'fhir-ops/context'
import { createPace, explained, type Explained, type ExplainOption } from 'fhir-ops/internal/context'
import { OperationError } from 'fhir-ops/errors'
import { quoted } from 'fhir-ops/internal/errors'
import { manifestOf, pinnedVersions, subjectLinks } from 'fhir-ops/internal/evaluate'
import { isMap, ownCopy } from 'fhir-ops/internal/json'
import { withNearest } from 'fhir-ops/internal/text'
import type { Evaluation, EvaluationMessage, NodeTrace, RetrieveRequest } from '../compile/compiler.js'
import { explainDefinitions } from '../explain/explain-criteria.js'
import { RETRIEVED_PROFILES, type RetrievedProfiles } from '../data/profiles.js'
import { givenRecords, joinedRecords, readSubject, storedRecords, type Records, type SubjectReference } from '../data/records.js'
import type { RetrieverOptions } from '../data/retrieve.js'
import { FHIR_HELPERS_LIBRARY } from '../elm/library.js'
import { textAt } from '../elm/node.js'
import { createEvaluation } from '../libraries/evaluate.js'
import { declaredParameters, loadLibrary, translatedExpressions, type LineOrigin, type LoadedLibrary } from '../libraries/content.js'
import { EXTERNAL_FUNCTIONS, type ExternalFunctions } from '../libraries/library-options.js'
import type { LibraryLoading, LibraryResource } from '../libraries/find-library.js'
import { compileLibrary, type CqlLibrary, type Definition } from '../libraries/library.js'
import { resourceElement } from '../model/fhir-types.js'
import type { CqlTranslator } from '../translator/translator.js'
import { sizeOf } from '../values/size.js'
import type { UnitConversion } from '../values/units.js'
import type { FhirElement, Value } from '../values/value.js'
import { parameterDeclarations } from './read-parameters.js'
import { createTerminology } from './terminology.js'
import {
  AMOUNT,
  checkInput,
  checkOptions,
  FLAG,
  having,
  inputShape,
  listOf,
  NUMBER,
  OBJECT,
  TEXT,
  type InputShape,
  type MemberKind,
} from 'fhir-ops/internal/input'

/** Input of `evaluateCql`: an expression, or definitions of a library. */
export interface EvaluateCqlInput extends ExplainOption {
  /** A CQL expression, over System types and, if there is a subject or data, FHIR. */
  readonly expression?: string | undefined
  /** A Library resource with ELM or CQL. If `expression` is given, it may use its definitions as `Library.`. */
  readonly library?: LibraryResource | undefined
  /** Further libraries whose definitions `expression` may use. */
  readonly includes?: readonly IncludedLibrary[] | undefined
  /** Names of the definitions of `library` to evaluate. Default: all public ones. */
  readonly definitions?: readonly string[] | undefined
  /** The subject, such as `Patient/p1`; required for definitions in the context of a subject. */
  readonly subject?: string | undefined
  /** Values of parameters by name. */
  readonly parameters?: ReadonlyMap<string, Value> | undefined
  /** Resources that are used instead of those in the storage. Resources about another subject are not retrieved. */
  readonly data?: readonly LibraryResource[] | undefined
  /** Whether the subject's resources in the storage are used besides `data`; a resource in `data` replaces the stored one. Default false. */
  readonly useServerData?: boolean | undefined
  /** Canonical of a Library that states the versions of libraries, value sets and code systems that the CQL leaves open. Default: their newest. */
  readonly manifest?: string | undefined
}

/** A library that an expression includes. */
export interface IncludedLibrary {
  readonly resource: LibraryResource
  /** The name that the expression uses for it. Default: its own. */
  readonly called?: string | undefined
}

const VALUES: MemberKind = { words: 'a Map of values by name', is: isMap }

const INPUT = inputShape<EvaluateCqlInput>({
  expression: TEXT,
  library: OBJECT,
  includes: listOf(OBJECT),
  definitions: listOf(TEXT),
  subject: TEXT,
  parameters: VALUES,
  data: listOf(OBJECT),
  useServerData: FLAG,
  manifest: TEXT,
  explain: FLAG,
})

/** Options of `evaluateCql` and `cqlOperations`. */
export interface EvaluateCqlOptions {
  /** Translates CQL text. If absent, a Library without ELM is refused. */
  readonly translator?: CqlTranslator | undefined
  /** Offset in minutes for times without one. Default 0. */
  readonly offset?: number | undefined
  /** Maximum number of steps of one evaluation: items processed, resources read. Default 200,000. */
  readonly maxSteps?: number | undefined
  /** Functions that libraries declare as external, `{ Risk: { Score: (age) => ... } }`. Default: none, and calls of them are refused. */
  readonly functions?: ExternalFunctions | undefined
  /**
   * The resources that a retrieve by profile finds: those with all values that the profile fixes (default, if the profile is known), those that declare it in
   * `meta.profile`, or all resources of its type.
   */
  readonly profiles?: RetrievedProfiles | undefined
}

/** Shape of the options, for checks of plain JavaScript. */
export const CQL_OPTIONS: InputShape = inputShape<EvaluateCqlOptions>({
  translator: having('a translator', ['translate']),
  offset: NUMBER,
  maxSteps: AMOUNT,
  functions: EXTERNAL_FUNCTIONS,
  profiles: RETRIEVED_PROFILES,
})

/** Result of `evaluateCql`. */
export interface EvaluateCqlResult extends Explained {
  /** The value of each definition, in their order. The value of an expression has the name `return`. */
  readonly values: ReadonlyMap<string, Value>
  /** Run-time errors by the name of the definition, which then has no value. */
  readonly failures: ReadonlyMap<string, OperationError>
  /** Messages of the operator `Message`. */
  readonly messages: readonly EvaluationMessage[]
}

const MAX_STEPS = 200_000
const EXPRESSION = 'return'
/** Start of a retrieve, `[Observation`. The bracket of `Interval[` and of an index follows a name or bracket. */
const RETRIEVE = /(?:^|[^\w\])"])\s{0,9}\[\s{0,9}"?[A-Z]/
const FHIR_HEAD = `using FHIR version '4.0.1'\ninclude ${FHIR_HELPERS_LIBRARY} version '4.0.1'\n`

/**
 * Evaluates a CQL expression, or definitions of a library, for one subject or none.
 *
 * @throws {OperationError} `parameter-required` and `parameter-invalid` for the input; `definition-invalid` for CQL or ELM that cannot be used;
 *   `definition-not-found` for libraries and value sets that are missing, before anything is evaluated; `not-supported` for unknown ELM and for features
 *   that are not available; `too-costly`. Run-time errors of CQL are in the result. With `explain: true`, `explanation` states why each definition has
 *   its value.
 * @see https://hl7.org/fhir/uv/cql/operations.html
 */
export function evaluateCql(ctx: OperationContext, input: EvaluateCqlInput, options: EvaluateCqlOptions = {}): Promise<EvaluateCqlResult> {
  return explained(ctx, input, (own) => evaluateDefinitions(own, input, options))
}

async function evaluateDefinitions(
  ctx: OperationContext,
  input: EvaluateCqlInput,
  options: EvaluateCqlOptions,
): Promise<EvaluateCqlResult> {
  checkOptions('evaluateCql', CQL_OPTIONS, options)
  checkInput(ctx, input, INPUT)
  const model = ctx.types
  if (model === undefined) throw new OperationError('not-supported', 'CQL needs the types of FHIR, which are not loaded.')
  const used: LibraryResource[] = []
  const onLibrary = (resource: LibraryResource): void => void used.push(resource)
  const manifest = await manifestOf(ctx, input.manifest)
  const loaded = await librariesOf({ ctx, translator: options.translator, onLibrary, pinned: pinnedVersions([[manifest]]) }, input)
  const terminology = createTerminology(ctx, { ...options, pinned: pinnedVersions([[manifest], used]) })
  const convert: UnitConversion = ctx.convertUnit ?? ((from, to) => (from === to ? 1 : undefined))
  const offset = options.offset ?? 0
  const requests: RetrieveRequest[] = []
  const parameters = checkedParameters(loaded, input.parameters)
  const subjectType = input.subject === undefined ? 'Patient' : subjectOf(input.subject).type
  const compile = (trace?: NodeTrace): CqlLibrary =>
    compileLibrary(loaded.elm, {
      model,
      subjectType,
      convert,
      offset,
      include: (id) => loaded.includes.get(id),
      parameters: (name) => parameters.get(name),
      functions: options.functions,
      terminology,
      onRetrieve: (request) => requests.push(request),
      trace,
    })
  const pace = createPace(ctx)
  // Many calls may have waited for one translation; let other requests run between them.
  await pace.turn()
  const library = compile()
  const definitions = await definitionsOf(ctx, library, input)
  await terminology.load()
  checkData(input, requests)
  const links = await subjectLinks(ctx, subjectType)
  const retriever = { model, convert, offset, links }
  const { subject, records } = await recordsOf(ctx, input, retriever)
  const own = { subject, now: ctx.now(), offset, maxSteps: options.maxSteps ?? MAX_STEPS }
  await pace.step()
  // If resources must be read first, everything is evaluated again, so each attempt collects its own messages and counts its own steps.
  const { values, failures, messages } = await records.evaluate(() => {
    const said: EvaluationMessage[] = []
    const retrieve = (request: RetrieveRequest): readonly FhirElement[] => records.retrieve(request)
    const evaluation = createEvaluation({ ...own, retrieve, onMessage: (message) => said.push(message) })
    return { ...valuesOf(definitions, evaluation), messages: said }
  })
  if (ctx.explain !== undefined) {
    const names = definitions.map(({ name }) => name)
    await explainDefinitions(ctx.explain, { names, values, failures, loaded, records, retriever, options: own, compile })
  }
  return { values, failures, messages }
}

/** Additional steps of each definition after one that failed: many may fail in the same way, each with its own message. */
const FAILURE_STEPS = 50

/** Evaluates definitions one after the other. */
function valuesOf(definitions: readonly Definition[], evaluation: Evaluation): Pick<EvaluateCqlResult, 'failures' | 'values'> {
  const values = new Map<string, Value>()
  const failures = new Map<string, OperationError>()
  for (const { name, compute } of definitions) {
    try {
      // Throws if an earlier definition exceeded the limit.
      evaluation.spend(failures.size > 0 ? FAILURE_STEPS : 0)
      const value = compute(evaluation)
      evaluation.spend(sizeOf(value)) // a part that several values share is written for each of them
      values.set(name, value)
    } catch (error) {
      if (!(error instanceof OperationError) || error.code !== 'unprocessable') throw error
      failures.set(name, error)
    }
  }
  return { values, failures }
}

async function librariesOf(given: LibraryLoading, input: EvaluateCqlInput): Promise<LoadedLibrary> {
  const { expression, library } = input
  const included = [...(library === undefined ? [] : [{ resource: library }]), ...(input.includes ?? [])]
  const loading = { ...given, beside: included }
  if (expression === undefined) {
    if (library === undefined)
      throw new OperationError('parameter-required', 'An expression or a library is needed.', { expression: ['expression'] })
    return await loadLibrary(loading, library)
  }
  const usesFhir = input.subject !== undefined || input.data !== undefined || included.length > 0 || RETRIEVE.test(expression)
  const context = input.subject === undefined ? '' : `context ${subjectOf(input.subject).type}\n`
  const lines = [...included.map(includeLine), parameterDeclarations(input.parameters ?? new Map()), context]
  const head = `library CqlExpression version '1'\n${usesFhir ? FHIR_HEAD : ''}${lines.join('')}define "${EXPRESSION}":\n`
  const linesAhead = head.split('\n').length - 1
  const locate = (line: number): LineOrigin => ({ line: Math.max(1, line - linesAhead), path: 'expression' })
  return await translatedExpressions(loading, { text: head + expression, from: undefined, locate }, 1)
}

const IDENTIFIER = /^[A-Za-z_]\w{0,199}$/

/** The line with which an expression includes a library. */
function includeLine({ resource, called }: IncludedLibrary): string {
  const name = textAt(resource, 'name')
  const wrong = [name ?? '', ...(called === undefined ? [] : [called])].find((one) => !IDENTIFIER.test(one))
  if (wrong !== undefined)
    throw new OperationError('parameter-invalid', `A library is included by its name, and ${quoted(wrong)} is not a name of a library.`, {
      expression: ['library'],
    })
  return `include ${name}${called === undefined ? '' : ` called ${called}`}\n`
}

/** Rejects parameters that neither the library nor an included one declares, by name. */
function checkedParameters(loaded: LoadedLibrary, given: ReadonlyMap<string, Value> | undefined): ReadonlyMap<string, Value> {
  const declared = declaredParameters(loaded)
  for (const name of given?.keys() ?? [])
    if (!declared.has(name)) {
      const problem = withNearest(`The library has no parameter ${quoted(name)}.`, name, declared)
      throw new OperationError('parameter-invalid', problem, { expression: ['parameters'] })
    }
  return given ?? new Map()
}

async function definitionsOf(ctx: OperationContext, library: CqlLibrary, input: EvaluateCqlInput): Promise<readonly Definition[]> {
  const names = input.definitions ?? library.names
  const definitions: Definition[] = []
  const pace = createPace(ctx)
  for (const name of names) {
    const turn = pace.step()
    if (turn !== undefined) await turn
    const definition = library.definition(name)
    if (definition === undefined) {
      throw new OperationError('parameter-value', unknownDefinition(library, name), { expression: ['expression'] })
    }
    const isSubject = name === definition.context
    if ((definition.isPublic && !isSubject) || input.definitions !== undefined) definitions.push(definition)
  }
  return definitions
}

function unknownDefinition(library: CqlLibrary, name: string): string {
  const call = library.callOf(name)
  if (call !== undefined) return `${quoted(name)} is a function. An expression can call it: ${call}.`
  return withNearest(
    `${library.id === '' ? 'The library' : `Library ${library.id}`} has no definition ${quoted(name)}.`,
    name,
    library.names,
  )
}

/** Rejects retrieves of a subject's resources if there is neither a subject nor data. */
function checkData({ subject, data }: EvaluateCqlInput, requests: readonly RetrieveRequest[]): void {
  if (data !== undefined || subject !== undefined || requests.every(({ unfiltered }) => unfiltered)) return
  throw new OperationError('parameter-required', 'A subject or data is needed, since resources are retrieved.', { expression: ['subject'] })
}

/** The resources for the evaluation: those of the call if there are any, otherwise those in the storage. */
async function recordsOf(
  ctx: OperationContext,
  { subject, data, useServerData }: EvaluateCqlInput,
  options: RetrieverOptions,
): Promise<{ readonly subject: FhirElement | undefined; readonly records: Records }> {
  const reference = subject === undefined ? undefined : subjectOf(subject)
  if (data === undefined) {
    const own = reference === undefined ? undefined : await readSubject(ctx, options, reference)
    return { subject: own, records: storedRecords(ctx, options)(own) }
  }
  // Texts and values are cached by resource object, and the caller may change the resource before the next call.
  const resources = data.flatMap((resource) => resourceElement(options.model, ownCopy(resource)) ?? [])
  const own = resources.find(({ type, json }) => type.name === reference?.type && isOf(json, reference.id))
  if (useServerData === true) return await joinedWith(ctx, resources, { reference, own, options })
  if (reference !== undefined && own === undefined)
    throw new OperationError('content-not-found', `${quoted(subject ?? '')} is not in the data.`, { expression: ['subject'] })
  return { subject: own, records: givenRecords(resources, own, options) }
}

interface Joined {
  readonly reference: SubjectReference | undefined
  /** The subject, if it is part of the call. */
  readonly own: FhirElement | undefined
  readonly options: RetrieverOptions
}

/** The resources of a subject in the call and in the storage. */
async function joinedWith(
  ctx: OperationContext,
  resources: readonly FhirElement[],
  { reference, own, options }: Joined,
): Promise<{ readonly subject: FhirElement; readonly records: Records }> {
  if (reference === undefined)
    throw new OperationError(
      'parameter-required',
      'A subject is needed: its resources in the storage are evaluated together with the data.',
      {
        expression: ['subject'],
      },
    )
  const subject = own ?? (await readSubject(ctx, options, reference))
  const given = { resources, records: givenRecords(resources, subject, options) }
  return { subject, records: joinedRecords(storedRecords(ctx, options)(subject), given) }
}

function isOf(json: unknown, id: string): boolean {
  return typeof json === 'object' && json !== null && 'id' in json && json.id === id
}

function subjectOf(subject: string): SubjectReference {
  const [type, id, ...more] = subject.split('/')
  if (type === undefined || id === undefined || more.length > 0 || !/^[A-Z]\w{0,63}$/.test(type) || !/^[A-Za-z0-9\-.]{1,64}$/.test(id))
    throw new OperationError('parameter-value', `The subject ${quoted(subject)} must be a reference such as Patient/p1.`, {
      expression: ['subject'],
    })
  return { type, id }
}
