import {
  checkOptions,
  CLOCK,
  FLAG,
  FUNCTION,
  having,
  inputShape,
  ITERABLE,
  listOf,
  needed,
  OBJECT,
  objectWith,
  oneOf,
  optionsOf,
  TEXT,
  type InputShape,
  type MemberKind,
} from '../input/index.js'
import { contentView, storageLayer, type ContentLayer } from '../content/index.js'
import type { CodeSystem } from '../code-system/index.js'
import type { OtherRelease } from '../cross-version/index.js'
import type { TypeModel, UnitConversion } from '../fhirpath/index.js'
import type { SearchOptions } from '../search/index.js'
import type { ConceptStore, Indexer, Storage } from '../storage/index.js'
import { createCache, type Cache } from './cache.js'
import {
  DEFAULT_LIMITS,
  LIMITS_SHAPE,
  suppressionProblem,
  type LibraryChecker,
  type Limits,
  type OperationContext,
  type ValidationPolicy,
} from './context.js'
import { createScheduler, pacedResource } from './pace.js'

/** Options of `createContext`; `r4()` of `@fhir-ops/r4` provides all but the storage. */
export interface ContextOptions {
  /** Stored resources, which hide the definitions of the layers below them. */
  readonly storage: Storage
  /** Imported code systems, which are too large to be a resource. */
  readonly concepts?: ConceptStore
  /**
   * Code systems besides CodeSystem resources: those whose codes follow a rule (units, language tags ...), and `snomed()`, `loinc()`, `rxnorm()`,
   * which open the releases that were imported into `concepts`.
   */
  readonly codeSystems?: readonly CodeSystem[]
  /** Layers of definitions below those of the storage, for example the R4 pack; the uppermost first. */
  readonly definitions?: readonly ContentLayer[]
  /** Contexts may share a cache: results for definitions of shared layers are kept once, those for each storage's own definitions separately. */
  readonly cache?: Cache
  /** Search parameters and other options of searches. */
  readonly search?: SearchOptions
  /** The types of the FHIR release, for example those of the R4 pack. */
  readonly types?: TypeModel
  /**
   * FHIR releases whose elements resources may have as extensions: `crossVersion()` of `@fhir-ops/cross-version`. Needs `types`. Default: `validate` knows
   * only the names of elements of other releases.
   */
  readonly crossVersion?: readonly OtherRelease[]
  /** Compares quantities with different units, for example `ucumConversion` of `fhir-ops/ucum`. Default: the units of clinical practice. */
  readonly convertUnit?: UnitConversion
  /** Defaults for every validation; a call may override them. */
  readonly validation?: ValidationPolicy
  /** Checks the CQL of Libraries, for `validate`: `cqlChecker()` of `@fhir-ops/cql`. Default: it is not checked. */
  readonly checkLibrary?: LibraryChecker
  /** Changes to the default limits on one operation (`DEFAULT_LIMITS`). */
  readonly limits?: Partial<Limits>
  /** The clock of answers and periods. Default: the system's. */
  readonly now?: () => Date
  /** Creates the ids of results. Default: random UUIDs. */
  readonly newId?: () => string
  /** Not used here, because a context does not index. Accepted so that the result of `r4()` can be spread into these options. */
  readonly indexer?: Indexer
}

/** The expected type of each member of a policy. */
export const VALIDATION_MEMBERS: { readonly [K in keyof ValidationPolicy]-?: MemberKind } = {
  suppress: listOf(objectWith('a suppression', { id: needed(TEXT), at: TEXT, reason: needed(TEXT), until: needed(TEXT) })),
  bestPractice: oneOf('off', 'error', 'warning', 'information'),
  refuse: listOf(oneOf('markup', 'markdown', 'examples', 'experimental')),
  level: oneOf('error', 'warning', 'information'),
  validateReferences: oneOf('off', 'exists', 'profile'),
  assumeValidRestReferences: FLAG,
  allowComments: FLAG,
  questionnaire: oneOf('off', 'check', 'required'),
  extensibleBindingWarnings: FLAG,
  wrongDisplays: oneOf('error', 'warning'),
  enforceAggregationOutsideBundles: FLAG,
  forPublication: FLAG,
  validateContained: FLAG,
  extensionDomains: listOf(TEXT),
  vitalSigns: oneOf('category', 'code'),
  resourceId: oneOf('optional', 'required', 'prohibited'),
  mustSupport: oneOf('off', 'unmarked', 'all'),
  rules: OBJECT,
}

