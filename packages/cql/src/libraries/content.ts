import type { OperationContext } from 'fhir-ops/context'
import type { LibraryProblem } from 'fhir-ops/internal/context'
import { OperationError } from 'fhir-ops/errors'
import { quoted } from 'fhir-ops/internal/errors'
import { definitionsIn, FHIR_HELPERS_LIBRARY, identifierOf, includeOf, libraryIn, parameterNames } from '../elm/library.js'
import { nodesAt, textAt, isNode, withLines, type ElmNode } from '../elm/node.js'
import type { CqlTranslator, Translation, TranslationProblem } from '../translator/translator.js'
import { bytesOfJson } from '../values/json-text.js'
import {
  dataOf,
  decoded,
  mediaType,
  nameOf,
  libraryFinder,
  type LibraryFinder,
  type LibraryLoading,
  type LibraryResource,
} from './find-library.js'
import { namedInHead } from './text-head.js'
import { collectModels, modelTextsOf, type UsedModel } from './models.js'

/** ELM by library identifier. */
type ElmLibraries = ReadonlyMap<string, ElmNode>

/** A library with everything that it includes. */
export interface LoadedLibrary {
  readonly elm: ElmNode
  /** Included libraries by identifier, FHIRHelpers not among them. */
  readonly includes: ElmLibraries
}

/** Options for loading libraries with a translator. */
interface Translating extends LibraryLoading {
  readonly translator: CqlTranslator
}

const MAX_LIBRARIES = 100

/**
 * Loads the ELM of a Library resource and of all libraries that it includes, directly or not.
 *
 * If the Library has ELM, that is used; otherwise its CQL text is translated. Included libraries are found by canonical: the url of the
 * including library with the name of the included one, and the version that the include states.
 *
 * @throws {OperationError} `definition-required` for a Library without ELM and CQL; `not-supported` for one with CQL only if there is no
 *   translator; `definition-invalid` for text with errors, naming line and column; `definition-not-found` for an included library that does not exist.
 */
export async function loadLibrary(loading: LibraryLoading, resource: LibraryResource): Promise<LoadedLibrary> {
  loading.onLibrary?.(resource)
  const elm = publishedElm(loading, resource)
  if (elm !== undefined) return { elm, includes: await includedElm(loading, { elm, from: resource }) }
  const text = cqlText(resource)
  if (text === undefined)
    throw new OperationError(
      'definition-required',
      `Library ${nameOf(resource)} has neither ELM (application/elm+json) nor CQL (text/cql).`,
      {
        expression: ['Library.content'],
      },
    )
  return await translated(loading, { text, from: resource })
}

/**
 * Translates a library and the libraries that it includes.
 *
 * @throws {OperationError} as `loadLibrary`; `computation-timeout` if the translator does not answer within the time limit of the operation.
 */
async function translated(loading: LibraryLoading, { text, from, locate }: Source): Promise<LoadedLibrary> {
  const { ctx, translator } = loading
  if (translator === undefined)
    throw new OperationError(
      'not-supported',
      'CQL text cannot be evaluated here, because no translator is set up; a Library may bring ELM instead.',
    )
  const collected: Collected = { texts: new Map(), included: new Map(), models: new Map() }
  await collectIncludes(loading, { text, from, path: pathOf(text) }, collected)
  const { texts } = collected
  const models = modelTextsOf(collected.models)
  const [name] = locate === undefined ? pathOf(text) : []
  const whole = (line: number): LineOrigin => ({ line, path: 'Library.content' })
  const elm = checked(await inTime(ctx, translator.translate(text, texts, models)), { name, locate: locate ?? whole })
  const includes = new Map<string, ElmNode>()
  for (const [id, source] of texts) {
    const translation = translator.translate(source, neededBy(id, collected), models)
    includes.set(id, checked(await inTime(ctx, translation), { name: id }))
  }
  return { elm, includes }
}

