import { checkGiven, checkHas, OperationError, quoted } from '../errors/index.js'
import { isObject, isString, type JsonObject } from '../json/index.js'

/** What a member of an input must be, in words and as a test. */
export interface MemberKind {
  readonly words: string
  readonly is: (value: unknown) => boolean
  /** True where the member is required. */
  readonly isNeeded?: boolean
  /** Set for an object whose members are options too; only `checkOptions` looks inside. */
  readonly options?: InputShape
}

/** The members of an input or of options, for callers in plain JavaScript, whom no compiler checks. */
export interface InputShape {
  readonly kinds: ReadonlyMap<string, MemberKind>
  readonly needed: readonly string[]
}

/** Any value, for what is checked elsewhere. */
export const ANYTHING: MemberKind = { words: 'a value', is: () => true }
/** A string, which may be empty. */
export const TEXT: MemberKind = { words: 'a text', is: isString }
/** A number of 0 or more, `Infinity` included. */
export const AMOUNT: MemberKind = { words: 'a number, 0 or more', is: (value) => typeof value === 'number' && value >= 0 }
/** Any number that is not `NaN`. */
export const NUMBER: MemberKind = { words: 'a number', is: (value) => typeof value === 'number' && !Number.isNaN(value) }
/** An array, a set, or what a generator gives; no text. */
export const ITERABLE: MemberKind = {
  words: 'a list',
  is: (value) => typeof value === 'object' && value !== null && Symbol.iterator in value,
}
/** A function of any parameters. */
export const FUNCTION: MemberKind = { words: 'a function', is: (value) => typeof value === 'function' }
/** The clock of a context or service: a function that returns the present as a valid `Date`. */
export const CLOCK: MemberKind = { words: 'a function that returns a Date', is: isClock }
/** A boolean. */
export const FLAG: MemberKind = { words: 'true or false', is: (value) => typeof value === 'boolean' }
/** An integer of 0 or more. */
export const COUNT: MemberKind = { words: 'a whole number, 0 or more', is: (value) => Number.isSafeInteger(value) && Number(value) >= 0 }
/** An object that is not an array. */
export const OBJECT: MemberKind = { words: 'an object', is: isObject }
/** A resource of a type, which may leave the type out. */
export function resourceOf(type: string): MemberKind {
  return { words: `a ${type}`, is: (value) => isObject(value) && (value['resourceType'] ?? type) === type }
}

/** System, version, code and display as texts, of which any may be absent. */
export const CODING: MemberKind = objectWith('a coding', { system: TEXT, version: TEXT, code: TEXT, display: TEXT })

/** An array of items of one kind. */
export function listOf({ words, is }: MemberKind): MemberKind {
  return { words: `a list, with ${words} in each place`, is: (value) => Array.isArray(value) && value.every(is) }
}

/** One of these texts. */
export function oneOf(...texts: readonly string[]): MemberKind {
  return { words: texts.join(' or '), is: (value) => isString(value) && texts.includes(value) }
}

/** The same kind, of a member that is required. */
export function needed(kind: MemberKind): MemberKind {
  return { ...kind, isNeeded: true }
}

/** The function is called once, which a clock allows. */
function isClock(value: unknown): boolean {
  if (typeof value !== 'function') return false
  const now: unknown = Reflect.apply(value, undefined, [])
  return now instanceof Date && !Number.isNaN(now.getTime())
}

/** An object whose members, where they are there, are of these kinds; it may have others. */
export function objectWith(words: string, members: Readonly<Record<string, MemberKind>>): MemberKind {
  const kinds = new Map(Object.entries(members))
  return { words, is: (value) => isObject(value) && hasKinds(value, kinds) }
}

function hasKinds(object: JsonObject, kinds: ReadonlyMap<string, MemberKind>): boolean {
  for (const [name, kind] of kinds) {
    const value = object[name]
    if (value === undefined ? kind.isNeeded === true : !kind.is(value)) return false
  }
  return true
}

/** The shape of the inputs or options of one type; the compiler makes sure that it has all their members. */
export function inputShape<T>(members: { readonly [K in keyof T]-?: MemberKind }): InputShape {
  const kinds = new Map(Object.entries<MemberKind>(members))
  return { kinds, needed: [...kinds].flatMap(([name, { isNeeded = false }]) => (isNeeded ? [name] : [])) }
}

const CONTEXT_MEMBERS: readonly string[] = ['storage', 'content', 'limits', 'scheduler']

/**
 * Checks that a call has a context, and an input that is what its type says.
 *
 * @throws {OperationError} `parameter-required`, `parameter-value` or `parameter-unsupported` naming the member that is missing, of another
 *   kind or unknown.
 */
export function checkInput<T>(ctx: object, input: T, { kinds, needed: names }: InputShape): asserts input is NonNullable<T> {
  checkHas('The context', ctx, CONTEXT_MEMBERS)
  if (!isObject(input)) throw new OperationError('parameter-required', 'The input must be an object.')
  // An unknown member first: where one is misspelt that is needed, it was given.
  for (const name in input) if (input[name] !== undefined && !kinds.has(name)) throw unknownMember(name, kinds.keys())
  for (const name of names) checkGiven(name, input[name])
  for (const name in input) if (input[name] !== undefined) checkMember(name, input[name], kinds.get(name))
}

function checkMember(name: string, value: unknown, kind: MemberKind | undefined): void {
  if (kind?.is(value) === false) throw new OperationError('parameter-value', `${name} must be ${kind.words}.`, { expression: [name] })
}

/** Names all members: a search for the nearest would be part of every page that checks a code. */
function unknownMember(name: string, known: Iterable<string>): OperationError {
  const problem = `There is no member ${quoted(name)} in the input: it has ${[...known].join(', ')}.`
  return new OperationError('parameter-unsupported', problem, { expression: [name] })
}
