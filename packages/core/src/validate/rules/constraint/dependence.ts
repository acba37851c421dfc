import type { JsonObject } from '../../../json/index.js'

/** On which members of a value each of some tests depends, as bits. */
export interface Dependence {
  /** Those that a value without any member may fail. */
  readonly always: number
  readonly byMember: ReadonlyMap<string, number>
}

/** Tests that have a bit. */
const MOST = 31

/**
 * Finds out, by trying each test on nothing, which members it looks at there: as long as none of them is there it looks at no others, and has the same
 * result. Most invariants are met where the elements that they are about are absent (bench `validate`).
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

/** The members that a test looks for in a value that has none, and that it meets; `undefined` where it does not, or looks at the value as a whole. */
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

/** The tests that a value has to be asked about, as bits: the others it meets, because it has nothing that they are about. */
export function testsAsked(value: JsonObject, { always, byMember }: Dependence): number {
  let asked = always
  for (const name in value) if (byMember.has(name)) asked |= byMember.get(name) ?? 0
  return asked
}

/** Whether a test has to be asked. @param asked `undefined` for all of them */
export function isAsked(asked: number | undefined, index: number): boolean {
  return asked === undefined || index >= MOST || (asked & (1 << index)) !== 0
}
