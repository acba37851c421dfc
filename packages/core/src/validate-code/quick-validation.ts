import { languagesFor, mainText, type PlannedValueSet, type DecidingInclude } from '../terminology/index.js'
import { sameText } from './check-display.js'
import type { GivenCoding, GivenValue, LooseValueSetInput } from './input.js'
import type { ValidateCodeResult } from './result.js'

/**
 * The answer for one coding that is good and needs no issue, as most are: the result of `checkCoding`, in a
 * fifth of the time (bench `in-process`). `undefined` for every other.
 */
export function quickValidation(
  { plan, decidingInclude }: PlannedValueSet,
  value: GivenValue,
  input: LooseValueSetInput,
): ValidateCodeResult | undefined {
  const coding = input.membershipOnly === true ? undefined : plainCoding(value)
  if (coding === undefined || languagesFor(input, plan.valueSet.resource) !== undefined) return undefined
  const include = decidingInclude?.(coding.system)
  return include === undefined ? undefined : answerFrom(include, coding, value)
}

function answerFrom(include: DecidingInclude, coding: PlainCoding, value: GivenValue): ValidateCodeResult | undefined {
  const { provider, listed } = include
  const concept = provider.find(coding.code)
  if (concept === undefined || !isPlain(include, concept, coding.code)) return undefined
  const display = mainText(provider, concept, listed(concept))?.value
  if (coding.display !== undefined && !sameText(display ?? '', coding.display)) return undefined
  return {
    result: true,
    issues: [],
    code: coding.code,
    system: coding.system,
    version: provider.header.version,
    display,
    normalizedCode: undefined,
    concept: value.concept,
    unknownSystems: [],
    causedByUnknown: false,
  }
}

interface PlainCoding extends GivenCoding {
  readonly system: string
}

/** The coding, when it is the only one and leaves the version of its system open. */
function plainCoding(value: GivenValue): PlainCoding | undefined {
  const [coding] = value.codings
  if (coding === undefined || value.codings.length > 1) return undefined
  return isPlainCoding(coding) ? coding : undefined
}

function isPlainCoding(coding: GivenCoding): coding is PlainCoding {
  return coding.system !== undefined && coding.version === undefined
}

/** True for a concept in use that the include takes, without saying more about it, and whose code is spelt so. */
function isPlain({ provider, listed, takes }: DecidingInclude, concept: number, code: string): boolean {
  const { inactive, abstract, status } = provider.status(concept)
  const isInUse = !inactive && !abstract && status !== 'deprecated'
  return isInUse && takes(concept) && provider.code(concept) === code && listed(concept)?.concept['extension'] === undefined
}
