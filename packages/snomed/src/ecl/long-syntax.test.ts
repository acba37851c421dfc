import { describe, expect, test } from 'vitest'
import type { Constraint } from './ast.js'
import { parseEcl } from './parse.js'

/** Pairs of the brief and the long way to write something; A, B and Z stand for concepts. */
const PAIRS: Readonly<Record<string, readonly (readonly [brief: string, long: string])[]>> = {
  constraintOperator: [
    ['< A', 'descendantOf A'],
    ['<< A', 'DESCENDANTORSELFOF A'],
    ['<! A', 'childof A'],
    ['<<! A', 'childOrSelfOf /* c */ A'],
    ['> A', 'ancestorOf A'],
    ['>> A', 'ancestorOrSelfOf\nA'],
    ['>! A', 'parentOf A'],
    ['>>! A', 'parentOrSelfOf A'],
    ['!!> (< A)', 'top (descendantOf A)'],
    ['!!< (< A)', 'bottom (descendantOf A)'],
  ],
  memberOf: [
    ['^ A', 'memberOf A'],
    ['< ^ A', 'descendantOf MemberOf A'],
    ['^ [a, b] (A OR B)', 'memberOf [a, b] (A or B)'],
    ['^ [*] A', 'memberOf [any] A'],
  ],
  wildCard: [
    ['*', 'any'],
    ['<< *: A = *', 'descendantOrSelfOf ANY: A = any'],
    ['(*)', '(Any)'],
  ],
  cardinality: [
    ['*: [1..3] A = *', 'any: [1 to 3] A = any'],
    ['*: [0..*] { [1..*] A = * }', 'any: [0 TO many] { [1 to MANY] A = any }'],
  ],
  reverseFlag: [
    ['*: R A = B', 'any: reverseOf A = B'],
    ['*: [1..1] R << A = B', 'any: [1 to 1] ReverseOf descendantOrSelfOf A = B'],
  ],
  comparisonOperator: [
    ['*: A != B', '*: A <> B'],
    ['*: A != B', '*: A NOT = B'],
    ['*: (A OR B) != Z', '*: (A OR B) not /* c */ = Z'],
    ['*: (A OR B) != Z', '*: (A OR B) <> Z'],
    ['*: A != #5', '*: A not= #5'],
    ['*: A != ("a" "b")', '*: A <> ("a" "b")'],
    ['*: A != true', '*: A not = true'],
    ['* {{ term != "a" }}', 'any {{ term not = "a" }}'],
    ['* {{ effectiveTime != "20200101" }}', 'any {{ effectiveTime <> "20200101" }}'],
    ['* {{ id != 1234567 }}', 'any {{ id not = 1234567 }}'],
    ['^ A {{ M b != "x" }}', 'memberOf A {{ M b not = "x" }}'],
  ],
  typeToken: [
    ['* {{ type = syn }}', '* {{ type = synonym }}'],
    ['* {{ type != (fsn def) }}', '* {{ type <> (fullySpecifiedName definition) }}'],
  ],
  acceptabilityToken: [['* {{ dialect = en-gb (accept prefer) }}', '* {{ dialect = en-gb (acceptable preferred) }}']],
  activeFilter: [['* {{ C active = * }}', '* {{ C active = any }}']],
}

const IDS = new Map(['A', 'B', 'Z'].map((name, place) => [name, `${place + 1}00000000`]))

/** How an expression was understood, without the places in the text. */
function shape(text: string): Constraint {
  const constraint = parseEcl(text.replaceAll(/\b[ABZ]\b/g, (name) => IDS.get(name) ?? name))
  return JSON.parse(JSON.stringify(constraint, (key, value: unknown) => (key === 'at' ? undefined : value)))
}

describe.each(Object.entries(PAIRS))('%s', (_, pairs) => {
  test.each(pairs)('%s is %s', (brief, long) => expect(shape(long)).toEqual(shape(brief)))
})

test.each([
  ['top#1', 'top'],
  ['any#1', 'any'],
  ['descendantOf-x#1', 'descendantOf-x'],
])('the words of the long syntax may be schemes of identifiers: %s', (text, scheme) => {
  expect(shape(text)).toMatchObject({ focus: { kind: 'identifier', identifier: { scheme, code: '1' } } })
})

test.each(['descendantOf(A)', 'descendantsOf A', 'anyone', '*: [1to3] A = *', '*: [1 to] A = *', '*: A not B', '* {{ active != any }}'])(
  '%s is refused',
  (text) => expect(() => shape(text)).toThrow(),
)