/**
 * Returns all problems of the CQL texts of a Library, with their index in `content`.
 *
 * @throws {OperationError} `computation-timeout` and `too-costly` of the translator; errors of `ctx.authorize` for included libraries.
 */
export async function libraryProblems(loading: Translating, resource: LibraryResource): Promise<readonly LibraryProblem[]> {
  const problems: LibraryProblem[] = []
  for (const [content, attachment] of nodesAt(resource, 'content').entries()) {
    if (mediaType(attachment) !== 'text/cql' || textAt(attachment, 'data') === undefined) continue
    problems.push(...(await problemsOf(loading, { ...resource, content: [attachment] })).map((problem) => ({ ...problem, content })))
  }
  return problems
}

/** Error codes that are problems of the Library itself, not failures of the call. */
const OWN_FAULTS: ReadonlySet<string> = new Set(['definition-invalid', 'definition-not-found', 'definition-required'])

async function problemsOf(loading: Translating, resource: LibraryResource): Promise<readonly Omit<LibraryProblem, 'content'>[]> {
  const collected: Collected = { texts: new Map(), included: new Map(), models: new Map() }
  try {
    const text = cqlText(resource) ?? ''
    await collectIncludes(loading, { text, from: resource, path: pathOf(text) }, collected)
    const { problems } = await inTime(loading.ctx, loading.translator.translate(text, collected.texts, modelTextsOf(collected.models)))
    return problems.map(({ severity, message, line, column }) => ({
      severity,
      text: message,
      ...(line !== undefined && { line }),
      ...(column !== undefined && { column }),
    }))
  } catch (error) {
    if (!(error instanceof OperationError) || !OWN_FAULTS.has(error.code)) throw error
    return [{ severity: 'error', text: error.message }]
  }
}

/**
 * Translates, as `translated` does, a text that is built from expressions. Positions in errors are those within each expression.
 *
 * @throws {OperationError} as `translated`; also `definition-invalid` if an expression contains definitions of its own.
 */
export async function translatedExpressions(loading: LibraryLoading, source: Source, count: number): Promise<LoadedLibrary> {
  const loaded = await translated(loading, source)
  const definitions = definitionsIn(libraryIn(loaded.elm), 'statements').filter((def) => textAt(def, 'name') !== textAt(def, 'context'))
  const { locate } = source
  if (definitions.length === count) return locate === undefined ? loaded : { ...loaded, elm: located(loaded.elm, source.text, locate) }
  const path = count === 1 ? locate?.(1).path : undefined
  throw new OperationError('definition-invalid', 'An expression of CQL must end where it ends, without definitions after it.', {
    ...(path !== undefined && { expression: [path] }),
  })
}

const LOCATED = new WeakMap<ElmNode, { readonly lines: string; readonly elm: ElmNode }>()

/** The ELM of expressions with the lines that the caller wrote; the same ELM as long as the translator keeps its own, so that it is compiled once. */
function located(elm: ElmNode, text: string, locate: (line: number) => LineOrigin): ElmNode {
  const lines = Array.from(text.split('\n'), (_, at) => locate(at + 1).line)
  const known = LOCATED.get(elm)
  if (known?.lines === lines.join()) return known.elm
  const own = withLines(elm, (line) => locate(line).line)
  LOCATED.set(elm, { lines: lines.join(), elm: own })
  return own
}

/** Waits for a translation until the deadline of the operation. Translators have limits of their own, and other texts may be translated before this one. */
async function inTime<T>({ deadline }: OperationContext, translation: Promise<T>): Promise<T> {
  if (deadline === undefined) return await translation
  const { promise, reject } = Promise.withResolvers<never>()
  const giveUp = (): void => reject(new OperationError('computation-timeout', 'The CQL could not be translated within the time limit.'))
  const timer = setTimeout(giveUp, Math.max(0, deadline - performance.now()))
  try {
    return await Promise.race([promise, translation])
  } finally {
    clearTimeout(timer)
  }
}

