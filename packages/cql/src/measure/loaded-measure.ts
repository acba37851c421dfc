import { OperationError } from 'fhir-ops/errors'
import { pinnedVersions, type Criterion, type PinnedVersions, type RequirementScope } from 'fhir-ops/internal/evaluate'
import { canonicalOf } from 'fhir-ops/internal/content'
import { quoted } from 'fhir-ops/internal/errors'
import { definitionsNamed, FHIR_HELPERS_LIBRARY, identifierOf, libraryIn } from '../elm/library.js'
import { nodesAt, textAt } from '../elm/node.js'
import { identifierOfLoaded, loadLibrary, translatedExpressions, type LineOrigin, type LoadedLibrary } from '../libraries/content.js'
import { isCalled, type LibraryLoading, type LibraryResource } from '../libraries/find-library.js'
import { expressionScope, type ExpressionScope } from './expression-scope.js'
import { CQL_IDENTIFIER_LANGUAGES, CQL_LANGUAGES } from './languages.js'

/** Name of the parameter for the period. */
export const PERIOD = 'Measurement Period'

/** A library that the Measure names. */
interface MeasureLibrary {
  readonly resource: LibraryResource
  readonly library: LoadedLibrary
  /** Its identifier in CQL. */
  readonly id: string
}

/** The Measure's libraries and the expressions in its criteria, as ELM. */
export interface LoadedMeasure {
  /** In the Measure's order; the first is the primary one. */
  readonly libraries: readonly MeasureLibrary[]
  /** Texts of the criteria that are expressions, in the order of the definitions `Expression 0` and so on of `expressions`. */
  readonly texts: readonly string[]
  readonly expressions: LoadedLibrary | undefined
  /** The versions of definitions that the manifest, the Measure and all its libraries pin. */
  readonly pinned: PinnedVersions
}

/**
 * Loads the Measure's libraries, and translates the expressions in its criteria.
 *
 * @throws {OperationError} `definition-not-found` for a library that does not exist; `definition-required` for a Library without content;
 *   `definition-invalid` for CQL with errors.
 */
export async function loadMeasure(given: LibraryLoading, scope: RequirementScope): Promise<LoadedMeasure> {
  const used: LibraryResource[] = []
  const loading = {
    ...given,
    pinned: pinnedVersions([[scope.manifest], [scope.measure]]),
    onLibrary: (resource: LibraryResource) => void used.push(resource),
  }
  const resources = await libraryResources(loading, scope)
  const beside = resources.map((resource) => ({ resource }))
  const libraries: MeasureLibrary[] = []
  for (const resource of resources) {
    const library = includedBefore(libraries, resource) ?? (await loadLibrary({ ...loading, beside }, resource))
    libraries.push({ resource, library, id: identifierOfLoaded(library) })
  }
  const criteria = expressionsIn(scope, libraries)
  const texts = [...criteria.keys()]
  const pinned = pinnedVersions([[scope.manifest], [scope.measure], used])
  if (texts.length === 0) return { libraries, texts, expressions: undefined, pinned }
  const seen = expressionScope(
    libraries.map(({ id, library: { elm } }) => ({ id, elm })),
    texts,
    new Set([PERIOD, FHIR_HELPERS_LIBRARY, ...libraries.map(({ id }) => id), ...texts.map((_, index) => expressionName(index))]),
  )
  const head = headOfExpressions(libraries, { context: scope.subjectType, ...seen })
  const definitions = texts.map((text, index) => `define "${expressionName(index)}":\n${text}`)
  const locate = (line: number): LineOrigin => (line <= head.length ? { line } : originOf(line - head.length, criteria))
  const source = { text: [...head, ...definitions].join('\n'), from: undefined, locate }
  const count = seen.definitions.length + texts.length
  return { libraries, texts, expressions: await translatedExpressions({ ...loading, beside: libraries }, source, count), pinned }
}

/** The library as an earlier one includes it; `undefined` if none does. */
function includedBefore(libraries: readonly MeasureLibrary[], resource: LibraryResource): LoadedLibrary | undefined {
  for (const { library } of libraries)
    for (const [id, elm] of library.includes)
      if (isCalled({ resource }, id) && textAt(identifierOf(libraryIn(elm)) ?? {}, 'version') === textAt(resource, 'version'))
        return { elm, includes: library.includes }
  return undefined
}

/** All libraries of the evaluation: those of the Measure, and that of the expressions in its criteria. */
export function loadedLibraries({ loaded: { libraries, expressions } }: { readonly loaded: LoadedMeasure }): readonly LoadedLibrary[] {
  return [...libraries.map(({ library }) => library), ...(expressions === undefined ? [] : [expressions])]
}

/** The library of the expressions in criteria. */
export const EXPRESSION_LIBRARY = 'MeasureExpressions'

/** Name of the definition for an expression. */
export function expressionName(index: number): string {
  return `Expression ${index}`
}

/** A definition or function that a criterion names. */
interface NamedDefinition {
  /** Index of its library among those of the Measure. */
  readonly at: number
  readonly name: string
}

/**
 * Resolves a name to a definition: of the primary library, of the only other library that has it, or of the library that the name states
 * (`Other.Definition`). Names may be in quotes.
 *
 * @throws {OperationError} `definition-invalid` for a name that several libraries define, but not the primary one.
 */
