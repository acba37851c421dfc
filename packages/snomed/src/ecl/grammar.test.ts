import { describe, expect, test } from 'vitest'
import { parseEcl } from './parse.js'

/** Expressions by the production of the grammar that they show; A, B and Z stand for concepts. */
const PRODUCTIONS: Readonly<Record<string, readonly string[]>> = {
  refinedExpressionConstraint: ['A: B = Z', '(A: B = Z)', '<< (A: B = Z)'],
  conjunctionExpressionConstraint: ['A AND B and Z', 'A, B, Z', 'A |x y|,B |z|', 'A AND\nB\tAND Z'],
  disjunctionExpressionConstraint: ['A OR B or Z', 'A/* x */OR/* y */B'],
  exclusionExpressionConstraint: ['A MINUS B', 'A MINUS (B MINUS Z)'],
  dottedExpressionConstraint: ['A . B . Z', 'A.(B OR Z)', 'A . *', 'A.<<B', '(A: B = Z).A'],
  constraintOperator: ['< A', '<< A', '<! A', '<<! A', '> A', '>> A', '>! A', '>>! A', '!!> (< A)', '!!< (A, B)', '< ^ A', '<*'],
  memberOf: ['^ A', '^*', '^ (A OR B)', '^ [a] A', '^[ a , b ]A', '^ [*] A'],
  altIdentifier: ['X#1', '"X#1 2" |x|', '>> x-1#a.b_c-d', '*: X#1 = Y#2'],
  eclRefinement: ['*: { A = B }, { A = Z }', '*: A = * OR B = *, { Z = * }', '*: { A = * } OR (B = *, { Z = * })'],
  eclAttributeSet: ['*: (A = *, B = *) OR Z = *', '*: ((A = *))', '*: { A = *, (B = * OR Z = *) }'],
  eclAttributeGroup: ['*: { A = * }', '*: [1..2] { [0..1] A = * }', '*: [0..0]{A=*}'],
  eclAttribute: ['*: [0..*] R A = *', '*: << A != B', '*: (A OR B) = Z', '*: ^ A = B', '*: A {{ term = "x" }} = B', '*: A = (B: Z = *)'],
  numericComparisonOperator: ['*: A = #5', '*: A != #-0.50', '*: A <= #+10', '*: A < #1', '*: A >= #0', '*: A > #2.5'],
  stringComparisonOperator: ['*: A = "x"', '*: A != ("a" "b")', '*: A = (match:"a" wild : "b*")', '*: A = "x\\"y"'],
  booleanComparisonOperator: ['*: A = true', '*: A != FALSE'],
  termFilter: ['* {{ term = "a b" }}', '* {{D term != ("a" match:"b" wild:"*c*")}}', '* {{ d term = wild:"\\*a\\"" }}'],
  languageFilter: ['* {{ language = en }}', '* {{ language != (en ES) }}'],
  typeFilter: ['* {{ type = (syn fsn DEF) }}', '* {{ typeId = (A B) }}', '* {{ typeId != << A }}', '* {{ typeId = A |x| }}'],
  dialectFilter: [
    '* {{ dialect = en-gb }}',
    '* {{ dialect != (en-gb (accept) en-us (prefer)) }}',
    '* {{ dialect = en-gb (accept prefer) }}',
  ],
  dialectIdFilter: [
    '* {{ dialectId = (A) }}',
    '* {{ dialectId = (A (prefer) B) (accept) }}',
    '* {{ dialectId = << A (accept) }}',
    '* {{ dialectId = A (900000000000549004 |x|) }}',
  ],
  descriptionIdFilter: ['* {{ id = 1234567 }}', '* {{ D id != (1234567 7654321) }}'],
  definitionStatusFilter: ['* {{ C definitionStatus != (primitive defined) }}', '* {{ c definitionStatusId = A }}'],
  moduleFilter: ['* {{ moduleId = (A B) }}', '* {{ C moduleId != << A }}'],
  effectiveTimeFilter: ['* {{ effectiveTime = ("20200101" "") }}', '* {{ C effectiveTime <= "20200101" }}'],
  activeFilter: ['* {{ active = 1 }}', '* {{ C active != false }}', '* {{ active = true, term = "x" }} {{ C active = 0 }}'],
  memberFilterConstraint: ['^ A {{ M active = 0, moduleId = B }} {{ m effectiveTime > "20200101" }}', '^ (A OR B) {{ M active = 1 }}'],
  memberFieldFilter: [
    '^ A {{ M a = B }}',
    '^ A {{ M a != (B OR Z) }}',
    '^ A {{ M a >= #5 }}',
    '^ A {{ M a = (match:"a" wild:"b*") }}',
    '^ A {{ M a = false }}',
    '^ A {{ M a < "20200101" }}',
    '^ A {{ M a = ("20200101" "20210101") }}',
  ],
  historySupplement: [
    'A {{ + HISTORY }}',
    'A{{+history-min}}',
    'A {{ + HISTORY_MOD }}',
    '(A: B = *) {{ + HISTORY-MAX }}',
    'A {{ + HISTORY (B OR Z) }}',
    '^ A {{ M a = B }} {{ term = "x" }} {{ C active = 1 }} {{ + HISTORY }}',
  ],
  comment: ['/* x * y ** z */ A /**/'],
}

const IDS = new Map(['A', 'B', 'Z'].map((name, place) => [name, `${place + 1}00000000`]))

describe.each(Object.entries(PRODUCTIONS))('%s', (_, texts) => {
  test.each(texts)('%s', (text) => {
    expect(() => parseEcl(text.replaceAll(/\b[ABZ]\b/g, (name) => IDS.get(name) ?? name))).not.toThrow()
  })
})
