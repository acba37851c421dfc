import type { ModelManager } from '@cqframework/cql/cql-to-elm'
import type { VersionedIdentifier } from '@cqframework/cql/elm'
import type { TypeModel } from 'fhir-ops/fhirpath'
import { LRUCache } from 'lru-cache'
import { FHIR_HELPERS_LIBRARY } from '../elm/library.js'
import { namedInHead, withoutNamespaces } from '../libraries/text-head.js'
import { fhirHelpersText, fhirModelInfo } from './fhir-model.js'
import { keepTranslations, type Texts } from './kept-translations.js'
import { systemModelInfo } from './system-model.js'
import { checkOptions, having, inputShape, type InputShape } from 'fhir-ops/internal/input'

/** An error or a warning of a translation. */
export interface TranslationProblem {
  readonly severity: 'error' | 'warning'
  /** `syntax`, `semantic`, `include` or `internal`. */
  readonly type: string
  readonly message: string
  /** Position in the text, counted from 1; absent if the translator does not know it. */
  readonly line?: number
  readonly column?: number
}

/** A translated library. */
export interface Translation {
  /** The JSON form of ELM; present also for a library with errors, which cannot be evaluated. */
  readonly elm: unknown
  readonly problems: readonly TranslationProblem[]
}

/** Translates CQL text to ELM. */
export interface CqlTranslator {
  /**
   * @param text The CQL text of a library.
   * @param includes CQL texts of all libraries that it includes, directly or not, by identifier. FHIRHelpers is not needed.
   * @param models Model information (XML) of the models that these use besides System and FHIR, by name: `QICore`.
   */
  translate(text: string, includes?: ReadonlyMap<string, string>, models?: ReadonlyMap<string, string>): Promise<Translation>
}

/** Texts that the translator needs; plain data, so that they can be sent to a worker. */
export interface ModelTexts {
  /** Version of FHIR that the texts are for. */
  readonly version: string
  /** Model information (XML). */
  readonly model: string
  /** The library FHIRHelpers (CQL). */
  readonly helpers: string
}

/** Options of `createTranslator`. */
export interface TranslatorOptions {
  /** The FHIR types, needed for `using FHIR`. */
  readonly model?: TypeModel | undefined
}

const SHAPE: InputShape = inputShape<TranslatorOptions>({ model: having('types of FHIR', ['type']) })

const VERSION = '4.0.1'

/** Creates the texts for FHIR from its types. */
export function modelTexts(model: TypeModel): ModelTexts {
  return { version: VERSION, model: fhirModelInfo(model, VERSION), helpers: fhirHelpersText(model, VERSION) }
}

/**
 * Creates a translator that runs the reference translator, from the optional package `@cqframework/cql`, in this thread.
 *
 * Loading it takes a tenth of a second, the first library with FHIR about a second more, and it blocks the thread while it works: in a server, use
 * `openWorkerTranslator` of `@fhir-ops/cql/node` instead. Translations are kept, of up to 250,000 characters of CQL.
 *
 * @throws {Error} if the package is not installed. @throws {TypeError} for an option that is unknown or of another type.
 */
export async function createTranslator(options: TranslatorOptions = {}): Promise<CqlTranslator> {
  checkOptions('createTranslator', SHAPE, options)
  const { model } = options
  const translate = await loadTranslator(model === undefined ? undefined : modelTexts(model))
  return { translate: keepTranslations(async (...texts) => translate(...texts)) }
}

/** Models that are loaded for translations. */
interface LoadedModels {
  readonly manager: ModelManager
  /** FHIRHelpers, translated: most of the work for a short text. Other included libraries belong to the caller and may change, so they are not kept. */
  helpers: ReadonlyMap<VersionedIdentifier, unknown>
}

/** Number of sets of models that stay loaded; each takes up to 100 MB. */
const MAX_MANAGERS = 3

