import { explained, type Explained, type ExplainOption, type OperationContext } from '../context/index.js'
import { OperationError, type ErrorCode } from '../errors/index.js'
import { checkInput, FLAG, inputShape, needed, OBJECT, objectWith, oneOf, TEXT } from '../input/index.js'
import {
  demandedSupplements,
  makePlan,
  membersOf,
  namedValueSet,
  nameOf,
  terminologyScope,
  type TerminologyScope,
  type ValueSetName,
  type ValueSetPlan,
  type VersionRules,
} from '../terminology/index.js'
import { paced, type Work } from '../work/index.js'
import { compareDefinitions } from './compare-definitions.js'
import { compareMembers, whyOpen, type VersionPolicy } from './compare-members.js'
import { comparisonStep, definitionsStep } from './explain-comparison.js'
import { relationshipOf, type Overlap, type OverlapCodes, type Relationship } from './overlap.js'

/** Two value sets, and how they are looked at. */
export interface CompareInput extends ExplainOption {
  readonly thisValueSet: ValueSetName
  readonly otherValueSet: ValueSetName
  /** Default `as-needed`. */
  readonly versionPolicy?: VersionPolicy | undefined
  readonly rules?: VersionRules | undefined
}

const VALUE_SET_NAME = objectWith('an object with the url of a value set, or the value set', {
  valueSet: OBJECT,
  url: TEXT,
  valueSetVersion: TEXT,
})
const COMPARE_INPUT = inputShape<CompareInput>({
  thisValueSet: needed(VALUE_SET_NAME),
  otherValueSet: needed(VALUE_SET_NAME),
  versionPolicy: oneOf('as-needed', 'always', 'never'),
  rules: OBJECT,
  explain: FLAG,
})

/** What a comparison came to. */
export interface Comparison extends Explained {
  readonly relationship: Relationship
  /** The same for people; of `indeterminate` the reason. */
  readonly message: string
  /** False when the definitions told enough. */
  readonly performedExpansion: boolean
  /** Codes that both have, only the first has (missing), only the second has (extra); absent where codes were not compared one by one. */
  readonly codes?: OverlapCodes | undefined
}

/**
 * Tells how the codes of two value sets relate: by their definitions where these tell enough, else by all their codes.
 *
 * @returns `indeterminate` when the codes of one of them cannot be known: an unknown code system, a grammar, a fragment, a filter that is not
 *   understood.
 * @throws {OperationError} `not-found` for a value set that does not exist; `content-not-found` for a supplement that does not.
 * @see https://build.fhir.org/ig/HL7/fhir-tx-ecosystem-ig/compare.html
 */
export function compare(ctx: OperationContext, input: CompareInput): Promise<Comparison> {
  return explained(ctx, input, async (own) => {
    const comparison = await compared(own, input)
    own.explain?.step(comparisonStep(comparison))
    return comparison
  })
}

async function compared(ctx: OperationContext, input: CompareInput): Promise<Comparison> {
  checkInput(ctx, input, COMPARE_INPUT)
  const valueSets = [await namedValueSet(ctx, input.thisValueSet), await namedValueSet(ctx, input.otherValueSet)] as const
  const supplements = valueSets.flatMap(({ resource }) => demandedSupplements(resource))
  const scope = await terminologyScope(ctx, { supplements, rules: input.rules })
  const names = valueSets.map(nameOf).join(' and ')
  const policy = input.versionPolicy ?? 'as-needed'
  let performedExpansion = false
  try {
    const plans = [await makePlan(scope, valueSets[0]), await makePlan(scope, valueSets[1])] as const
    const defined = compareDefinitions(...plans, { rules: scope.rules, policy, explain: ctx.explain })
    performedExpansion = defined === undefined
    ctx.explain?.step(definitionsStep(!performedExpansion))
    const overlap = defined ?? (await paced(expandedOverlap(scope, plans, policy), scope.pace))
    const relationship = relationshipOf(overlap)
    const message = messageOf(relationship, [nameOf(valueSets[0]), nameOf(valueSets[1])])
    const codes = performedExpansion && relationship === 'same' ? undefined : overlap.codes
    return { relationship, message, performedExpansion, codes }
  } catch (error) {
    if (!(error instanceof OperationError) || !UNDECIDED.has(error.code)) throw error
    return { relationship: 'indeterminate', message: `Unable to compare ${names}: ${error.message}`, performedExpansion }
  }
}

/** Failures that say that the codes of a value set cannot be known. */
const UNDECIDED: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'content-not-found',
  'definition-invalid',
  'not-supported',
  'regex-unsupported',
  'too-costly',
  'unprocessable',
])

function* expandedOverlap(scope: TerminologyScope, plans: readonly [ValueSetPlan, ValueSetPlan], policy: VersionPolicy): Work<Overlap> {
  const [mine, others] = [yield* membersOf(scope, plans[0]), yield* membersOf(scope, plans[1])]
  const open = whyOpen(plans[0], mine) ?? whyOpen(plans[1], others)
  if (open !== undefined) throw new OperationError('not-supported', `${open}.`)
  return yield* compareMembers(mine, others, policy)
}

type Decided = ReturnType<typeof relationshipOf>

function messageOf(relationship: Decided, [a, b]: readonly [string, string]): string {
  const texts: Readonly<Record<Decided, string>> = {
    same: `The value sets ${a} and ${b} contain the same codes`,
    subset: `The valueSet ${a} is a sub-set of the valueSet ${b}`,
    superset: `The valueSet ${a} is a super-set of the valueSet ${b}`,
    overlapping: `Both value sets ${a} and ${b} contain the codes the other doesn't, but there is some overlap`,
    disjoint: `No shared codes between the value sets ${a} and ${b}`,
    empty: `Both the value sets ${a} and ${b} are empty`,
  }
  return texts[relationship]
}
