import { canonicalOf } from '../../content/index.js'
import type { OperationContext } from '../../context/index.js'
import type { Pending } from '../../fhirpath/index.js'
import { objectsAt, stringAt, type JsonObject } from '../../json/index.js'
import type { KeptAnswers } from './kept-answers.js'
import { keptOrFetched, type Questions } from './questions.js'

/** What the walk knows of definitions that are read as they are. */
export interface DefinitionFacts {
  /** The resource of a type with a canonical, with or without version; `undefined` when there is none. */
  readonly definition: (type: string, canonical: string) => JsonObject | undefined | Pending
  /** Canonicals of the profiles that ImplementationGuides set for all resources of a type. */
  readonly globalProfiles: (type: string) => readonly string[] | Pending
}

/** Finds definitions such as Questionnaires and Measures. */
export function definitionFinder(ctx: OperationContext, questions: Questions, { definitions, globals }: KeptAnswers): DefinitionFacts {
  const find = keptOrFetched(questions, definitions, async (key) => {
    const end = key.indexOf(' ')
    const { url, version } = canonicalOf(key.slice(end + 1))
    return (await ctx.content.resolve(key.slice(0, end), url, version))?.resource
  })
  return {
    definition: (type, canonical) => find(`${type} ${canonical}`),
    globalProfiles: keptOrFetched(questions, globals, (type) => globalProfiles(ctx, type)),
  }
}

/** @see https://hl7.org/fhir/R4/implementationguide-definitions.html#ImplementationGuide.global */
async function globalProfiles({ content }: OperationContext, type: string): Promise<readonly string[]> {
  const urls = new Set((await content.find('ImplementationGuide', 'global', type)).map(({ url }) => url))
  const guides = await Promise.all([...urls].map((url) => content.resolve('ImplementationGuide', url)))
  const globals = guides.flatMap((guide) => objectsAt(guide?.resource, 'global')).filter((global) => global['type'] === type)
  return [...new Set(globals.flatMap((global) => stringAt(global, 'profile') ?? []))]
}
