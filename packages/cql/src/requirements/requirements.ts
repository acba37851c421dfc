import type { OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { formatCanonical } from 'fhir-ops/internal/content'
import { mergedRequirements, pinnedVersions, type RequirementScope, type Requirements } from 'fhir-ops/internal/evaluate'
import type { TypeModel } from 'fhir-ops/fhirpath'
import { libraryIn, publicDefinitions } from '../elm/library.js'
import { textAt } from '../elm/node.js'
import { loadLibrary } from '../libraries/content.js'
import type { LibraryResource } from '../libraries/find-library.js'
import { FHIRPATH_LANGUAGE } from '../measure/languages.js'
import { expressionName, loadMeasure, namedDefinition, PERIOD } from '../measure/loaded-measure.js'
import type { CqlLanguageOptions } from '../measure/prepare.js'
import { elmRequirements } from './elm-requirements.js'

/**
 * Computes the requirements of a Measure's criteria: its subjects, and the retrieves of the definitions and expressions that criteria name.
 *
 * @throws {OperationError} as `loadMeasure`; `definition-not-found` for a name that the library does not define.
 */
export async function measureRequirements(
  ctx: OperationContext,
  scope: RequirementScope,
  { translator, offset = 0 }: CqlLanguageOptions,
): Promise<Requirements> {
  const model = typesOf(ctx)
  const { libraries, texts, expressions, pinned } = await loadMeasure({ ctx, translator }, scope)
  const analysed = { model, pinned, offset, periods: new Map([[PERIOD, { start: scope.period.start, end: scope.period.end }]]) }
  const criteria = [
    ...scope.groups.flatMap(({ populations, stratifiers }) => [
      ...populations.flatMap((population) => [population, ...(population.evidence ?? [])]),
      ...stratifiers.flatMap((stratifier) => stratifier.criteria),
    ]),
    ...(scope.supplements ?? []),
  ]
  const named = criteria.filter(({ language, expression }) => language !== FHIRPATH_LANGUAGE && !texts.includes(expression))
  const definitions = named.map((criterion) => {
    const definition = namedDefinition({ libraries }, criterion)
    if (definition !== undefined) return definition
    throw new OperationError('definition-not-found', `${criterion.place} names no definition of the Measure's library.`, {
      expression: [`${criterion.path}.criteria.expression`],
    })
  })
  const found: Requirements[] = [
    { data: [{ type: scope.subjectType }], parameters: [], dependsOn: libraries.map(({ resource }) => canonicalOf(resource)) },
  ]
  for (const [at, { library, resource }] of libraries.entries()) {
    const names = definitions.filter((definition) => definition.at === at).map(({ name }) => name)
    found.push(elmRequirements({ ...analysed, url: textAt(resource, 'url'), loaded: library }, [...new Set(names)]))
  }
  const [primary] = libraries
  if (expressions !== undefined)
    found.push(
      elmRequirements(
        { ...analysed, url: primary === undefined ? undefined : textAt(primary.resource, 'url'), loaded: expressions },
        texts.map((_, index) => expressionName(index)),
      ),
    )
  const { parameters, ...merged } = mergedRequirements(found)
  return { ...merged, parameters: parameters.filter(({ use }) => use === 'in') }
}

interface RequiredLibrary {
  readonly resource: LibraryResource
  readonly definitions: readonly string[] | undefined
  readonly manifest: LibraryResource | undefined
}

/**
 * Computes the requirements of definitions of a Library.
 *
 * @throws {OperationError} as `loadLibrary`; `parameter-value` for a definition that it does not have.
 */
export async function libraryRequirements(
  ctx: OperationContext,
  { resource, definitions, manifest }: RequiredLibrary,
  { translator, offset = 0 }: CqlLanguageOptions,
): Promise<Requirements> {
  const used: LibraryResource[] = []
  const loaded = await loadLibrary(
    { ctx, translator, pinned: pinnedVersions([[manifest]]), onLibrary: (library) => void used.push(library) },
    resource,
  )
  const analysed = {
    loaded,
    url: textAt(resource, 'url'),
    pinned: pinnedVersions([[manifest], used]),
    model: typesOf(ctx),
    periods: new Map(),
    offset,
  }
  const found = elmRequirements(analysed, definitions ?? publicDefinitions(libraryIn(loaded.elm)))
  return { ...found, dependsOn: [canonicalOf(resource), ...found.dependsOn] }
}

function typesOf({ types }: OperationContext): TypeModel {
  if (types !== undefined) return types
  throw new OperationError('not-supported', 'CQL needs the types of FHIR, which are not loaded.')
}

function canonicalOf(resource: LibraryResource): string {
  const [url, version, id] = ['url', 'version', 'id'].map((name) => textAt(resource, name))
  if (url === undefined) return `Library/${id ?? ''}`
  return formatCanonical(url, version)
}
