import type { OperationContext } from '../context/index.js'
import { checkInput, inputShape, needed, TEXT } from '../input/index.js'
import { objectsAt, stringAt, type JsonObject } from '../json/index.js'
import { definedValueSet } from './value-set/value-set.js'
import { findValueSet } from './value-set/find-value-set.js'
import { planWithSupplements } from './value-set/make-plan.js'
import { membershipIn, type MembershipQuestion } from './value-set/membership.js'
import { type CodeInQuestion, withImports, type ValueSetPlan } from './value-set/plan.js'
import { holdsAtOnce, preparedFilters } from './value-set/filter-tests.js'
import { OperationError, type ErrorCode } from '../errors/index.js'

/** A code, a Coding, or a CodeableConcept of a resource. */
export type BoundValue = string | JsonObject

/** Returns whether a value set contains a value; `undefined` when that cannot be decided. */
export type MemberTest = (value: BoundValue) => boolean | undefined

/** Tests whether values are in value sets, for many values of one run. */
export interface BindingChecker {
  /**
   * Returns the test for a value set, created once per canonical. A code without system is in the set if the set has it from any system; for a
   * CodeableConcept, one coding is enough. The test cannot decide when the value set, one of its imports or the code system is unknown, or when the
   * value set cannot be evaluated; codes that the value set itself lists are decided nevertheless.
   */
  test(valueSet: string): Promise<MemberTest>
  /** Tests one value. */
  memberOf(valueSet: string, value: BoundValue): Promise<boolean | undefined>
}

const QUESTION = inputShape<{ readonly valueSet: string }>({ valueSet: needed(TEXT) })

/** Creates a checker of bindings, for one run. */
export function createBindingChecker(ctx: OperationContext): BindingChecker {
  const tests = new Map<string, Promise<MemberTest>>()
  const test = (valueSet: string): Promise<MemberTest> => {
    const known = tests.get(valueSet) ?? memberTest(ctx, valueSet)
    tests.set(valueSet, known)
    return known
  }
  return { test, memberOf: async (valueSet, value) => (await test(valueSet))(value) }
}

const CANNOT_TELL: MemberTest = () => undefined

async function memberTest(ctx: OperationContext, canonical: string): Promise<MemberTest> {
  checkInput(ctx, { valueSet: canonical }, QUESTION)
  const found = await findValueSet(ctx, canonical)
  if (found === undefined) return CANNOT_TELL
  try {
    const { scope, plan } = await planWithSupplements(ctx, definedValueSet(ctx.cache, found))
    await preparedFilters(scope.pace, plan, scope.rules)
    return testOf({ scope, options: { trustLists: true }, holds: holdsAtOnce }, plan)
  } catch (error) {
    if (isUndecidable(error)) return CANNOT_TELL
    throw error
  }
}

function testOf(question: Omit<MembershipQuestion, 'code'>, plan: ValueSetPlan): MemberTest {
  const systems = [...new Set(withImports(plan).flatMap(({ includes }) => includes.flatMap(({ definition }) => definition.system ?? [])))]
  const answers = new Map<string, boolean | undefined>()
  const ask = (code: CodeInQuestion): boolean | undefined => {
    const key = JSON.stringify([code.system, code.version, code.code])
    if (!answers.has(key)) answers.set(key, answered({ ...question, code }, plan))
    return answers.get(key)
  }
  return (value) => {
    if (typeof value === 'string') return any(systems.map((system) => ask({ system, code: value })))
    const codings = Array.isArray(value['coding']) ? objectsAt(value, 'coding') : [value]
    return any(codings.map((coding) => askCoding(coding, ask)))
  }
}

function askCoding(coding: JsonObject, ask: (code: CodeInQuestion) => boolean | undefined): boolean | undefined {
  const [system, code] = [stringAt(coding, 'system'), stringAt(coding, 'code')]
  if (system === undefined || code === undefined) return false
  return ask({ system, code, version: stringAt(coding, 'version') })
}

function answered(question: MembershipQuestion, plan: ValueSetPlan): boolean | undefined {
  try {
    const { state } = membershipIn(question, plan)
    return state === 'unknown' ? undefined : state === 'in'
  } catch (error) {
    if (isUndecidable(error)) return undefined
    throw error
  }
}

/** Combines answers: true if any is true; otherwise undecided if any is undecided. */
function any(answers: readonly (boolean | undefined)[]): boolean | undefined {
  if (answers.includes(true)) return true
  return answers.includes(undefined) ? undefined : false
}

/** Errors that are due to the definitions: the codes of the value set cannot be determined. */
const UNDECIDABLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'content-not-found',
  'definition-invalid',
  'not-supported',
  'regex-unsupported',
  'too-costly',
  'unprocessable',
])

/** True for an error that means that the codes of a value set cannot be determined because of its definitions. */
export function isUndecidable(error: unknown): error is OperationError {
  return error instanceof OperationError && UNDECIDABLE.has(error.code)
}
