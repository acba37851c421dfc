import type { Parameters } from 'fhir/r4.js'
import { explained, type Explained, type ExplainOption, type OperationContext, type Pace } from '../context/index.js'
import { checkResult, OperationError } from '../errors/index.js'
import { explanationParameter } from '../explain/index.js'
import { checkInput, FLAG, inputShape, needed, objectWith, oneOf, resourceOf, TEXT } from '../input/index.js'
import {
  conceptsOf,
  coverageOf,
  demandedSupplements,
  makePlan,
  planWithSupplements,
  membersOf,
  namedValueSet,
  nameOf,
  isUndecidable,
  terminologyScope,
  VERSION_RULES,
  type Members,
  type Segment,
  type TerminologyScope,
  type ValueSetName,
  type ValueSetPlan,
  type VersionRules,
} from '../terminology/index.js'
import {
  compareDefinitions,
  type VersionPolicy,
  comparisonStep,
  definitionsStep,
  overlapOf,
  relationshipOf,
  type Overlap,
  type OverlapCodes,
  type Relationship,
} from './compare-definitions.js'

/** Input of `compare`: two value sets, each by `url` or `valueSet`, and options. */
export interface CompareInput extends ExplainOption {
  readonly thisValueSet: ValueSetName
  readonly otherValueSet: ValueSetName
  /** Whether equal codes of different versions of a code system are different codes. Default `as-needed`. */
  readonly versionPolicy?: VersionPolicy | undefined
  /** Rules that choose versions of code systems and value sets. */
  readonly rules?: VersionRules | undefined
}

const VALUE_SET_NAME = objectWith('an object with the url of a value set, or the value set', {
  valueSet: resourceOf('ValueSet'),
  url: TEXT,
  valueSetVersion: TEXT,
})
const COMPARE_INPUT = inputShape<CompareInput>({
  thisValueSet: needed(VALUE_SET_NAME),
  otherValueSet: needed(VALUE_SET_NAME),
  versionPolicy: oneOf('as-needed', 'always', 'never'),
  rules: VERSION_RULES,
  explain: FLAG,
})

/** Result of a comparison of two value sets. */
export interface CompareResult extends Explained {
  readonly relationship: Relationship
  /** The relationship in a sentence; for `indeterminate`, the reason. */
  readonly message: string
  /** False if the definitions were enough to decide. */
  readonly performedExpansion: boolean
  /** Codes in both value sets (`common`), only in the first (`missing`), only in the second (`extra`); absent where codes were not compared one by one. */
  readonly codes?: OverlapCodes | undefined
}

/**
 * Compares the codes of two value sets: by their definitions if these are enough to decide, otherwise code by code.
 *
 * @returns `indeterminate` when the codes of a value set cannot be determined: an unknown code system, a grammar, a fragment, an unknown filter.
 * @throws {OperationError} `parameter-required` for a value set that is not named, `parameter-invalid` for one that is named twice; `not-found` for a
 *   value set that does not exist; `content-not-found` for a supplement that one of the two requires and that does not exist.
 * @see https://build.fhir.org/ig/HL7/fhir-tx-ecosystem-ig/compare.html
 */
export function compare(ctx: OperationContext, input: CompareInput): Promise<CompareResult> {
  return explained(ctx, input, async (own) => {
    const comparison = await compared(own, input)
    own.explain?.step(comparisonStep(comparison))
    return comparison
  })
}

async function compared(ctx: OperationContext, input: CompareInput): Promise<CompareResult> {
  checkInput(ctx, input, COMPARE_INPUT)
  const valueSets = [
    await namedValueSet(ctx, input.thisValueSet, 'thisValueSet.url'),
    await namedValueSet(ctx, input.otherValueSet, 'otherValueSet.url'),
  ] as const
  const required = valueSets.flatMap(({ resource }) => demandedSupplements(resource))
  const silent = { ...ctx, explain: undefined }
  // Outside of `try`: these have to exist, while one that an import requires is a reason why codes cannot be determined.
  await terminologyScope(silent, { supplements: required })
  const names = valueSets.map(nameOf).join(' and ')
  const policy = input.versionPolicy ?? 'as-needed'
  let performedExpansion = false
  try {
    const { supplements } = await planWithSupplements(silent, valueSets[0], { supplements: required, rules: input.rules })
    const { scope, plan } = await planWithSupplements(ctx, valueSets[1], { supplements, rules: input.rules })
    const plans = [await makePlan(scope, valueSets[0]), plan] as const
    const defined = await compareDefinitions(...plans, { pace: scope.pace, rules: scope.rules, policy, explain: ctx.explain })
    performedExpansion = defined === undefined
    ctx.explain?.step(definitionsStep(!performedExpansion))
    const overlap = defined ?? (await expandedOverlap(scope, plans, policy))
    const relationship = relationshipOf(overlap)
    const message = messageOf(relationship, [nameOf(valueSets[0]), nameOf(valueSets[1])])
    const codes = performedExpansion && relationship === 'same' ? undefined : overlap.codes
    return { relationship, message, performedExpansion, codes }
  } catch (error) {
    if (!isUndecidable(error)) throw error
    return { relationship: 'indeterminate', message: `Unable to compare ${names}: ${error.message}`, performedExpansion }
  }
}

