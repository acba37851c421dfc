import type { Coding } from 'fhir/r4.js'
import { expand } from 'fhir-ops/expand'
import type { OperationContext } from 'fhir-ops/context'
import { isObject } from 'fhir-ops/internal/json'
import { translate, type TranslateMatch } from 'fhir-ops/translate'
import type { TranslateOptions } from 'fhir-ops/internal/translate'
import { validate, type ValidateInput } from 'fhir-ops/validate'
import { validateCode } from 'fhir-ops/validate-code'

/** A context, or an object that has one, such as a test service. */
export type WithContext = OperationContext | { readonly context: OperationContext }

/** An expected translation; omitted members may have any value. */
export interface ExpectedTranslation {
  readonly code: string
  readonly system?: string
  readonly equivalence?: string
}

/** An expected code of a value set. */
export interface ExpectedCode extends Pick<Coding, 'display' | 'version'> {
  readonly system: string
  readonly code: string
}

/** The result of a matcher, for vitest and Jest. */
export interface MatcherAnswer {
  readonly pass: boolean
  readonly message: () => string
}

/**
 * `expect(resource).toBeValid(service, options)`: passes if `validate` finds no error. On failure, the message lists the errors with their places.
 *
 * @param options Profiles and other options of `validate`.
 */
export async function toBeValid(
  resource: unknown,
  where: WithContext,
  options: Omit<ValidateInput, 'resource'> = {},
): Promise<MatcherAnswer> {
  if (typeof resource !== 'string' && !isObject(resource)) throw new TypeError('toBeValid: expect(...) takes a resource or its JSON text.')
  const { valid, findings } = await validate(contextOf('toBeValid', where), { ...options, resource })
  const errors = findings.filter(({ severity }) => severity === 'error' || severity === 'fatal')
  const lines = errors.map(({ expression = '', text }) => `  ${expression}: ${text}`)
  return {
    pass: valid,
    message: () => (valid ? 'The resource is valid, and was expected not to be.' : ['The resource is not valid:', ...lines].join('\n')),
  }
}

/**
 * `expect({ system, code }).toTranslateTo(service, { code: 'red' }, { url })`: passes if `translate` finds this match, with another equivalence than
 * `unmatched` or `disjoint`.
 *
 * @param options Options of `translate`, which select the map.
 */
export async function toTranslateTo(
  source: unknown,
  where: WithContext,
  expected: ExpectedTranslation,
  options: TranslateOptions,
): Promise<MatcherAnswer> {
  const coding = codingOf('toTranslateTo', source)
  const { matches, message } = await translate(contextOf('toTranslateTo', where), { ...options, coding })
  const pass = matches.some((match) => isExpected(match, expected))
  const found = matches.length === 0 ? (message ?? 'nothing') : matches.map(describeMatch).join(', ')
  return {
    pass,
    message: () => `${describe(coding)} ${pass ? 'translates' : 'does not translate'} to ${JSON.stringify(expected)}. Found: ${found}`,
  }
}

const NO_TRANSLATION: ReadonlySet<string | undefined> = new Set(['unmatched', 'disjoint'])

function isExpected({ concept, equivalence }: TranslateMatch, expected: ExpectedTranslation): boolean {
  if (concept === undefined || concept.code !== expected.code) return false
  if (expected.system !== undefined && concept.system !== expected.system) return false
  return expected.equivalence === undefined ? !NO_TRANSLATION.has(equivalence) : equivalence === expected.equivalence
}

function describeMatch({ concept, equivalence }: TranslateMatch): string {
  return `${equivalence ?? '(no equivalence)'} ${concept === undefined ? '(no concept)' : describe(concept)}`
}

const MAX_SHOWN = 20

/**
 * `expect(url).toContainCode(service, { system, code })`: passes if the value set, given by canonical or as a resource, contains the code. With a
 * `display`, the display must be right too.
 */
export async function toContainCode(valueSet: unknown, where: WithContext, expected: ExpectedCode): Promise<MatcherAnswer> {
  const ctx = contextOf('toContainCode', where)
  const named = valueSetOf(valueSet)
  const { result, issues } = await validateCode(ctx, { ...named, coding: codingOf('toContainCode', expected) })
  const name = typeof valueSet === 'string' ? valueSet : 'The value set'
  if (result) return { pass: true, message: () => `${name} contains ${describe(expected)}, and was expected not to.` }
  const codes = await shownCodes(ctx, named)
  const reasons = issues.map(({ text }) => text).join(' ')
  return { pass: false, message: () => `${name} does not contain ${describe(expected)}. ${reasons}\nIt contains ${codes}` }
}

async function shownCodes(ctx: OperationContext, named: ReturnType<typeof valueSetOf>): Promise<string> {
  const { contains, total } = await expand(ctx, { ...named, count: MAX_SHOWN })
  const codes = contains.map(({ system, code }) => `${system ?? ''}|${code ?? ''}`)
  return codes.length === 0 ? 'no codes.' : `${codes.join(', ')}${total === undefined || total > codes.length ? ' and more' : ''}.`
}

function valueSetOf(given: unknown): { readonly url: string } | { readonly valueSet: object } {
  if (typeof given === 'string') return { url: given }
  if (isObject(given)) return { valueSet: given }
  throw new TypeError('toContainCode: expect(...) takes the canonical of a value set or a ValueSet.')
}

function codingOf(matcher: string, given: unknown): { readonly system: string; readonly code: string } {
  if (isObject(given) && typeof given['system'] === 'string' && typeof given['code'] === 'string')
    return { ...given, system: given['system'], code: given['code'] }
  throw new TypeError(`${matcher}: a code is given as { system, code }.`)
}

function describe({ system, code }: Coding): string {
  return `${system ?? ''}|${code ?? ''}`
}

function contextOf(matcher: string, where: unknown): OperationContext {
  const context = isObject(where) && 'context' in where ? where['context'] : where
  if (isContext(context)) return context
  throw new TypeError(`${matcher}: the first argument must be a context or a test service.`)
}

function isContext(value: unknown): value is OperationContext {
  return isObject(value) && 'storage' in value && 'content' in value
}

/** The matchers as methods of `expect`; the entries `vitest` and `jest` declare them. Each returns a promise: `await expect(...)`. */
export interface FhirMatchers {
  /** @see {@link toBeValid} */
  toBeValid(where: WithContext, options?: Omit<ValidateInput, 'resource'>): Promise<void>
  /** @see {@link toTranslateTo} */
  toTranslateTo(where: WithContext, expected: ExpectedTranslation, options: TranslateOptions): Promise<void>
  /** @see {@link toContainCode} */
  toContainCode(where: WithContext, expected: ExpectedCode): Promise<void>
}