const LAYER = having('a layer of definitions', ['find'])
/** A generator is not read here: it could not be read again. */
const LAYERS: MemberKind = {
  words: 'a list, with a layer of definitions (an object with find) in each place',
  is: (value) => (Array.isArray(value) ? value.every(LAYER.is) : ITERABLE.is(value)),
}

const SHAPE: InputShape = inputShape<ContextOptions>({
  storage: needed(having('a storage', ['read', 'search', 'write'])),
  concepts: OBJECT,
  codeSystems: listOf(OBJECT),
  definitions: LAYERS,
  cache: having('a cache', ['get', 'set']),
  search: having('search options', ['parameters']),
  types: having('a model of types', ['type']),
  crossVersion: listOf(having('another release', ['element', 'within', 'codes', 'extensions'])),
  convertUnit: FUNCTION,
  validation: optionsOf(inputShape<ValidationPolicy>(VALIDATION_MEMBERS)),
  checkLibrary: FUNCTION,
  limits: optionsOf(LIMITS_SHAPE),
  now: CLOCK,
  newId: FUNCTION,
  indexer: FUNCTION,
})

/**
 * Creates the context of a process.
 *
 * @throws {TypeError} for an option that is missing, unknown, or of the wrong type; a limit that is unknown or not a number; and a suppression of
 *   findings without a reason or a last day.
 */
export function createContext(options: ContextOptions): OperationContext {
  checkOptions('createContext', SHAPE, options)
  checkSuppressions(options)
  const cache = options.cache ?? createCache()
  const scheduler = createScheduler()
  const newId = options.newId ?? (() => crypto.randomUUID())
  // The storage of another context may hold different content under the same id and version, and tests may give both contexts the same ids.
  const name = options.cache === undefined ? 'storage' : crypto.randomUUID()
  const definitions = [...(options.definitions ?? []), ...crossVersionLayers(options)]
  return {
    storage: options.storage,
    concepts: options.concepts,
    codeSystems: options.codeSystems,
    content: contentView(
      [storageLayer(options.storage, name, (stored) => pacedResource(stored, scheduler)), ...definitions],
      [cache, ...(options.concepts === undefined ? [] : [options.concepts])],
    ),
    definitions,
    cache,
    search: options.search,
    types: options.types,
    crossVersion: options.crossVersion,
    convertUnit: options.convertUnit,
    validation: options.validation,
    checkLibrary: options.checkLibrary,
    limits: limitsOf(options.limits),
    scheduler,
    now: options.now ?? (() => new Date()),
    newId,
  }
}

function crossVersionLayers({ crossVersion = [], types }: ContextOptions): readonly ContentLayer[] {
  if (crossVersion.length === 0) return []
  if (types === undefined) throw new TypeError('createContext: crossVersion needs types, for example those of r4().')
  return crossVersion.map(({ extensions }) => extensions(types))
}

function checkSuppressions({ validation }: ContextOptions): void {
  for (const suppression of validation?.suppress ?? []) {
    const problem = suppressionProblem(suppression)
    if (problem !== undefined) throw new TypeError(`createContext: ${problem}`)
  }
}

/** Completes the given limits with the defaults. They were checked with `LIMITS_SHAPE`. */
function limitsOf(set: Partial<Limits> = {}): Limits {
  return { ...DEFAULT_LIMITS, ...set }
}
