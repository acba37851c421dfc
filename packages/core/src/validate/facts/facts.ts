import { createPace, type OperationContext } from '../../context/index.js'
import type { CompiledPath, Pending, TypeModel } from '../../fhirpath/index.js'
import type { Profile } from '../profile/element-rule.js'
import { broughtFacts } from './brought-facts.js'
import { codeFinder, type CodeFacts } from './codes.js'
import { definitionFinder, type DefinitionFacts } from './definitions.js'
import { expressionCompiler } from './expressions.js'
import { keptAnswers } from './kept-answers.js'
import { profileFinder } from './profiles.js'
import { createQuestions, type Questions } from './questions.js'
import { signatureVerifier, type SignatureFacts } from './signatures.js'

/** What the walk knows from outside the resource. `PENDING` is the answer to a question that has to be fetched before the next walk. */
export interface Facts extends CodeFacts, DefinitionFacts, SignatureFacts {
  /** The definition of a type of the release. */
  readonly baseType: (type: string) => Profile | undefined | Pending
  /** A StructureDefinition by canonical, with or without version; `undefined` when there is none. */
  readonly profile: (canonical: string) => Profile | undefined | Pending
  /**
   * An invariant's expression, compiled once per cache.
   *
   * @throws {OperationError} `fhirpath-invalid` for one that is not FHIRPath.
   */
  readonly expression: (expression: string) => CompiledPath
  /** Fetches what the walk asked for. False when it had all that it needed. */
  readonly settle: () => Promise<boolean>
}

/** Makes the facts of one validation. */
export function createFacts(ctx: OperationContext, model: TypeModel): Promise<Facts> {
  return factsOf(ctx, model, createQuestions(createPace(ctx)))
}

async function factsOf(ctx: OperationContext, model: TypeModel, questions: Questions): Promise<Facts> {
  const { below } = ctx.content
  const kept = await keptAnswers(ctx)
  const own = {
    ...codeFinder(ctx, questions, kept),
    ...definitionFinder(ctx, questions, kept),
    ...profileFinder(ctx, questions, { kept, model }),
    ...signatureVerifier(questions),
    expression: expressionCompiler(ctx.cache, model),
    settle: () => questions.settle(),
  }
  return below === undefined ? own : broughtFacts(own, below.brought, await factsOf({ ...ctx, content: below.view }, model, questions))
}
