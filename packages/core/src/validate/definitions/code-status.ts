import { extensionAt, stringAt, type JsonObject } from '../../json/index.js'
import { listedConcept, withImports, type CodeSystemProvider, type ListedCode, type ValueSetPlan } from '../../terminology/index.js'
import { outOfUse, type GivenCode, type OutOfUse } from '../run/definitions.js'
import { TYPE_URL } from '../run/element-rule.js'

/** The versions of a system that the value set takes codes from: those that it states, otherwise the newest. */
export function providersOf(plan: ValueSetPlan, system: string | undefined): readonly CodeSystemProvider[] {
  return [...new Set(partsOf(plan, system).flatMap(({ family, definition }) => family?.provider(definition.version) ?? []))]
}

/** The includes of a value set and its imports. */
export function includesOf(plan: ValueSetPlan): ValueSetPlan['includes'] {
  return withImports(plan).flatMap(({ includes }) => includes)
}

/** Those of `includesOf` that take codes from a system. */
export function partsOf(plan: ValueSetPlan, system: string | undefined): ValueSetPlan['includes'] {
  return includesOf(plan).filter(({ family }) => family?.url === system)
}

/** Whether any listed concept is marked as outdated; in most value sets, none is. */
export function hasOutdated(plan: ValueSetPlan): boolean {
  return includesOf(plan).some(({ definition }) => definition.concepts?.some(({ concept }) => outdatedOf(concept) !== undefined) === true)
}

/** How the value set marks a code as outdated; a code without system may be of any system. */
export function outdatedIn(plan: ValueSetPlan, { system, code }: GivenCode): string | undefined {
  const includes = includesOf(plan)
  const own = system === undefined ? includes : includes.filter(({ family }) => family?.url === system)
  return own.flatMap((part) => outdatedOf(listedIn(part, code)?.concept) ?? [])[0]
}

/** The entry of a code in an include, found by the rule of its code system for upper and lower case. */
export function listedIn(part: ValueSetPlan['includes'][number], code: string): ListedCode | undefined {
  const { definition, family } = part
  const exact = definition.listed(code)
  if (exact !== undefined || definition.concepts === undefined) return exact
  const provider = family?.provider(definition.version)
  const concept = provider?.find(code)
  return provider === undefined || concept === undefined ? undefined : listedConcept(provider, part, concept)
}

/** Whether the code is inactive in a code system that the value set takes codes from. */
export function isInactive(plan: ValueSetPlan, { system, code }: GivenCode): boolean {
  return providersOf(plan, system).some((provider) => {
    const concept = provider.find(code)
    return concept !== undefined && provider.status(concept).inactive
  })
}

function outdatedOf(concept: JsonObject | undefined): string | undefined {
  if (extensionAt(concept, `${TYPE_URL}valueset-deprecated`)?.['valueBoolean'] === true) return 'deprecated'
  const status = stringAt(extensionAt(concept, `${TYPE_URL}structuredefinition-standards-status`), 'valueCode')
  return status === 'deprecated' || status === 'withdrawn' ? status : undefined
}

/** Why a code should not be used any more, according to the first of the code systems that has it. */
export function outOfUseIn(plan: ValueSetPlan, { code, systems }: { code: string; systems: readonly string[] }): OutOfUse | undefined {
  for (const provider of systems.flatMap((system) => providersOf(plan, system))) {
    const concept = provider.find(code)
    if (concept !== undefined) return outOfUse(provider.status(concept))
  }
  return undefined
}
