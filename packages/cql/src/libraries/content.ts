import type { OperationContext } from 'fhir-ops/context'
import type { LibraryProblem } from 'fhir-ops/internal/context'
import { OperationError } from 'fhir-ops/errors'
import { quoted } from 'fhir-ops/internal/errors'
import { definitionsIn, FHIR_HELPERS_LIBRARY, identifierOf, includeOf, libraryIn, parameterNames } from '../elm/library.js'
import { nodesAt, textAt, isNode, withLines, type ElmNode } from '../elm/node.js'
import type { CqlTranslator, Translation, TranslationProblem } from '../translator/translator.js'
import { bytesOfJson } from '../values/json-size.js'
import { dataOf, decoded, mediaType, nameOf } from './attachments.js'
import { libraryFinder, type LibraryFinder, type LibraryLoading, type LibraryResource } from './find-library.js'
import { namedInHead } from './text-head.js'
import { collectModels, modelTextsOf, type UsedModel } from './models.js'

/** ELM by library identifier. */
export type ElmLibraries = ReadonlyMap<string, ElmNode>

/** A library with everything that it includes. */
export interface LoadedLibrary {
  readonly elm: ElmNode
  /** Included libraries by identifier, FHIRHelpers not among them. */
  readonly includes: ElmLibraries
}

/** The same with a translator. */
export interface Translating extends LibraryLoading {
  readonly translator: CqlTranslator
}

const MAX_LIBRARIES = 100

/**
 * The ELM of a Library resource and of all libraries that it includes, directly or not.
 *
 * Published ELM is taken where it is there, else the CQL text is translated. Included libraries are found by canonical: the url of the
 * including library with the other name, and the version that it states.
 *
 * @throws {OperationError} `definition-required` for a Library without ELM and CQL; `not-supported` for one with CQL only when there is no
 *   translator; `definition-invalid` for text with errors, naming line and column; `definition-not-found` for an include that is not there.
 */
