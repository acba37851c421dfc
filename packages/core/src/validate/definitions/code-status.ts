import { extensionAt, stringAt, type JsonObject } from '../../json/index.js'
import { listedConcept, withImports, type CodeSystemProvider, type ListedCode, type ValueSetPlan } from '../../terminology/index.js'
import { outOfUse, type GivenCode, type OutOfUse } from '../run/definitions.js'
import { TYPE_URL } from '../run/element-rule.js'

/** The newest versions of a system that the value set takes codes from. */
export function providersOf(plan: ValueSetPlan, system: string | undefined): readonly CodeSystemProvider[] {
  return [...new Set(partsOf(plan, system).flatMap(({ family, definition }) => family?.provider(definition.version) ?? []))]
}

export function partsOf(plan: ValueSetPlan, system: string | undefined): ValueSetPlan['includes'] {
  return withImports(plan).flatMap(({ includes }) => includes.filter(({ family }) => family?.url === system))
}

/** Whether any concept that is listed says that it should not be used; most value sets have none. */
export function hasOutdated(plan: ValueSetPlan): boolean {
  const includes = withImports(plan).flatMap((one) => one.includes)
  return includes.some(({ definition }) => definition.concepts?.some(({ concept }) => outdatedOf(concept) !== undefined) === true)
}

/** What the lists say of a code; a code alone may be of any system. */
export function outdatedIn(plan: ValueSetPlan, { system, code }: GivenCode): string | undefined {
  const includes = withImports(plan).flatMap((one) => one.includes)
  const own = system === undefined ? includes : includes.filter(({ family }) => family?.url === system)
  return own.flatMap((part) => outdatedOf(listedIn(part, code)?.concept) ?? [])[0]
}

/** What an include lists of a code, by the rule of its code system for upper and lower case. */
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

/** Why a code should not be used any more, by the first of some code systems that has it. */
export function outOfUseIn(plan: ValueSetPlan, { code, systems }: { code: string; systems: readonly string[] }): OutOfUse | undefined {
  for (const provider of systems.flatMap((system) => providersOf(plan, system))) {
    const concept = provider.find(code)
    if (concept !== undefined) return outOfUse(provider.status(concept))
  }
  return undefined
}