export function namedDefinition({ libraries }: Pick<LoadedMeasure, 'libraries'>, criterion: Criterion): NamedDefinition | undefined {
  const name = unquoted(criterion.expression)
  const having = libraries.flatMap((library, at) => (definesName(library, name) ? [at] : []))
  const [first, ...more] = having
  if (first === undefined) return qualifiedDefinition(libraries, criterion.expression)
  if (first === 0 || more.length === 0) return { at: first, name }
  const ids = having.map((at) => libraries[at]?.id ?? '').join(' and ')
  throw new OperationError('definition-invalid', `${criterion.place}: ${quoted(name)} is defined by the libraries ${ids}; say by which.`, {
    expression: [`${criterion.path}.criteria.expression`],
  })
}

/** An identifier of CQL may be quoted (CQL 1.5, Appendix A). */
function unquoted(identifier: string): string {
  return /^"([^"\\]+)"$/.exec(identifier)?.[1] ?? identifier
}

const QUALIFIED = /^(?:"([^"]{1,200})"|([^".]{1,200}))\.(?:"([^"]{1,500})"|([^"]{1,500}))$/

function qualifiedDefinition(libraries: readonly MeasureLibrary[], expression: string): NamedDefinition | undefined {
  const [, quotedId, plainId, quotedName, plainName] = QUALIFIED.exec(expression) ?? []
  const [id, name = ''] = [quotedId ?? plainId, quotedName ?? plainName]
  const at = libraries.findIndex((library) => library.id === id && definesName(library, name))
  return at < 0 ? undefined : { at, name }
}

/** Whether a library has a definition or function with this name. */
function definesName({ library: { elm } }: MeasureLibrary, name: string): boolean {
  return definitionsNamed(libraryIn(elm), 'statements', name).length > 0
}

/** The first criterion whose expression contains a line of the definitions. An expression that ends too early is reported in the line after it. */
function originOf(line: number, criteria: ReadonlyMap<string, Criterion>): LineOrigin {
  let before = 0
  for (const [text, { place, path }] of criteria) {
    const lines = text.split('\n').length
    const own = line - before - 1
    if (own <= lines + 1) return { line: Math.min(Math.max(own, 1), lines), place, path: `${path}.criteria.expression` }
    before += lines + 1
  }
  return { line }
}

/** Criteria that are CQL expressions, by their text; the media type of CQL is also used for names of definitions. */
function expressionsIn(
  { groups, supplements = [] }: RequirementScope,
  libraries: readonly MeasureLibrary[],
): ReadonlyMap<string, Criterion> {
  const criteria = [
    ...groups.flatMap(({ populations, stratifiers }) => [...populations, ...stratifiers.flatMap(({ criteria }) => criteria)]),
    ...groups.flatMap(({ populations }) => populations.flatMap(({ evidence = [] }) => evidence)),
    ...supplements,
  ]
  const texts = new Map<string, Criterion>()
  for (const criterion of criteria) {
    const { language, expression, members } = criterion
    if (members !== undefined || !CQL_LANGUAGES.has(language) || CQL_IDENTIFIER_LANGUAGES.has(language) || texts.has(expression)) continue
    if (namedDefinition({ libraries }, criterion) === undefined) texts.set(expression, criterion)
  }
  return texts
}

/** The lines of the library of expressions before its definitions: includes of the Measure's libraries, and the period. */
function headOfExpressions(
  libraries: readonly MeasureLibrary[],
  { context, vocabularies, definitions }: ExpressionScope & { readonly context: string },
): readonly string[] {
  return [
    `library ${EXPRESSION_LIBRARY} version '1'`,
    "using FHIR version '4.0.1'",
    `include ${FHIR_HELPERS_LIBRARY} version '4.0.1'`,
    ...libraries.map(({ resource, id }) => {
      const version = textAt(resource, 'version')
      return `include ${id}${version === undefined ? '' : ` version '${version}'`}`
    }),
    ...vocabularies,
    `parameter "${PERIOD}" Interval<DateTime>`,
    `context ${context}`,
    ...definitions,
  ]
}

const BUILT_IN = new RegExp(`/${FHIR_HELPERS_LIBRARY}(?:\\|.*)?$`)

/** The libraries of the Measure: contained in it (`#id`), by canonical, or by `Library/<id>`. */
async function libraryResources({ ctx, pinned }: LibraryLoading, { measure }: RequirementScope): Promise<readonly LibraryResource[]> {
  const stated = Array.isArray(measure['library']) ? measure['library'].filter((name) => typeof name === 'string') : []
  const names = stated.filter((name) => !BUILT_IN.test(name))
  if (names.some((name) => !name.startsWith('#'))) ctx.authorize?.('read', 'Library')
  const contained = nodesAt(measure, 'contained').filter((one) => textAt(one, 'resourceType') === 'Library')
  const resources: LibraryResource[] = []
  const missing: string[] = []
  for (const name of new Set(names)) {
    const id = /^Library\/([A-Za-z0-9\-.]{1,64})$/.exec(name)?.[1]
    const { url, version } = canonicalOf(name)
    const found = name.startsWith('#')
      ? contained.find((one) => `#${textAt(one, 'id')}` === name)
      : id === undefined
        ? (await ctx.content.resolve('Library', url, version ?? pinned?.of(url)))?.resource
        : (await ctx.storage.read('Library', id))?.resource
    if (found === undefined) missing.push(name)
    else resources.push(found)
  }
  if (missing.length === 0) return resources
  const [subject, verb] = missing.length === 1 ? ['library', 'does'] : ['libraries', 'do']
  throw new OperationError('definition-not-found', `The ${subject} ${missing.map(quoted).join(', ')} of the Measure ${verb} not exist.`, {
    expression: ['Measure.library'],
  })
}
