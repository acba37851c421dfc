import { canonicalOf, type Brought } from '../../content/index.js'
import { createPace, type OperationContext } from '../../context/index.js'
import { PENDING, type CompiledPath, type Pending, type TypeModel } from '../../fhirpath/index.js'
import type { Profile } from '../run/element-rule.js'
import { createQuestions, type Questions } from './answers.js'
import { codeFinder, type CodeDefinitions, type CodeList } from './code-lists.js'
import { expressionCompiler } from './expressions.js'
import { keptAnswers } from './kept-answers.js'
import { definitionFinder, profileFinder, type ResourceDefinitions } from './profiles.js'
import { signatureVerifier, type SignatureChecks } from './signatures.js'

/** What the walk knows from outside the resource. `PENDING` is the answer to a question that has to be fetched before the next walk. */
export interface Definitions extends CodeDefinitions, ResourceDefinitions, SignatureChecks {
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
export function createDefinitions(ctx: OperationContext, model: TypeModel): Promise<Definitions> {
  return definitionsIn(ctx, model, createQuestions(createPace(ctx)))
}

async function definitionsIn(ctx: OperationContext, model: TypeModel, questions: Questions): Promise<Definitions> {
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
  return below === undefined
    ? own
    : withRequestDefinitions(own, below.brought, await definitionsIn({ ...ctx, content: below.view }, model, questions))
}

/**
 * Facts of a request that brings definitions. What rests on none of them is answered by the facts of the content below, which know it from
 * earlier validations; the other answers are the request's own and end with it.
 */
function withRequestDefinitions(own: Definitions, brought: Brought, below: Definitions): Definitions {
  const by = (type: string, canonical: string): Definitions => (brought.get(type)?.has(canonicalOf(canonical).url) === true ? own : below)
  const lists = new Map<CodeList, boolean>()
  const isBelow = (list: CodeList): boolean => {
    const known = lists.get(list) ?? !list.restsOn(brought)
    lists.set(list, known)
    return known
  }
  const either = (list: CodeList | undefined | Pending, ask: () => CodeList | undefined | Pending): CodeList | undefined | Pending =>
    list === PENDING || (list !== undefined && isBelow(list)) ? list : ask()
  return {
    ...own,
    profile: (canonical) => by('StructureDefinition', canonical).profile(canonical),
    definition: (type, canonical) => by(type, canonical).definition(type, canonical),
    globalProfiles: (type) => (brought.has('ImplementationGuide') ? own : below).globalProfiles(type),
    codeSystem: (canonical) => by('CodeSystem', canonical).codeSystem(canonical),
    valueSet: (canonical) => either(below.valueSet(canonical), () => own.valueSet(canonical)),
    baseValueSet: (canonical) => either(below.baseValueSet(canonical), () => own.baseValueSet(canonical)),
  }
}
