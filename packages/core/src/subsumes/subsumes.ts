import type { OperationContext } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import {
  preparedChoice,
  refusal,
  terminologyScope,
  unknownSystemValues,
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

/** How A stands to B. */
export type SubsumptionOutcome = 'equivalent' | 'subsumes' | 'subsumed-by' | 'not-subsumed'

/**
 * Tells whether one code is above, below or the same as another in the hierarchy of their code system.
 *
 * @throws {OperationError} `not-found` for an unknown code, code system or version.
 * @see https://hl7.org/fhir/R4/codesystem-operation-subsumes.html
 */
export async function subsumes(ctx: OperationContext, input: SubsumesInput): Promise<SubsumptionOutcome> {
  const scope = await terminologyScope(ctx, input.rules === undefined ? {} : { rules: input.rules })
  const family = await scope.family(input.system)
  const { provider, wished } = await preparedChoice(family, { include: input.version, rules: scope.rules })
  if (provider === undefined) {
    const [id, values] = unknownSystemValues(family, wished, 'validated')
    throw refusal(id, values, { code: 'not-found' })
  }
  return outcomeOf(provider, placeOf(provider, input.codeA), placeOf(provider, input.codeB))
}

function placeOf(provider: CodeSystemProvider, code: string): number {
  const place = provider.find(code)
  if (place !== undefined) return place
  throw new OperationError('not-found', `Unable to find code ${quoted(code)} in ${quoted(provider.header.url)}.`)
}

function outcomeOf({ hierarchy }: CodeSystemProvider, a: number, b: number): SubsumptionOutcome {
  const [isAbove, isBelow] = [hierarchy.isWithin(b, a), hierarchy.isWithin(a, b)]
  if (isAbove && isBelow) return 'equivalent'
  if (isAbove) return 'subsumes'
  return isBelow ? 'subsumed-by' : 'not-subsumed'
}
