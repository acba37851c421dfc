import { describe, expect, test } from 'vitest'
import type { Constraint } from './ast.js'
import { EclError } from './reader.js'
import { parseEcl } from './parse.js'

/** Writes a constraint in a short form that shows how it was understood. */
function shape(constraint: Constraint): unknown {
  return JSON.parse(
    JSON.stringify(constraint, (key, value: unknown) => (key === 'at' || (Array.isArray(value) && value.length === 0) ? undefined : value)),
  )
}

const concept = (id: string, more: object = {}): object => ({ kind: 'sub', focus: { kind: 'concept', concept: { id } }, ...more })
const any = { kind: 'sub', focus: { kind: 'any' } }
const A = '100000000'
const B = '200000000'
const C = '300000000'

describe('operators', () => {
  test.each([
    ['<', '<'],
    ['<<', '<<'],
    ['<!', '<!'],
    ['<<!', '<<!'],
    ['>', '>'],
    ['>>', '>>'],
    ['>!', '>!'],
    ['>>!', '>>!'],
    ['!!>', 'top'],
    ['!!<', 'bottom'],
  ])('%s stands before a concept with or without blanks', (text, operator) => {
    expect(shape(parseEcl(`${text}${A}`))).toEqual(concept(A, { operator }))
    expect(shape(parseEcl(` ${text} /* c */ ${A} | a term | `))).toEqual(concept(A, { operator }))
  })
})

describe('alternate identifiers', () => {
  const identifier = (scheme: string, code: string, more: object = {}): object => ({
    kind: 'sub',
    focus: { kind: 'identifier', identifier: { scheme, code } },
    ...more,
  })
  test.each([
    ['LOINC#54486-6', identifier('LOINC', '54486-6')],
    ['<< LOINC#54486-6 | a term |', identifier('LOINC', '54486-6', { operator: '<<' })],
    ['"a-1#x y" AND LOINC#"54486-6"', { kind: 'and', operands: [identifier('a-1', 'x y'), identifier('LOINC', '54486-6')] }],
  ])('%s', (text, expected) => expect(shape(parseEcl(text))).toEqual(expected))
})

describe('joined constraints', () => {
  test.each([
    [`${A} AND ${B} and ${C}`, { kind: 'and', operands: [concept(A), concept(B), concept(C)] }],
    [`${A}, ${B}`, { kind: 'and', operands: [concept(A), concept(B)] }],
    [`${A} or(${B})`, { kind: 'or', operands: [concept(A), { kind: 'sub', focus: { kind: 'nested', constraint: concept(B) } }] }],
    [`* MINUS ${A}`, { kind: 'minus', left: any, right: concept(A) }],
    [`${A} . ${B} . ${C}`, { kind: 'dotted', focus: concept(A), attributes: [concept(B), concept(C)] }],
    [`^ ${A}`, concept(A, { memberOf: {} })],
    [`^ [*] ${A}`, concept(A, { memberOf: { fields: '*' } })],
    [`^[ mapTarget , mapGroup ]${A}`, concept(A, { memberOf: { fields: ['mapTarget', 'mapGroup'] } })],
    [`< ^ [targetComponentId] ${A}`, concept(A, { operator: '<', memberOf: { fields: ['targetComponentId'] } })],
  ])('%s', (text, expected) => expect(shape(parseEcl(text))).toEqual(expected))
})

describe('refinements', () => {
  const attribute = (name: string, value: object, more: object = {}): object => ({
    kind: 'attribute',
    reverse: false,
    name: concept(name),
    value,
    ...more,
  })
  const is = (constraint: object): object => ({ kind: 'concepts', comparison: '=', constraint })
  const group = (attributes: object): object => ({ kind: 'group', attributes })
  const refined = (refinement: object): object => ({ kind: 'refined', focus: any, refinement })
  test.each([
    [`*: ${A} = ${B}`, refined(attribute(A, is(concept(B))))],
    [`*: ${A} != << ${B}`, refined(attribute(A, { kind: 'concepts', comparison: '!=', constraint: concept(B, { operator: '<<' }) }))],
    [`*: [0..1] ${A} = *`, refined(attribute(A, is(any), { cardinality: { min: 0, max: 1 } }))],
    [`*: [1..*] R ${A} = *`, refined({ ...attribute(A, is(any), { cardinality: { min: 1 } }), reverse: true })],
    [`*: ${A} = ${B}, ${C} = *`, refined({ kind: 'and', operands: [attribute(A, is(concept(B))), attribute(C, is(any))] })],
    [
      `*: ${A} = * OR (${B} = * AND ${C} = *)`,
      refined({ kind: 'or', operands: [attribute(A, is(any)), { kind: 'and', operands: [attribute(B, is(any)), attribute(C, is(any))] }] }),
    ],
    [
      `*: ${A} = * OR ${B} = *, { ${C} = * }`,
      refined({
        kind: 'and',
        operands: [{ kind: 'or', operands: [attribute(A, is(any)), attribute(B, is(any))] }, group(attribute(C, is(any)))],
      }),
    ],
    [
      `*: { ${A} = * } or ${B} = *, ${C} = * OR ${A} = *`,
      refined({
        kind: 'or',
        operands: [
          group(attribute(A, is(any))),
          { kind: 'and', operands: [attribute(B, is(any)), attribute(C, is(any))] },
          attribute(A, is(any)),
        ],
      }),
    ],
    [`*: [1..3] { ${A} = * }`, refined({ kind: 'group', cardinality: { min: 1, max: 3 }, attributes: attribute(A, is(any)) })],
    [
      `*: (${A} OR ${B}) = *`,
      refined({
        ...attribute(A, is(any)),
        name: { kind: 'sub', focus: { kind: 'nested', constraint: { kind: 'or', operands: [concept(A), concept(B)] } } },
      }),
    ],
    [`*: ${A} >= #-2.5`, refined(attribute(A, { kind: 'number', comparison: '>=', value: -2.5 }))],
    [`*: ${A} = "heart att" `, refined(attribute(A, { kind: 'text', comparison: '=', terms: [{ match: 'match', text: 'heart att' }] }))],
    [`*: ${A} = TRUE`, refined(attribute(A, { kind: 'boolean', comparison: '=', value: true }))],
  ])('%s', (text, expected) => expect(shape(parseEcl(text))).toEqual(expected))
})

