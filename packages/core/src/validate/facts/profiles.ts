import { canonicalOf } from '../../content/index.js'
import { cached, type CacheKind, type OperationContext } from '../../context/index.js'
import type { TypeModel } from '../../fhirpath/index.js'
import { compileProfile } from '../profile/compile-profile.js'
import type { Profile } from '../profile/element-rule.js'
import type { Facts } from './facts.js'
import { answers, type Questions } from './questions.js'
import { specificationOf } from './specification.js'

const TYPE_URL = 'http://hl7.org/fhir/StructureDefinition/'

/** Finds and compiles StructureDefinitions. */
export function profileFinder(ctx: OperationContext, model: TypeModel, questions: Questions): Pick<Facts, 'baseType' | 'profile'> {
  const kind = compiledKind(model)
  const { types } = specificationOf(ctx)
  const find = async (canonical: string): Promise<Profile | undefined> => {
    const { url, version } = canonicalOf(canonical)
    const definition = await ctx.content.resolve('StructureDefinition', url, version)
    return definition && cached(ctx.cache, kind, definition)
  }
  const fetchBase = answers(questions, async (type) => {
    const profile = await find(TYPE_URL + type)
    if (profile !== undefined) types.set(type, profile)
    return profile
  })
  return {
    baseType: (type) => types.get(type) ?? fetchBase(type),
    profile: answers(questions, find),
  }
}

function compiledKind(model: TypeModel): CacheKind<Profile> {
  return {
    name: 'validate profile',
    is: (value): value is Profile => 'root' in value && 'canonical' in value,
    bytes: () => 100_000,
    make: ({ resource }) => compileProfile(resource, model),
  }
}