/** Loads the translator. The returned function translates synchronously. */
export async function loadTranslator(fhir: ModelTexts | undefined): Promise<(text: string, includes: Texts, models: Texts) => Translation> {
  const [{ NamespaceManager }, elm, { KtMutableMap }] = await Promise.all([
    import('@cqframework/cql/cql'),
    import('@cqframework/cql/cql-to-elm'),
    import('@cqframework/cql/kotlin-kotlin-stdlib'),
  ])
  holdNotesWeakly(elm)
  const { CqlCompilerOptions, CqlTranslator: Reference, LibraryManager, ModelManager: Manager, stringAsSource } = elm
  const options = CqlCompilerOptions.defaultOptions()
  // Not EnableDateRangeOptimization: it moves a date of a condition into the retrieve of an alias although the condition names another alias, and applies to
  // an element of any type what the condition states for its value as one type.
  options.setOptions([CqlCompilerOptions.Options.EnableResultTypes])
  const keep = <T>(value: T): T => value
  const units = elm.createUcumService(keep, () => null, keep, keep)
  // A manager holds one version of a model, so there is one for each version that libraries name, and for the other models that they use.
  const managers = new LRUCache<string, LoadedModels>({ max: MAX_MANAGERS })
  const managerFor = (version: string, models: Texts): LoadedModels => {
    const key = JSON.stringify([version, ...models])
    const known = managers.get(key)
    if (known !== undefined) return known
    const manager = new Manager(new NamespaceManager())
    manager.modelInfoLoader.registerModelInfoProvider(
      elm.createModelInfoProvider((id) => {
        if (id === 'System') return stringAsSource(systemModelInfo())
        if (id === 'FHIR') return fhir === undefined ? null : stringAsSource(inVersion(fhir.model, fhir, version))
        const model = models.get(id)
        return model === undefined ? null : stringAsSource(model)
      }),
    )
    const loaded: LoadedModels = { manager, helpers: new Map() }
    managers.set(key, loaded)
    return loaded
  }
  return (text, includes, models) => {
    const nesting = [text, ...includes.values()].map(nestingProblem).find((problem) => problem !== undefined)
    if (nesting !== undefined) return { elm: undefined, problems: [nesting] }
    const version = versionOfFhir(text)
    const loaded = managerFor(version, models)
    const libraries = new LibraryManager(loaded.manager, options, KtMutableMap.fromJsMap(loaded.helpers), units)
    libraries.librarySourceLoader.registerProvider(
      elm.createLibrarySourceProvider((id, _system, wanted) => {
        if (id === FHIR_HELPERS_LIBRARY && fhir !== undefined) return stringAsSource(helpersFor(fhir, wanted ?? version, version))
        const source = includes.get(id)
        return source === undefined ? null : stringAsSource(withoutNamespaces(source))
      }),
    )
    try {
      const parsed: unknown = JSON.parse(
        quietly(() => Reference.fromText(withoutNamespaces(text), libraries).toJson()),
        SHORT_FRACTION.test(text) ? exactFractions(text) : undefined,
      )
      for (const [key, library] of libraries.compiledLibraries.asJsMapView())
        if (key.id === FHIR_HELPERS_LIBRARY && key.version === version) loaded.helpers = new Map([[key, library]])
      return { elm: parsed, problems: problemsOf(parsed) }
    } catch (error) {
      if (error instanceof RangeError) return TOO_DEEP
      throw error
    }
  }
}

/** Matches a time of a text that ends in a fraction of a second of other than three digits, which is not zero. */
const SHORT_FRACTION = /:\d\d\.(?!\d{3}(?!\d))\d{0,20}[1-9]/

/** Matches a literal that is a date with time, or a time, up to its fraction of a second. */
const FRACTION = /^@[\dT:-]{1,30}\.(\d{1,20})/

/** Characters that `FRACTION` can match. */
const MAX_LITERAL = 52

/**
 * Corrects literals in the ELM of a text, while it is parsed: the reference translator reads the digits of a fraction of a second as the number of
 * milliseconds, so that `@T10:00:00.5` would be 5 of them.
 */
function exactFractions(text: string): (name: string, value: unknown) => unknown {
  // Positions count characters of Unicode.
  const lines = text.split('\n').map((line) => (/[\u{10000}-\u{10FFFF}]/u.test(line) ? Array.from(line) : line))
  return (_name, value) => {
    const { type, locator, millisecond } = membersOf(value)
    if ((type !== 'Time' && type !== 'DateTime') || typeof locator !== 'string' || !isRecord(millisecond)) return value
    const [line, column] = locator.split(/[:-]/).map((part) => Number(part) - 1)
    const literal = lines[line ?? 0]?.slice(column, (column ?? 0) + MAX_LITERAL) ?? ''
    const digits = FRACTION.exec(typeof literal === 'string' ? literal : literal.join(''))?.[1]
    return digits === undefined ? value : { ...membersOf(value), millisecond: { ...millisecond, value: digits.padEnd(3, '0').slice(0, 3) } }
  }
}

/**
 * Lets the notes of the reference translator go with what they are about: it notes the type of every element of every text in a map of its own, from which
 * nothing is removed, so that each text would take half a megabyte for ever.
 */
function holdNotesWeakly(reference: object): void {
  const [, notesOf] = Object.entries(reference).find(([name]) => name.startsWith('Trackable_getInstance')) ?? []
  if (typeof notesOf !== 'function') return
  for (const notes of Object.values(notesOf()).map(Object)) {
    for (const [key, map] of Object.entries(notes)) if (map instanceof Map) Reflect.set(notes, key, new WeakMap(map))
  }
}

/**
 * Runs work that does not wait, and drops what it prints: the reference translator announces its log, on standard output or the console of a browser, when it
 * first needs it, and has no setting against that.
 */
