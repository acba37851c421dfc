import { canonicalOf } from '../../content/index.js'
import type { OperationContext } from '../../context/index.js'
import type { Pending } from '../../fhirpath/index.js'
import type { JsonObject } from '../../json/index.js'
import type { KeptAnswers } from './kept-answers.js'
import { keptOrFetched, type Questions } from './questions.js'

/** What the walk knows of definitions that are read as they are. */
export interface DefinitionFacts {
  /** The resource of a type with a canonical, with or without version; `undefined` when there is none. */
  readonly definition: (type: string, canonical: string) => JsonObject | undefined | Pending
}

/** Finds definitions such as Questionnaires and Measures. */
export function definitionFinder(ctx: OperationContext, questions: Questions, { definitions }: KeptAnswers): DefinitionFacts {
  const find = keptOrFetched(questions, definitions, async (key) => {
    const end = key.indexOf(' ')
    const { url, version } = canonicalOf(key.slice(end + 1))
    return (await ctx.content.resolve(key.slice(0, end), url, version))?.resource
  })
  return { definition: (type, canonical) => find(`${type} ${canonical}`) }
}
