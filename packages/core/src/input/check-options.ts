import { isObject, type JsonObject } from '../json/index.js'
import { didYouMean, nearest } from '../text/index.js'
import type { InputShape, MemberKind } from './input-shape.js'

/**
 * Marks what must not be spread into options itself, but its result: a function where its result is meant (`{ ...r4 }`), a promise where its value is
 * meant (`{ ...loadR4() }`). Spreading copies the mark. The value is the sentence with which `checkOptions` refuses it.
 */
export const SPREAD_THE_RESULT: unique symbol = Symbol.for('fhir-ops.spread-the-result')

/**
 * Checks the options of a factory, for callers whom no compiler checks. What a call is given later is checked by `checkInput`.
 *
 * @param factory Name of the function, which begins every message.
 * @throws {TypeError} for options that are not an object, and for an option that is missing, unknown or of another type. The message names it, and for
 *   an unknown one the nearest that exists.
 */
export function checkOptions(factory: string, shape: InputShape, given: unknown): void {
  if (!isObject(given)) throw new TypeError(`${factory}: ${isGiven(given) ? 'the options must be an object' : 'the options are missing'}.`)
  check({ factory, shape, path: '' }, given)
}

interface Checking {
  readonly factory: string
  readonly shape: InputShape
  /** Of the object inside the options, with a dot at its end. */
  readonly path: string
}

function check({ factory, shape, path }: Checking, given: JsonObject): void {
  const spread = Object.getOwnPropertyDescriptor(given, SPREAD_THE_RESULT)
  if (spread !== undefined) throw new TypeError(`${factory}: ${spread.value}`)
  // An unknown option first: where one is misspelt that is needed, it was given.
  for (const [name, value] of Object.entries(given))
    if (value !== undefined && !shape.kinds.has(name))
      throw new TypeError(`${factory}: there is no option '${path}${name}'.${hintFor(shape, name, value)}`)
  for (const name of shape.needed) {
    if (!isGiven(given[name])) throw new TypeError(`${factory}: the option ${path}${name} is missing.`)
  }
  for (const [name, kind] of shape.kinds) {
    const value = given[name]
    if (value === undefined) continue
    if (!kind.is(value)) throw new TypeError(`${factory}: ${path}${name} ${isPromise(value) ? PROMISE : `must be ${kind.words}`}.`)
    if (kind.options !== undefined && isObject(value)) check({ factory, shape: kind.options, path: `${path}${name}.` }, value)
  }
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
  const hint = isOptions ? `Its members are options: spread it, { ...${name} }.` : didYouMean(nearest(name, kinds.keys()))
  return hint === undefined ? '' : ` ${hint}`
}

/** An object inside options that is checked like the options themselves. */
export function optionsOf(shape: InputShape): MemberKind {
  return { words: 'an object', is: isObject, options: shape }
}

/** An object of the host with these members, which may come from its prototype. */
export function having(words: string, members: readonly PropertyKey[]): MemberKind {
  return {
    words: `${words} (an object with ${members.map(String).join(', ')})`,
    is: (value) => isGiven(value) && members.every((member) => member in Object(value)),
  }
}
