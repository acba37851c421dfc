import { checkGiven, checkHas, OperationError, quoted } from '../errors/index.js'
import { isDate, isListOf, isObject, isString, type JsonObject } from '../json/index.js'
import { didYouMean, nearest } from '../text/index.js'

/** The expected kind of a member, in words and as a test. */
export interface MemberKind {
  readonly words: string
  readonly is: (value: unknown) => boolean
  /** True if the member is required. */
  readonly isNeeded?: boolean
  /** Shape of a nested object of options; only `checkOptions` checks it. */
  readonly options?: InputShape
}

/** The members of an input or of options, by which calls from plain JavaScript are checked. */
export interface InputShape {
  readonly kinds: ReadonlyMap<string, MemberKind>
  readonly needed: readonly string[]
}

/** Any value, for members that are checked elsewhere. */
export const ANYTHING: MemberKind = { words: 'a value', is: () => true }
/** A string, which may be empty. */
export const TEXT: MemberKind = { words: 'a text', is: isString }
/** A number of 0 or more, `Infinity` included. */
export const AMOUNT: MemberKind = { words: 'a number, 0 or more', is: (value) => typeof value === 'number' && value >= 0 }
/** Any number that is not `NaN`. */
export const NUMBER: MemberKind = { words: 'a number', is: (value) => typeof value === 'number' && !Number.isNaN(value) }
/** An iterable such as an array, a set or a generator; not a string. */
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
/** A resource of a type; its `resourceType` may be absent. */
export function resourceOf(type: string): MemberKind {
  return { words: `a ${type}`, is: (value) => isObject(value) && (value['resourceType'] ?? type) === type }
}

/** An array of items of one kind. */
export function listOf({ words, is }: MemberKind): MemberKind {
  return { words: `a list, with ${words} in each place`, is: (value) => isListOf(value, is) }
}

/** One of these texts. */
export function oneOf(...texts: readonly string[]): MemberKind {
  return { words: texts.join(' or '), is: (value) => isString(value) && texts.includes(value) }
}

/** Makes a kind required. */
export function needed(kind: MemberKind): MemberKind {
  return { ...kind, isNeeded: true }
}

/** Calls the function once, which is harmless for a clock. */
function isClock(value: unknown): boolean {
  if (typeof value !== 'function') return false
  const now: unknown = Reflect.apply(value, undefined, [])
  return isDate(now) && !Number.isNaN(now.getTime())
}

/** An object whose members, if present, are of these kinds; it may have others. */
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

/** Creates the shape of an input or options type; the compiler makes sure that it has all members. */
export function inputShape<T>(members: { readonly [K in keyof T]-?: MemberKind }): InputShape {
  const kinds = new Map(Object.entries<MemberKind>(members))
  return { kinds, needed: [...kinds].flatMap(([name, { isNeeded = false }]) => (isNeeded ? [name] : [])) }
}

const CONTEXT_MEMBERS: readonly string[] = ['storage', 'content', 'limits', 'scheduler']

/**
 * Checks that a call has a context, and an input that conforms to its shape.
 *
 * @throws {OperationError} `parameter-required`, `parameter-value` or `parameter-unsupported` naming the member that is missing, of the wrong
 *   kind or unknown.
 */
export function checkInput<T>(ctx: object, input: T, { kinds, needed: names }: InputShape): asserts input is NonNullable<T> {
  checkHas('The context', ctx, CONTEXT_MEMBERS)
  if (!isObject(input)) throw new OperationError('parameter-required', 'The input must be an object.')
  // Unknown members first: a required member that is misspelt is not reported as missing.
  // Members of all objects, which other libraries may add to `Object.prototype`, are none of the input.
  for (const name in input)
    if (input[name] !== undefined && !kinds.has(name) && Object.hasOwn(input, name)) throw unknownMember(name, kinds.keys())
  for (const name of names) checkGiven(name, input[name])
  for (const name in input) if (input[name] !== undefined) checkMember(name, input[name], kinds.get(name))
}

function checkMember(name: string, value: unknown, kind: MemberKind | undefined): void {
  if (kind?.is(value) === false) throw new OperationError('parameter-value', `${name} must be ${kind.words}.`, { expression: [name] })
}

/** Lists all members; a search for the nearest would add code to every bundle that checks a code. */
function unknownMember(name: string, known: Iterable<string>): OperationError {
  const problem = `There is no member ${quoted(name)} in the input: it has ${[...known].join(', ')}.`
  return new OperationError('parameter-unsupported', problem, { expression: [name] })
}

