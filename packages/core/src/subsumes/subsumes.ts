import { createPace, explained, type Explained, type ExplainOption, type OperationContext } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import { checkInput, FLAG, inputShape, needed, OBJECT, TEXT } from '../input/index.js'
import {
  explainUnknownCode,
  hierarchyStep,
  preparedChoice,
  refusal,
  terminologyScope,
  unknownSystemValues,
  versionStep,
  type CodeSystemProvider,
  type VersionRules,
} from '../terminology/index.js'

/** Two codes of one code system. */
export interface SubsumesInput {
  /** Url of the code system. */
  readonly system: string
  readonly version?: string | undefined
  readonly codeA: string
  readonly codeB: string
  readonly rules?: VersionRules | undefined
}

const SUBSUMES_INPUT = inputShape<SubsumesInput & ExplainOption>({
  system: needed(TEXT),
  version: TEXT,
  codeA: needed(TEXT),
  codeB: needed(TEXT),
  rules: OBJECT,
  explain: FLAG,
})

/** How A stands to B. */
export type SubsumptionOutcome = 'equivalent' | 'subsumes' | 'subsumed-by' | 'not-subsumed'

/** How A stands to B, and why. */
export interface ExplainedSubsumption extends Explained {
  readonly outcome: SubsumptionOutcome
}

/**
 * Tells whether one code is above, below or the same as another in the hierarchy of their code system.
 *
 * @returns The outcome; with `explain: true` the outcome and its explanation, which shows the way from one code up to the other.
 * @throws {OperationError} `not-found` for an unknown code, code system or version.
 * @see https://hl7.org/fhir/R4/codesystem-operation-subsumes.html
 */
export function subsumes(ctx: OperationContext, input: SubsumesInput & { readonly explain: true }): Promise<ExplainedSubsumption>
export function subsumes(ctx: OperationContext, input: SubsumesInput): Promise<SubsumptionOutcome>
export function subsumes(
  ctx: OperationContext,
  input: (SubsumesInput & { readonly explain?: true }) | undefined,
): Promise<SubsumptionOutcome | ExplainedSubsumption> {
  if (input?.explain !== true) return outcomeFor(ctx, input)
  return explained(ctx, input, async (own) => ({ outcome: await outcomeFor(own, input) }))
}

async function outcomeFor(ctx: OperationContext, input: SubsumesInput | undefined): Promise<SubsumptionOutcome> {
  checkInput(ctx, input, SUBSUMES_INPUT)
  const scope = await terminologyScope(ctx, input.rules === undefined ? {} : { rules: input.rules })
  const family = await scope.family(input.system)
  const choice = await preparedChoice(family, { include: input.version, rules: scope.rules })
  ctx.explain?.step(versionStep(choice, 'request'))
  const { provider, wished } = choice
  if (provider === undefined) {
    const [id, values] = unknownSystemValues(family, wished, 'validated')
    throw refusal(id, values, { code: 'not-found' })
  }
  const [a, b] = [provider.find(input.codeA), provider.find(input.codeB)]
  if (a === undefined) throw await unknownCode(ctx, provider, input.codeA)
  if (b === undefined) throw await unknownCode(ctx, provider, input.codeB)
  ctx.explain?.step(hierarchyStep(provider, { a, b }))
  return outcomeOf(provider, a, b)
}

async function unknownCode(ctx: OperationContext, provider: CodeSystemProvider, code: string): Promise<OperationError> {
  await explainUnknownCode(ctx.explain, createPace(ctx), { provider, code })
  return new OperationError('not-found', `Unable to find code ${quoted(code)} in ${quoted(provider.header.url)}.`)
}

function outcomeOf({ hierarchy }: CodeSystemProvider, a: number, b: number): SubsumptionOutcome {
  const [isAbove, isBelow] = [hierarchy.isWithin(b, a), hierarchy.isWithin(a, b)]
  if (isAbove && isBelow) return 'equivalent'
  if (isAbove) return 'subsumes'
  return isBelow ? 'subsumed-by' : 'not-subsumed'
}
