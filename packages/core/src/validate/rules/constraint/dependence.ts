import type { JsonObject } from '../../../json/index.js'

/** The members of a value that tests depend on. Each test has a bit. */
export interface Dependence {
  /** The tests that a value without any member may fail. */
  readonly always: number
  readonly byMember: ReadonlyMap<string, number>
}

/** Maximum number of tests that have a bit. */
const MOST = 31

/**
 * Finds the members that each test depends on by running it on an empty value and recording which members it reads. As long as none of them is present,
 * the test reads no others and has the same result. Most invariants are met when the elements that they are about are absent (bench `validate`).
 */
export function dependenceOf(tests: readonly ((value: JsonObject) => boolean | undefined)[]): Dependence {
  let always = 0
  const byMember = new Map<string, number>()
  for (const [index, test] of tests.slice(0, MOST).entries()) {
    const members = membersMissed(test)
    if (members === undefined) always |= 1 << index
    for (const name of members ?? []) byMember.set(name, (byMember.get(name) ?? 0) | (1 << index))
  }
  return { always, byMember }
}

/** The members that a test reads in an empty value; `undefined` when the value does not pass, or the test reads the value as a whole. */
function membersMissed(test: (value: JsonObject) => boolean | undefined): ReadonlySet<string> | undefined {
  const names = new Set<string>()
  let isWhole = false
  const noted = (_: object, name: string | symbol): undefined => {
    names.add(String(name))
    return undefined
  }
  const nothing: JsonObject = new Proxy<JsonObject>(
    {},
    {
      get: noted,
      getOwnPropertyDescriptor: noted,
      has: (of, name) => noted(of, name) !== undefined,
      ownKeys: () => {
        isWhole = true
        return []
      },
    },
  )
  return test(nothing) === true && !isWhole ? names : undefined
}

/** The tests to run on a value, as bits. It passes the others, because it has none of the members that these depend on. */
export function testsAsked(value: JsonObject, { always, byMember }: Dependence): number {
  let asked = always
  for (const name in value) if (byMember.has(name)) asked |= byMember.get(name) ?? 0
  return asked
}

/** Whether a test has to be run. @param asked `undefined` for all of them */
export function isAsked(asked: number | undefined, index: number): boolean {
  return asked === undefined || index >= MOST || (asked & (1 << index)) !== 0
}
