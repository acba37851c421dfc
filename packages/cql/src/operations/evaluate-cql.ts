import type { OperationContext } from 'fhir-ops/context'
import { createPace, explained, type Explained, type ExplainOption } from 'fhir-ops/internal/context'
import { OperationError } from 'fhir-ops/errors'
import { quoted } from 'fhir-ops/internal/errors'
import { subjectLinks } from 'fhir-ops/internal/evaluate'
import { ownCopy } from 'fhir-ops/internal/json'
import type { Evaluation, EvaluationMessage, NodeTrace, RetrieveRequest } from '../compile/compiler.js'
import { explainDefinitions } from '../explain/explain-definitions.js'
import { RETRIEVED_PROFILES, type RetrievedProfiles } from '../data/profiles.js'
import { givenRecords, joinedRecords, readSubject, storedRecords, type Records, type SubjectReference } from '../data/records.js'
import type { RetrieverOptions } from '../data/retrieve.js'
import { FHIR_HELPERS_LIBRARY } from '../elm/library.js'
import { textAt } from '../elm/node.js'
import { createEvaluation } from '../libraries/evaluate.js'
import { declaredParameters, loadLibrary, translatedExpressions, type LineOrigin, type LoadedLibrary } from '../libraries/content.js'
import { EXTERNAL_FUNCTIONS, type ExternalFunctions } from '../libraries/library-options.js'
import type { LibraryResource } from '../libraries/find-library.js'
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

/** What to evaluate: an expression, or definitions of a library. */
export interface EvaluateCqlInput extends ExplainOption {
  /** A CQL expression, over System types and, with a subject or data, FHIR. */
  readonly expression?: string | undefined
  /** A Library resource with ELM or CQL; besides `expression`, the expression may use its definitions by `Library.`. */
  readonly library?: LibraryResource | undefined
  /** Libraries whose definitions `expression` may use, too. */
  readonly includes?: readonly IncludedLibrary[] | undefined
  /** Definitions of `library` to evaluate. Default: all that are public. */
  readonly definitions?: readonly string[] | undefined
  /** The subject, `Patient/p1`; needed by definitions in the context of one. */
  readonly subject?: string | undefined
  /** Values of parameters by name. */
  readonly parameters?: ReadonlyMap<string, Value> | undefined
  /** Resources that are evaluated over instead of those in the storage. Those about another subject are not retrieved. */
  readonly data?: readonly LibraryResource[] | undefined
  /** Whether what the storage has of the subject is evaluated as well as `data`, of which a resource replaces the stored one. Default false. */
  readonly useServerData?: boolean | undefined
}

/** A library that an expression includes. */
export interface IncludedLibrary {
  readonly resource: LibraryResource
  /** The name by which the expression uses it. Default: its own. */
  readonly called?: string | undefined
}

const VALUES: MemberKind = { words: 'a Map of values by name', is: (value) => value instanceof Map }

const INPUT = inputShape<EvaluateCqlInput>({
  expression: TEXT,
  library: OBJECT,
  includes: listOf(OBJECT),
  definitions: listOf(TEXT),
  subject: TEXT,
  parameters: VALUES,
  data: listOf(OBJECT),
  useServerData: FLAG,
  explain: FLAG,
})

/** How CQL is evaluated. */
export interface EvaluateCqlOptions {
  /** Translates CQL text; when absent, a Library without ELM is refused. */
  readonly translator?: CqlTranslator | undefined
  /** Offset in minutes of times that have none. Default 0. */
  readonly offset?: number | undefined
  /** Steps of one evaluation: items looked at, resources read. Default 200,000. */
  readonly maxSteps?: number | undefined
  /** What libraries declare as external functions, `{ Risk: { Score: (age) => ... } }`. Default none: what calls one is refused. */
  readonly functions?: ExternalFunctions | undefined
  /** What a retrieve by profile finds: what has all that the profile fixes (default, where the profile is known), what declares it in `meta.profile`, or any resource of its type. */
  readonly profiles?: RetrievedProfiles | undefined
}

/** What the options of an evaluation are, in plain JavaScript. */
export const CQL_OPTIONS: InputShape = inputShape<EvaluateCqlOptions>({
  translator: having('a translator', ['translate']),
  offset: NUMBER,
  maxSteps: AMOUNT,
  functions: EXTERNAL_FUNCTIONS,
  profiles: RETRIEVED_PROFILES,
})

/** What an evaluation gives. */
export interface EvaluateCqlResult extends Explained {
  /** The value of each definition, in their order; that of an expression has the name `return`. */
  readonly values: ReadonlyMap<string, Value>
  /** Run-time errors by the name of the definition, which has no value then. */
  readonly failures: ReadonlyMap<string, OperationError>
  /** What `Message` said. */
  readonly messages: readonly EvaluationMessage[]
}

const MAX_STEPS = 200_000
const EXPRESSION = 'return'
/** The beginning of a retrieve, `[Observation`; that of `Interval[` and of an index has a name or bracket before it. */
const RETRIEVE = /(?:^|[^\w\])"])\s{0,9}\[\s{0,9}"?[A-Z]/
const FHIR_HEAD = `using FHIR version '4.0.1'\ninclude ${FHIR_HELPERS_LIBRARY} version '4.0.1'\n`

