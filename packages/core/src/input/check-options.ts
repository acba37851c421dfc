import { isObject, type JsonObject } from '../json/index.js'
import { didYouMean, nearest } from '../text/index.js'
import type { InputShape, MemberKind } from './input-shape.js'

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