export async function loadLibrary(loading: LibraryLoading, resource: LibraryResource): Promise<LoadedLibrary> {
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
 * Translates a library, and what it includes.
 *
 * @throws {OperationError} as `loadLibrary`; `computation-timeout` when the translator does not answer in the time of the operation.
 */
async function translated(loading: LibraryLoading, { text, from, locate }: Source): Promise<LoadedLibrary> {
  const { ctx, translator } = loading
  if (translator === undefined)
    throw new OperationError(
      'not-supported',
      'CQL text cannot be evaluated here, because no translator is set up; a Library may bring ELM instead.',
    )
  const collected: Collected = { texts: new Map(), models: new Map() }
  await collectIncludes(loading, { text, from, path: pathOf(text) }, collected)
  const { texts } = collected
  const models = modelTextsOf(collected.models)
  const name = locate === undefined ? pathOf(text)[0] : undefined
  const elm = checked(await inTime(ctx, translator.translate(text, texts, models)), { name, locate })
  const includes = new Map<string, ElmNode>()
  for (const [id, source] of texts) includes.set(id, checked(await inTime(ctx, translator.translate(source, texts, models)), { name: id }))
  return { elm, includes }
}

/**
 * What is wrong with the CQL texts of a Library: all problems, by their place in `content`.
 *
 * @throws {OperationError} `computation-timeout` and `too-costly` of the translator; what `ctx.authorize` throws for libraries that are included.
 */
export async function libraryProblems(loading: Translating, resource: LibraryResource): Promise<readonly LibraryProblem[]> {
  const problems: LibraryProblem[] = []
  for (const [content, attachment] of nodesAt(resource, 'content').entries()) {
    if (mediaType(attachment) !== 'text/cql' || textAt(attachment, 'data') === undefined) continue
    problems.push(...(await problemsOf(loading, { ...resource, content: [attachment] })).map((problem) => ({ ...problem, content })))
  }
  return problems
}

/** Faults of the Library itself, which are its problems and not those of the call. */
const OWN_FAULTS: ReadonlySet<string> = new Set(['definition-invalid', 'definition-not-found', 'definition-required'])

async function problemsOf(loading: Translating, resource: LibraryResource): Promise<readonly Omit<LibraryProblem, 'content'>[]> {
  const collected: Collected = { texts: new Map(), models: new Map() }
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
 * As `translated`, for a text that is made of expressions: places in it are those within each expression.
 *
 * @throws {OperationError} `definition-invalid`, too, when one of them continues with definitions of its own.
 */
export async function translatedExpressions(loading: LibraryLoading, source: Source, count: number): Promise<LoadedLibrary> {
  const loaded = await translated(loading, source)
  const definitions = definitionsIn(libraryIn(loaded.elm), 'statements').filter((def) => textAt(def, 'name') !== textAt(def, 'context'))
  const { locate } = source
  if (definitions.length === count)
    return locate === undefined ? loaded : { ...loaded, elm: withLines(loaded.elm, (line) => locate(line).line) }
  throw new OperationError('definition-invalid', 'An expression of CQL must end where it ends, without definitions after it.')
}

/** Waits no longer than the operation may take: translators have limits of their own, and other texts may be before this one. */
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

/** The text in which errors are reported. */
interface Checked extends Pick<Source, 'locate'> {
  /** Name of the library; absent for a text without one, and for one that is made of expressions. */
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

/** Where a line of a text comes from. */
export interface LineOrigin {
  /** The line within what the caller wrote. */
  readonly line: number
  /** What it was written for, in words. */
  readonly place?: string | undefined
  /** FHIRPath of what it was written in. */
  readonly path?: string | undefined
}

/** CQL text to translate. */
interface Source {
  readonly text: string
  /** The Library resource that it is of, by which includes are found. */
  readonly from: LibraryResource | undefined
  /** Where a line comes from that is not the caller's own, for errors. Default: the text is what the caller wrote. */
  readonly locate?: ((line: number) => LineOrigin) | undefined
}

/** A text whose includes are collected. */
interface Including extends Source {
  /** The libraries that led to it, and itself, by their identifiers. */
  readonly path: readonly string[]
}

interface Collected {
  readonly texts: Map<string, string>
  readonly models: Map<string, UsedModel>
}

const LIBRARY = /^[ \t]*library[ \t]+([\w."]{1,200})/m

function pathOf(text: string): readonly string[] {
  const name = LIBRARY.exec(text)?.[1]
  return name === undefined ? [] : [idOf(name)]
}

/** Names of the parameters that a library and what it includes declare. */
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

/** Libraries may not include each other, not even by way of others. */
function checkCycle(path: readonly string[], id: string): void {
  const begin = path.indexOf(id)
  if (begin < 0) return
  const circle = [...path.slice(begin), id].map(quoted).join(' includes ')
  throw new OperationError('definition-invalid', `Libraries must not include each other: ${circle}.`)
}

/** Collects what a text includes, depth first, and the models that they use. */
async function collectIncludes(
  loading: LibraryLoading,
  { text, from, path: outer }: Including,
  { texts, models }: Collected,
  find: LibraryFinder = libraryFinder(loading),
): Promise<void> {
  await collectModels(loading, { text, from }, models)
  for (const { keyword, id, version } of namedInHead(text)) {
    if (keyword !== 'include') continue
    checkCycle(outer, id)
    if (id === FHIR_HELPERS_LIBRARY) continue
    const resource = await find({ id, version, from })
    if (texts.has(id)) continue
    checkCount(texts.size)
    const source = cqlText(resource)
    if (source === undefined)
      throw new OperationError(
        'definition-required',
        `Library ${nameOf(resource)} has no CQL text, which a library with CQL text includes.`,
      )
    texts.set(id, source)
    await collectIncludes(loading, { text: source, from: resource, path: [...outer, id] }, { texts, models }, find)
  }
}

interface IncludingElm {
  readonly elm: ElmNode
  readonly from: LibraryResource | undefined
  /** The libraries that led to it, by their identifiers. */
  readonly path?: readonly string[]
}

async function includedElm(
  loading: LibraryLoading,
  { elm, from, path = [] }: IncludingElm,
  { known, find } = { known: new Map<string, ElmNode>(), find: libraryFinder(loading) },
): Promise<ElmLibraries> {
  const own = [...path, textAt(identifierOf(libraryIn(elm)) ?? {}, 'id') ?? '']
  for (const { id, version } of definitionsIn(libraryIn(elm), 'includes').map(includeOf)) {
    checkCycle(own, id)
    if (id === FHIR_HELPERS_LIBRARY) continue
    const resource = await find({ id, version, from })
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

/** Read once for as long as the Library does not change: reading takes longer than evaluating a hundred subjects. */
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