/** A translated text, whose errors are reported. */
interface Checked extends Pick<Source, 'locate'> {
  /** Name of the library; absent for a text without a name, and for one that is built from expressions. */
  readonly name?: string | undefined
}

function checked({ elm, problems }: Translation, { name, locate = (line) => ({ line }) }: Checked): ElmNode {
  const errors = problems.filter(({ severity }) => severity === 'error').slice(0, 3)
  if (errors.length > 0) {
    const expression = [...new Set(errors.flatMap(({ line }) => (line === undefined ? [] : (locate(line).path ?? []))))]
    const whose = name === undefined ? '' : ` of library ${quoted(name)}`
    const texts = errors.map((error) => problemText(error, locate)).join(' ')
    throw new OperationError('definition-invalid', `The CQL${whose} has errors: ${texts}`, {
      ...(expression.length > 0 && { expression }),
    })
  }
  if (!isNode(elm)) throw new OperationError('definition-invalid', 'The translator gave no ELM.')
  return elm
}

function problemText({ message, line, column }: TranslationProblem, locate: NonNullable<Source['locate']>): string {
  const text = message.replace(/\.$/, '')
  if (line === undefined) return `${text}.`
  const own = locate(line)
  return `${own.place === undefined ? '' : `${own.place}: `}${text} (line ${own.line}, column ${column ?? 1}).`
}

/** The origin of a line of a text. */
export interface LineOrigin {
  /** Number of the line in the text that the caller wrote. */
  readonly line: number
  /** Name for messages of the place where the caller wrote it. */
  readonly place?: string | undefined
  /** FHIRPath of the element where the caller wrote it. */
  readonly path?: string | undefined
}

/** CQL text to translate. */
interface Source {
  readonly text: string
  /** The Library resource with the text, used to find included libraries. */
  readonly from: LibraryResource | undefined
  /** Returns the origin of a line, for errors. Default: the caller wrote the whole text. */
  readonly locate?: ((line: number) => LineOrigin) | undefined
}

/** A text whose included libraries are collected. */
interface Including extends Source {
  /** Identifiers of the chain of including libraries, and of this one. */
  readonly path: readonly string[]
}

interface Collected {
  readonly texts: Map<string, string>
  /** Identifiers of the libraries that each included library includes itself. */
  readonly included: Map<string, readonly string[]>
  readonly models: Map<string, UsedModel>
}

/** The texts that a library includes, directly or not. Others are left out, so that its translation is the same for all that include it. */
function neededBy(id: string, { texts, included }: Collected): ReadonlyMap<string, string> {
  const needed = new Map<string, string>()
  const open = [...(included.get(id) ?? [])]
  for (const one of open) {
    const text = needed.has(one) ? undefined : texts.get(one)
    if (text === undefined) continue
    needed.set(one, text)
    open.push(...(included.get(one) ?? []))
  }
  return needed
}