async function expandedOverlap(
  scope: TerminologyScope,
  plans: readonly [ValueSetPlan, ValueSetPlan],
  policy: VersionPolicy,
): Promise<Overlap> {
  const mine = await scope.pace.run(membersOf(scope, plans[0]))
  const others = await scope.pace.run(membersOf(scope, plans[1]))
  const open = whyOpen(plans[0], mine) ?? whyOpen(plans[1], others)
  if (open !== undefined) throw new OperationError('not-supported', `${open}.`)
  return compareMembers(scope, [mine, others], policy)
}

/** Compares all codes of two value sets. Codes are returned in the order of the value sets, each once. */
export async function compareMembers(
  { pace }: Pick<TerminologyScope, 'pace'>,
  [a, b]: readonly [Members, Members],
  policy: VersionPolicy,
): Promise<Overlap> {
  const missing = await difference(pace, [a, b], policy)
  const extra = await difference(pace, [b, a], policy)
  const taken = await pace.run(coverageOf(missing))
  const common: Segment[] = []
  for (const segment of a.segments) {
    await pace.step()
    common.push(taken.rest(segment))
  }
  return overlapOf({ common: await codesOf(pace, common), missing: await codesOf(pace, missing), extra: await codesOf(pace, extra) })
}

/** Returns why the listed codes of a value set are incomplete; `undefined` when they are complete. */
function whyOpen({ valueSet }: ValueSetPlan, { segments, systems }: Members): string | undefined {
  if (segments.some(({ formed }) => formed !== undefined)) return `The codes of ${nameOf(valueSet)} cannot all be listed`
  const fragment = systems.find(({ provider }) => provider?.header.complete === false)
  return fragment === undefined ? undefined : `${nameOf(valueSet)} is based on a fragment of the code system ${fragment.family.url}`
}

/** Returns the codes of the first that the second lacks. */
async function difference(pace: Pace, [a, b]: readonly [Members, Members], policy: VersionPolicy): Promise<readonly Segment[]> {
  const others = await pace.run(coverageOf(b.segments))
  const left: Segment[] = []
  for (const segment of a.segments) {
    await pace.step()
    const isVersioned = policy === 'always' || (policy === 'as-needed' && segment.provider.header.versionNeeded)
    left.push(isVersioned ? others.rest(segment) : await pace.run(others.restOfAnyVersion(segment)))
  }
  return left
}

const STEPS = 256

async function codesOf(pace: Pace, segments: readonly Segment[]): Promise<readonly string[]> {
  const codes = new Set<string>()
  for (const segment of segments) {
    for (const concept of conceptsOf(segment)) {
      if (codes.size % STEPS === 0) await pace.step()
      codes.add(segment.provider.code(concept))
    }
  }
  return [...codes]
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

/** Creates the Parameters that `$compare` returns. `diagnostics: true` adds the codes and whether an expansion was needed. Default false. */
export function toParameters(result: CompareResult, { diagnostics = false }: { readonly diagnostics?: boolean } = {}): Parameters {
  checkResult('compare', result, 'performedExpansion')
  const lists = Object.entries(result.codes ?? {}).filter(([, list]) => list.length > 0)
  const details = [
    { name: 'performed-expansion', valueBoolean: result.performedExpansion },
    ...lists.map(([name, list]) => ({ name: `${name}-codes`, valueString: list.join(',') })),
  ]
  return {
    resourceType: 'Parameters',
    parameter: [
      { name: 'result', valueCode: result.relationship },
      { name: 'message', valueString: result.message },
      ...(diagnostics ? details : []),
      ...explanationParameter(result.explanation),
    ],
  }
}
