import { canonicalOf, resolveCanonical } from '../../content/index.js'
import { cached, createPace, type CacheKind, type OperationContext } from '../../context/index.js'
import { PENDING, type TypeModel } from '../../fhirpath/index.js'
import { objectAt, objectsAt, stringAt, type JsonObject } from '../../json/index.js'
import { sharedWork, type Work } from '../../work/index.js'
import { compileProfile, notEmpty } from '../profile/compile-profile.js'
import { DEMAND_RULES } from '../rules/table.js'
import type { Definitions, ResourceDefinitions } from '../run/definitions.js'
import { TYPE_URL, type Profile } from '../run/element-rule.js'
import { answers, keptOrFetched, type Questions, type KeptAnswers } from './answers.js'
import { baseTypesOf } from './specification.js'

/** The type model, and the store for compiled profiles. */
interface Compiling {
  readonly kept: KeptAnswers
  readonly model: TypeModel
}

/** Finds and compiles StructureDefinitions. */
export function profileFinder(
  ctx: OperationContext,
  questions: Questions,
  { kept, model }: Compiling,
): Pick<Definitions, 'baseType' | 'profile'> {
  const kind = compiledKind(model)
  const pace = createPace(ctx)
  const { types } = baseTypesOf(ctx)
  const find = async (canonical: string): Promise<Profile | undefined> => {
    const definition = await resolveCanonical(ctx.content, 'StructureDefinition', canonical)
    return definition && (await pace.run(cached(ctx.cache, kind, definition).compiled()))
  }
  const fetchBase = answers(questions, async (type) => {
    const profile = await find(TYPE_URL + type)
    if (profile !== undefined) types.set(type, notEmpty(profile))
    return profile
  })
  return {
    baseType: (type) => types.get(type) ?? fetchBase(type),
    profile: keptOrFetched(questions, kept.profiles, find),
  }
}

/** A profile whose compilation is shared: each caller that needs it continues the same work, so that it is compiled once. */
interface CompiledOnce {
  readonly compiled: () => Work<Profile>
  readonly elements: number
}

function compiledKind(model: TypeModel): CacheKind<CompiledOnce> {
  return {
    name: 'validate profile',
    is: (value): value is CompiledOnce => 'compiled' in value && 'elements' in value,
    bytes: ({ elements }) => Math.max(100_000, elements * 1_000),
    make: ({ resource }) => ({
      compiled: sharedWork(() => compileProfile(resource, model, DEMAND_RULES)),
      elements: Math.max(...['snapshot', 'differential'].map((name) => objectsAt(objectAt(resource, name), 'element').length)),
    }),
  }
}

/** The types of resources that a canonical can refer to. */
const CANONICAL_TYPES = [
  'StructureDefinition',
  'CodeSystem',
  'ValueSet',
  'ConceptMap',
  'Questionnaire',
  'SearchParameter',
  'OperationDefinition',
  'CapabilityStatement',
  'ImplementationGuide',
  'Library',
  'Measure',
  'PlanDefinition',
  'ActivityDefinition',
  'StructureMap',
  'NamingSystem',
  'CompartmentDefinition',
  'MessageDefinition',
  'GraphDefinition',
  'EventDefinition',
  'ResearchDefinition',
  'ChargeItemDefinition',
  'TerminologyCapabilities',
]

/** Finds definitions such as Questionnaires and Measures. */
export function definitionFinder(
  ctx: OperationContext,
  questions: Questions,
  { definitions, maps, kinds, globals, bases, oids }: KeptAnswers,
): ResourceDefinitions {
  const find = keptOrFetched(questions, definitions, async (key) => {
    const end = key.indexOf(' ')
    const { url, version } = canonicalOf(key.slice(end + 1))
    return (await ctx.content.resolve(key.slice(0, end), url, version))?.resource
  })
  const allMaps = keptOrFetched(questions, maps, async (type) => (await ctx.content.all(type))?.map(({ resource }) => resource))
  return {
    definition: byType((type, canonical) => find(`${type} ${canonical}`)),
    maps: () => allMaps('StructureMap'),
    kinds: keptOrFetched(questions, kinds, (canonical) => kindsOf(ctx, canonical)),
    globalProfiles: keptOrFetched(questions, globals, (type) => globalProfiles(ctx, type)),
    systemsWithOid: keptOrFetched(questions, oids, async (oid) => [
      ...new Set((await ctx.content.find('CodeSystem', 'identifier', oid)).map(({ url }) => url)),
    ]),
    isBase: keptOrFetched(questions, bases, async (url) => (await ctx.content.find('StructureDefinition', 'base', url)).length > 0),
  }
}

/** Asks once for each canonical of a type. Rules on definitions repeat their questions, and known answers need no composed key. */
function byType(find: ResourceDefinitions['definition']): ResourceDefinitions['definition'] {
  let known: Map<string, Map<string, JsonObject | undefined>> | undefined
  return (type, canonical) => {
    const ofType = known?.get(type)
    const before = ofType?.get(canonical)
    if (before !== undefined || ofType?.has(canonical) === true) return before
    const found = find(type, canonical)
    if (found === PENDING) return found
    if (ofType === undefined) (known ??= new Map()).set(type, new Map([[canonical, found]]))
    else ofType.set(canonical, found)
    return found
  }
}

async function kindsOf({ content }: OperationContext, canonical: string): Promise<readonly string[]> {
  const { url, version } = canonicalOf(canonical)
  const found = await Promise.all(CANONICAL_TYPES.map((type) => content.resolve(type, url, version)))
  return CANONICAL_TYPES.filter((_, index) => found[index] !== undefined)
}

/** @see https://hl7.org/fhir/R4/implementationguide-definitions.html#ImplementationGuide.global */
async function globalProfiles({ content }: OperationContext, type: string): Promise<readonly string[]> {
  const urls = new Set((await content.find('ImplementationGuide', 'global', type)).map(({ url }) => url))
  const guides = await Promise.all([...urls].map((url) => content.resolve('ImplementationGuide', url)))
  const globals = guides.flatMap((guide) => objectsAt(guide?.resource, 'global')).filter((global) => global['type'] === type)
  return [...new Set(globals.flatMap((global) => stringAt(global, 'profile') ?? []))]
}