/**
 * Marks a function or promise that is often spread into options by mistake instead of its result: `{ ...r4 }` instead of `{ ...r4() }`, `{ ...loadR4() }`
 * without `await`. Spreading copies the mark, and `checkOptions` refuses the options with the value of the mark as message.
 */
export const SPREAD_THE_RESULT: unique symbol = Symbol.for('fhir-ops.spread-the-result')

/**
 * Checks the options of a factory, for callers in plain JavaScript. Inputs of later calls are checked by `checkInput`.
 *
 * @param factory Name of the function, with which every message begins.
 * @throws {TypeError} for options that are not an object, and for an option that is missing, unknown or of the wrong type. The message names it and, for
 *   an unknown option, the nearest known one.
 */
export function checkOptions(factory: string, shape: InputShape, given: unknown): void {
  if (!isObject(given)) throw new TypeError(`${factory}: ${isGiven(given) ? 'the options must be an object' : 'the options are missing'}.`)
  check({ factory, shape, path: '' }, given)
}

interface Checking {
  readonly factory: string
  readonly shape: InputShape
  /** Path of the object inside the options, with a dot at its end. */
  readonly path: string
}

function check({ factory, shape, path }: Checking, given: JsonObject): void {
  const spread = Object.getOwnPropertyDescriptor(given, SPREAD_THE_RESULT)
  if (spread !== undefined) throw new TypeError(`${factory}: ${spread.value}`)
  const other = otherThan(shape, given)
  if (other !== undefined) throw new TypeError(`${factory}: ${path === '' ? 'what is given as options' : path.slice(0, -1)} ${other}.`)
  // Unknown options first: a required option that is misspelt is not reported as missing.
  for (const [name, value] of Object.entries(given))
    if (value !== undefined && !shape.kinds.has(name))
      throw new TypeError(`${factory}: there is no option '${path}${name}'. ${hintFor(shape, name, value)}`)
  for (const name of shape.needed) {
    if (!isGiven(given[name])) throw new TypeError(`${factory}: the option ${path}${name} is missing.`)
  }
  for (const [name, kind] of shape.kinds) {
    const value = given[name]
    if (value === undefined) continue
    checkArgument(`${factory}: ${path}${name}`, value, kind)
    if (kind.options !== undefined && isObject(value)) check({ factory, shape: kind.options, path: `${path}${name}.` }, value)
  }
}

/**
 * Checks an argument that is not an object of options, for callers in plain JavaScript.
 *
 * @param place Names the function and the argument: `sessions.list: sub`.
 * @throws {TypeError} for another type.
 */
export function checkArgument(place: string, value: unknown, kind: MemberKind): void {
  if (!kind.is(value)) throw new TypeError(`${place} ${isPromise(value) ? PROMISE : `must be ${kind.words}`}.`)
}

const PROMISE = 'is a promise that was not awaited'

/**
 * Says what is wrong with a Map, a promise, a signal or another object of the runtime that has none of the members, so that it would count as no options
 * at all; `undefined` for a plain object, and for one of a class of the host.
 */
function otherThan({ kinds }: InputShape, given: object): string | undefined {
  const tag = Object.prototype.toString.call(given).slice('[object '.length, -1)
  if (tag === 'Object' || [...kinds.keys()].some((name) => name in given)) return undefined
  return isPromise(given) ? PROMISE : `must be an object whose members are options, and is a value of ${tag}`
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

function isPromise(value: unknown): boolean {
  return isObject(value) && 'then' in value
}

function hintFor({ kinds }: InputShape, name: string, value: unknown): string {
  const isOptions = isObject(value) && Object.keys(value).length > 0 && Object.keys(value).every((inner) => kinds.has(inner))
  if (isOptions) return `Its members are options: spread it, { ...${name} }.`
  return didYouMean(nearest(name, kinds.keys())) ?? `There are ${[...kinds.keys()].join(', ')}.`
}

/** A nested object of options that is checked like the options themselves. */
export function optionsOf(shape: InputShape): MemberKind {
  return { words: 'an object', is: isObject, options: shape }
}

/** An object of the host with these members, which may be inherited. */
export function having(words: string, members: readonly PropertyKey[]): MemberKind {
  return {
    words: `${words} (an object with ${members.map(String).join(', ')})`,
    is: (value) => isGiven(value) && members.every((member) => member in Object(value)),
  }
}