/**
 * Evaluates a CQL expression, or definitions of a library, for one subject or none.
 *
 * @throws {OperationError} `parameter-required` and `parameter-invalid` for the input; `definition-invalid` for CQL or ELM that cannot be used;
 *   `definition-not-found` for libraries and value sets that are missing, before anything is evaluated; `not-supported` for what is not
 *   understood; `too-costly`. Run-time errors of CQL are in the result. With `explain: true` an `explanation` says why each definition has its value.
 * @see https://hl7.org/fhir/uv/cql/operations.html
 */
export function evaluateCql(ctx: OperationContext, input: EvaluateCqlInput, options: EvaluateCqlOptions = {}): Promise<EvaluateCqlResult> {
  return explained(ctx, input, (own) => evaluated(own, input, options))
}

async function evaluated(ctx: OperationContext, input: EvaluateCqlInput, options: EvaluateCqlOptions): Promise<EvaluateCqlResult> {
  checkOptions('evaluateCql', CQL_OPTIONS, options)
  checkInput(ctx, input, INPUT)
  const model = ctx.types
  if (model === undefined) throw new OperationError('not-supported', 'CQL needs the types of FHIR, which are not loaded.')
  const loaded = await librariesOf(ctx, input, options.translator)
  const terminology = createTerminology(ctx, options)
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
  // Many may have waited for one translation.
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
  // Where resources must be read first, all is evaluated again, so that nothing is said twice and no step counts twice.
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

/** What a definition costs after one that failed: many may fail alike, each with a message of its own. */
const FAILURE_STEPS = 50

/** Evaluates definitions one after the other. */
function valuesOf(definitions: readonly Definition[], evaluation: Evaluation): Pick<EvaluateCqlResult, 'failures' | 'values'> {
  const values = new Map<string, Value>()
  const failures = new Map<string, OperationError>()
  for (const { name, compute } of definitions) {
    try {
      // After the last step nothing more is evaluated.
      evaluation.spend(failures.size > 0 ? FAILURE_STEPS : 0)
      const value = compute(evaluation)
      evaluation.spend(sizeOf(value)) // parts that values share are written once for each
      values.set(name, value)
    } catch (error) {
      if (!(error instanceof OperationError) || error.code !== 'unprocessable') throw error
      failures.set(name, error)
    }
  }
  return { values, failures }
}

async function librariesOf(ctx: OperationContext, input: EvaluateCqlInput, translator: CqlTranslator | undefined): Promise<LoadedLibrary> {
  const { expression, library } = input
  const included = [...(library === undefined ? [] : [{ resource: library }]), ...(input.includes ?? [])]
  const loading = { ctx, translator, beside: included }
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
  const locate = (line: number): LineOrigin => ({ line: Math.max(1, line - linesAhead) })
  return await translatedExpressions(loading, { text: head + expression, from: undefined, locate }, 1)
}

const IDENTIFIER = /^[A-Za-z_]\w{0,199}$/

/** How an expression includes a library, which it knows by a name. */
function includeLine({ resource, called }: IncludedLibrary): string {
  const name = textAt(resource, 'name')
  const wrong = [name ?? '', ...(called === undefined ? [] : [called])].find((one) => !IDENTIFIER.test(one))
  if (wrong !== undefined)
    throw new OperationError('parameter-invalid', `A library is included by its name, and ${quoted(wrong)} is not a name of a library.`, {
      expression: ['library'],
    })
  return `include ${name}${called === undefined ? '' : ` called ${called}`}\n`
}

/** Parameters that neither the library nor what it includes declares are refused by name. */
function checkedParameters(loaded: LoadedLibrary, given: ReadonlyMap<string, Value> | undefined): ReadonlyMap<string, Value> {
  const declared = declaredParameters(loaded)
  for (const name of given?.keys() ?? [])
    if (!declared.has(name))
      throw new OperationError('parameter-invalid', `The library has no parameter ${quoted(name)}.`, { expression: ['parameters'] })
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
    if (definition === undefined)
      throw new OperationError('parameter-value', `Library ${library.id} has no definition ${quoted(name)}.`, {
        expression: ['expression'],
      })
    const isSubject = name === definition.context
    if ((definition.isPublic && !isSubject) || input.definitions !== undefined) definitions.push(definition)
  }
  return definitions
}

/** What is retrieved must be somewhere: resources of a subject in the storage, all others in the data. */
function checkData({ subject, data }: EvaluateCqlInput, requests: readonly RetrieveRequest[]): void {
  if (data !== undefined || subject !== undefined || requests.every(({ unfiltered }) => unfiltered)) return
  throw new OperationError('parameter-required', 'A subject or data is needed, since resources are retrieved.', { expression: ['subject'] })
}

/** The records that are evaluated over: what came with the call, else what is in the storage. */
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
  // What is compared of a resource is remembered by it, and the caller may change it before the next call.
  const resources = data.flatMap((resource) => resourceElement(options.model, ownCopy(resource)) ?? [])
  const own = resources.find(({ type, json }) => type.name === reference?.type && isOf(json, reference.id))
  if (useServerData === true) return await joinedWith(ctx, resources, { reference, own, options })
  if (reference !== undefined && own === undefined)
    throw new OperationError('content-not-found', `${quoted(subject ?? '')} is not in the data.`, { expression: ['subject'] })
  return { subject: own, records: givenRecords(resources, own, options) }
}

interface Joined {
  readonly reference: SubjectReference | undefined
  /** The subject as it came with the call. */
  readonly own: FhirElement | undefined
  readonly options: RetrieverOptions
}

/** The records of a subject in what came with the call and in the storage. */
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