function quietly<T>(work: () => T): T {
  const stdout = Object(Reflect.get(Object(Reflect.get(globalThis, 'process')), 'stdout'))
  const restored = [silenced(stdout, 'write'), silenced(Object(Reflect.get(globalThis, 'console')), 'log')]
  try {
    return work()
  } finally {
    for (const restore of restored) restore()
  }
}

/** Makes a method do nothing, until the returned function is called. */
function silenced(target: object, method: string): () => void {
  const own = Reflect.getOwnPropertyDescriptor(target, method)
  Reflect.defineProperty(target, method, { value: () => true, configurable: true, writable: true })
  return () => {
    if (own === undefined) Reflect.deleteProperty(target, method)
    else Reflect.defineProperty(target, method, own)
  }
}

/**
 * Maximum nesting of brackets in a text that is translated; people and generators stay far below. The time of the reference translator grows with the square
 * of the depth: a minute for 20,000.
 */
const MAX_NESTING = 500

/** Matches brackets, and string literals, quoted names and comments, in which brackets have no meaning; those that are not closed extend to the end. */
const TOKEN =
  /'(?:[^'\\]|\\[^])*(?:'|\\?$)|"(?:[^"\\]|\\[^])*(?:"|\\?$)|`(?:[^`\\]|\\[^])*(?:`|\\?$)|\/\/[^\r\n]*|\/\*[^]*?(?:\*\/|$)|[()[\]{}]/g

/** The first place where brackets are nested too deep, as a problem of the text. */
function nestingProblem(text: string): TranslationProblem | undefined {
  let depth = 0
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if ('([{'.includes(token)) depth++
    else if (')]}'.includes(token)) depth--
    if (depth > MAX_NESTING) return tooDeepAt(text.slice(0, index))
  }
  return undefined
}

function tooDeepAt(before: string): TranslationProblem {
  const lines = before.split('\n')
  return {
    severity: 'error',
    type: 'syntax',
    message: `Brackets are nested too deep to be translated: more than ${MAX_NESTING} levels.`,
    line: lines.length,
    column: (lines.at(-1)?.length ?? 0) + 1,
  }
}

/** The result for a text whose nesting, or whose types (`descendents()` of FHIR), overflow the stack of the reference translator. */
const TOO_DEEP: Translation = {
  elm: undefined,
  problems: [
    {
      severity: 'error',
      type: 'semantic',
      message: 'The text, or a type of which it asks all descendants, is nested too deep to be translated.',
    },
  ],
}

/** Versions of FHIR R4 that libraries name. */
const R4_VERSIONS = ['4.0.0', '4.0.1']

function versionOfFhir(text: string): string {
  const stated = namedInHead(text).find(({ keyword, id }) => keyword === 'using' && id === 'FHIR')?.version
  return R4_VERSIONS.find((known) => known === stated) ?? VERSION
}

function inVersion(text: string, { version: own }: ModelTexts, version: string): string {
  return text.replaceAll(own, version)
}

/** FHIRHelpers with its own version, which some libraries state differently from the version of FHIR. */
function helpersFor(fhir: ModelTexts, own: string, version: string): string {
  return inVersion(fhir.helpers, fhir, version).replace(/^library FHIRHelpers version '[^']{0,50}'/, `library FHIRHelpers version '${own}'`)
}

/** Start of the messages about failures of the translator itself, which follow from another problem if there is one. */
const OWN_FAILURE = 'Internal translator error'

/** The problems in the annotations of the ELM. If the text has errors, failures of the translator itself are left out. */
function problemsOf(elm: unknown): readonly TranslationProblem[] {
  const all = annotatedProblems(elm)
  const ofText = all.filter(({ message }) => !message.startsWith(OWN_FAILURE))
  return ofText.some(({ severity }) => severity === 'error') ? ofText : all
}

/** The name of the end of the text in messages of the grammar. */
const END_OF_TEXT = /(?<=^Syntax error at )<EOF>/

/** Problems in the annotations. Columns of syntax errors come from the parser and count from 0; the others count from 1. */
function annotatedProblems(elm: unknown): readonly TranslationProblem[] {
  const annotations = membersOf(membersOf(elm)['library'])['annotation']
  if (!Array.isArray(annotations)) return []
  return annotations.map(membersOf).flatMap((note) => {
    if (note['type'] !== 'CqlToElmError' || (note['errorSeverity'] !== 'error' && note['errorSeverity'] !== 'warning')) return []
    return [
      {
        severity: note['errorSeverity'],
        type: typeof note['errorType'] === 'string' ? note['errorType'] : 'semantic',
        message: typeof note['message'] === 'string' ? note['message'].replace(END_OF_TEXT, 'the end of the text') : '',
        ...(typeof note['startLine'] === 'number' && { line: note['startLine'] }),
        ...(typeof note['startChar'] === 'number' && { column: note['startChar'] + (note['errorType'] === 'syntax' ? 1 : 0) }),
      },
    ]
  })
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {}
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