describe('filters', () => {
  const description = (...filters: object[]): object => ({ ...any, filters: [{ kind: 'description', filters }] })
  test.each([
    ['* {{ term = "a\\"b" }}', description({ kind: 'term', comparison: '=', terms: [{ match: 'match', text: 'a"b' }] })],
    [
      '* {{ D term != (wild:"a*" match : "c d") }}',
      description({
        kind: 'term',
        comparison: '!=',
        terms: [
          { match: 'wild', text: 'a*' },
          { match: 'match', text: 'c d' },
        ],
      }),
    ],
    [
      '* {{ language = (en SV), active = 0 }}',
      description({ kind: 'language', comparison: '=', languages: ['en', 'sv'] }, { kind: 'active', active: false }),
    ],
    [
      '* {{ dialect = en-gb (prefer) }}',
      description({ kind: 'dialect', comparison: '=', dialects: [{ refset: { alias: 'en-gb' }, acceptability: ['preferred'] }] }),
    ],
    ['* {{ id = 12345678012 }}', description({ kind: 'id', comparison: '=', ids: ['12345678012'] })],
    [
      '* {{ C definitionStatus = defined, effectiveTime >= "20200101" }}',
      {
        ...any,
        filters: [
          {
            kind: 'concept',
            filters: [
              { kind: 'definitionStatus', comparison: '=', statuses: { kind: 'list', concepts: [{ id: '900000000000073002' }] } },
              { kind: 'effectiveTime', comparison: '>=', times: ['20200101'] },
            ],
          },
        ],
      },
    ],
    [
      `^ ${A} {{ M mapTarget = "J45", mapPriority = #1 }}`,
      concept(A, {
        memberOf: {},
        memberFilters: [
          [
            { kind: 'field', field: 'mapTarget', value: { kind: 'text', comparison: '=', terms: [{ match: 'match', text: 'J45' }] } },
            { kind: 'field', field: 'mapPriority', value: { kind: 'number', comparison: '=', value: 1 } },
          ],
        ],
      }),
    ],
    [`${A} {{ + HISTORY-mod }}`, concept(A, { history: { profile: 'mod' } })],
    [`${A} {{+ history (${B})}}`, concept(A, { history: { refsets: concept(B) } })],
  ])('%s', (text, expected) => expect(shape(parseEcl(text))).toEqual(expected))
})

describe('what is not ECL is refused with its place', () => {
  test.each([
    ['', 0, /concept/],
    ['<<', 2, /concept/],
    ['<< abc', 3, /concept/],
    [`${A} <<`, 10, /end/],
    [`${A} AND ${B} OR ${C}`, 23, /brackets/],
    [`${A} MINUS ${B} MINUS ${C}`, 25, /brackets/],
    [`*: ${A} = *, ${B} = * OR ${C} = *`, 31, /brackets/],
    [`*: { ${A} = *, ${B} = * OR ${C} = * }`, 33, /brackets/],
    [`*: { ${A} = * }, ${B} = * OR { ${C} = * }`, 35, /brackets/],
    [`^ [a, *] ${A}`, 6, /field/],
    [`*: ${A}`, 12, /comparison/],
    [`*: ${A} < ${B}`, 13, /numbers only/],
    [`*: [3..1] ${A} = *`, 3, /cardinality/],
    [`(${A}`, 10, /'\)'/],
    [`${A} | |`, 12, /term/],
    ['12345', 0, /identifier/],
    ['* {{ color = 1 }}', 5, /filter/],
    ['* {{ M active = 1 }}', 2, /follow '\^'/],
    ['LOINC#', 6, /code/],
    ['"LOINC#54486-6', 14, /'"'/],
    ['"LOINC"', 0, /concept/],
    ['/* *', 0, /comment/],
    ['* {{ effectiveTime = "20201301" }}', 30, /date/],
  ])('%j at %i', (text, at, message) => {
    const failed = failureOf(text)
    expect([failed?.at, failed?.message]).toEqual([at, expect.stringMatching(message)])
  })

  test('brackets beyond a depth are refused, and no nesting takes long', () => {
    expect(failureOf('('.repeat(50_000))?.message).toMatch(/deep/)
    expect(failureOf(`*:${`((${A}:`.repeat(45)}`)).toBeInstanceOf(EclError)
    expect(failureOf(`*:${'('.repeat(90)}${A}=*${')'.repeat(90)}`)).toBeUndefined()
  })
})

function failureOf(text: string): EclError | undefined {
  try {
    parseEcl(text)
    return undefined
  } catch (error) {
    if (error instanceof EclError) return error
    throw error
  }
}