const LIBRARY = /^[ \t]*library[ \t]+([\w."]{1,200})/m

function pathOf(text: string): readonly string[] {
  const name = LIBRARY.exec(text)?.[1]
  return name === undefined ? [] : [idOf(name)]
}

/** Names of the parameters that a library and the included libraries declare. */
export function declaredParameters({ elm, includes }: LoadedLibrary): ReadonlySet<string> {
  return new Set([elm, ...includes.values()].flatMap((one) => parameterNames(libraryIn(one))))
}

/** The identifier of a library in CQL. */
export function identifierOfLoaded({ elm }: LoadedLibrary): string {
  return textAt(identifierOf(libraryIn(elm)) ?? {}, 'id') ?? ''
}

function idOf(path: string): string {
  return path.replaceAll('"', '').split('.').at(-1) ?? ''
}

/** Rejects libraries that include each other, directly or through others. */
function checkCycle(path: readonly string[], id: string): void {
  const begin = path.indexOf(id)
  if (begin < 0) return
  const circle = [...path.slice(begin), id].map(quoted).join(' includes ')
  throw new OperationError('definition-invalid', `Libraries must not include each other: ${circle}.`)
}

/**
 * Collects the libraries that a text includes, depth first, and the models that all of them use.
 *
 * @returns The identifiers of the libraries that it includes itself.
 */
async function collectIncludes(
  loading: LibraryLoading,
  { text, from, path: outer }: Including,
  collected: Collected,
  find: LibraryFinder = libraryFinder(loading),
): Promise<readonly string[]> {
  const { texts, included, models } = collected
  const own: string[] = []
  await collectModels(loading, { text, from }, models)
  for (const { keyword, id, namespace, version } of namedInHead(text)) {
    if (keyword !== 'include') continue
    checkCycle(outer, id)
    if (id === FHIR_HELPERS_LIBRARY) continue
    const resource = await find({ id, namespace, version, from })
    own.push(id)
    if (texts.has(id)) continue
    checkCount(texts.size)
    const source = cqlText(resource)
    if (source === undefined)
      throw new OperationError(
        'definition-required',
        `Library ${nameOf(resource)} has no CQL text, which a library with CQL text includes.`,
      )
    texts.set(id, source)
    included.set(id, await collectIncludes(loading, { text: source, from: resource, path: [...outer, id] }, collected, find))
  }
  return own
}

interface IncludingElm {
  readonly elm: ElmNode
  readonly from: LibraryResource | undefined
  /** Identifiers of the chain of including libraries. */
  readonly path?: readonly string[]
}

async function includedElm(
  loading: LibraryLoading,
  { elm, from, path = [] }: IncludingElm,
  { known, find } = { known: new Map<string, ElmNode>(), find: libraryFinder(loading) },
): Promise<ElmLibraries> {
  const own = [...path, textAt(identifierOf(libraryIn(elm)) ?? {}, 'id') ?? '']
  for (const { id, namespace, version } of definitionsIn(libraryIn(elm), 'includes').map(includeOf)) {
    checkCycle(own, id)
    if (id === FHIR_HELPERS_LIBRARY) continue
    const resource = await find({ id, namespace, version, from })
    if (known.has(id)) continue
    checkCount(known.size)
    const loaded = publishedElm(loading, resource) ?? (await loadLibrary(loading, resource)).elm
    known.set(id, loaded)
    await includedElm(loading, { elm: loaded, from: resource, path: own }, { known, find })
  }
  return known
}

function checkCount(count: number): void {
  if (count >= MAX_LIBRARIES) throw new OperationError('too-costly', `A library may include at most ${MAX_LIBRARIES} others.`)
}

/** The ELM that a Library contains. It is parsed once as long as the Library does not change: parsing takes longer than evaluating a hundred subjects. */
function publishedElm({ ctx }: LibraryLoading, resource: LibraryResource): ElmNode | undefined {
  const data = dataOf(resource, ELM_TYPE)
  if (data === undefined) return undefined
  const key = `${ELM_TYPE} ${data}`
  const known = ctx.cache.get(key)
  if (isNode(known)) return known
  const elm = readElm(resource, decoded(resource, ELM_TYPE, data))
  ctx.cache.set(key, elm, data.length + bytesOfJson(elm))
  return elm
}

const ELM_TYPE = 'application/elm+json'

function readElm(resource: LibraryResource, text: string): ElmNode {
  try {
    const parsed: unknown = JSON.parse(text)
    if (isNode(parsed)) return parsed
  } catch (cause) {
    throw new OperationError('definition-invalid', `The ELM of Library ${nameOf(resource)} is not valid JSON.`, {
      cause,
      expression: ['Library.content'],
    })
  }
  throw new OperationError('definition-invalid', `The ELM of Library ${nameOf(resource)} is not a JSON object.`, {
    expression: ['Library.content'],
  })
}

function cqlText(resource: LibraryResource): string | undefined {
  const data = dataOf(resource, 'text/cql')
  return data === undefined ? undefined : decoded(resource, 'text/cql', data)
}
