import { describe, expect, test } from 'vitest'
import { createContext, type OperationContext } from '../context/index.js'
import type { JsonObject } from '../json/index.js'
import { memoryStorage } from '../memory/index.js'
import { translate } from './index.js'
import type { TranslateInput } from './input.js'

const ONE = 'http://example.org/one'
const TWO = 'http://example.org/two'
const THREE = 'http://example.org/three'
const MAP = 'http://example.org/ConceptMap/one-two'

const map = (over: object = {}): JsonObject => ({
  resourceType: 'ConceptMap',
  id: 'one-two',
  url: MAP,
  status: 'active',
  sourceCanonical: 'http://example.org/ValueSet/ones',
  targetCanonical: 'http://example.org/ValueSet/twos',
  group: [group(ONE, TWO, { a: ['x', 'y'], b: ['z'] }), group(ONE, THREE, { a: ['t'] })],
  ...over,
})

function group(source: string, target: string, codes: Record<string, readonly string[]>, over: object = {}): object {
  const element = Object.entries(codes).map(([code, targets]) => ({
    code,
    target: targets.map((to) => ({ code: to, equivalence: 'equivalent' })),
  }))
  return { source, target, element, ...over }
}

function context(...resources: readonly object[]): OperationContext {
  return createContext({ storage: memoryStorage(resources) })
}

async function codes(ctx: OperationContext, input: TranslateInput): Promise<readonly (string | undefined)[]> {
  const { matches } = await translate(ctx, input)
  return matches.map((match) => match.concept?.code)
}

const a = { system: ONE, code: 'a' }

describe('translate', () => {
  test('gives one match for each target, in the order of groups', async () => {
    expect(await translate(context(map()), { mapId: 'one-two', coding: a })).toEqual({
      result: true,
      matches: [
        { equivalence: 'equivalent', concept: { system: TWO, code: 'x' }, from: a, products: [], map: MAP },
        { equivalence: 'equivalent', concept: { system: TWO, code: 'y' }, from: a, products: [], map: MAP },
        { equivalence: 'equivalent', concept: { system: THREE, code: 't' }, from: a, products: [], map: MAP },
      ],
    })
  })

  test('answers that nothing matches, and says what was looked for and where', async () => {
    const answer = await translate(context(map()), { url: MAP, coding: { system: ONE, code: 'none' }, targetSystem: TWO })
    expect(answer).toEqual({
      result: false,
      message: `No translation of 'none' of '${ONE}' into '${TWO}' was found in ConceptMap '${MAP}'.`,
      matches: [],
    })
  })

  test.each<[string, TranslateInput, readonly string[]]>([
    ['one target system', { coding: a, targetSystem: THREE }, ['t']],
    ['no such target system', { coding: a, targetSystem: 'http://example.org/none' }, []],
    [
      'every coding of a CodeableConcept, group by group',
      { codeableConcept: { coding: [{ system: ONE, code: 'b' }, a] } },
      ['z', 'x', 'y', 't'],
    ],
    ['codings without system or code are passed over', { codeableConcept: { coding: [{ code: 'a' }, {}, a, a] } }, ['x', 'y', 't']],
    ['a code of another system', { coding: { system: TWO, code: 'a' } }, []],
    ['codes are case-sensitive', { coding: { system: ONE, code: 'A' } }, []],
    ['reverse', { coding: { system: TWO, code: 'z' }, reverse: true }, ['b']],
    ['reverse from one system only', { coding: { system: TWO, code: 'z' }, reverse: true, targetSystem: THREE }, []],
  ])('%s', async (_name, input, expected) => {
    expect(await codes(context(map()), { mapId: 'one-two', ...input })).toEqual(expected)
  })

  test('leaves out groups made for another version of the system', async () => {
    const ctx = context(
      map({
        group: [
          group(ONE, TWO, { a: ['old'] }, { sourceVersion: '1', targetVersion: '7' }),
          group(ONE, TWO, { a: ['new'] }, { sourceVersion: '2' }),
        ],
      }),
    )
    expect(await codes(ctx, { url: MAP, coding: { ...a, version: '2' } })).toEqual(['new'])
    expect(await codes(ctx, { url: MAP, coding: a })).toEqual(['old', 'new'])
    expect((await translate(ctx, { url: MAP, coding: a })).matches[0]?.concept).toEqual({ system: TWO, version: '7', code: 'old' })
  })

  test("reads a version after the url of a group's systems, as R5 writes them, where the group states none beside it", async () => {
    const ctx = context(
      map({
        group: [
          group(`${ONE}|1`, `${TWO}|7`, { a: ['old'] }),
          group(`${ONE}|1`, `${TWO}|7`, { a: ['new'] }, { sourceVersion: '2', targetVersion: '8' }),
          group(`${ONE}#part`, `${TWO}|`, { a: ['other'] }, { unmapped: { mode: 'provided' } }),
        ],
      }),
    )
    const found = async (input: TranslateInput) => (await translate(ctx, { url: MAP, ...input })).matches.map(({ concept }) => concept)
    const [old, current] = [
      { system: TWO, version: '7', code: 'old' },
      { system: TWO, version: '8', code: 'new' },
    ]
    expect(await found({ coding: a })).toEqual([old, current])
    expect(await found({ coding: { ...a, version: '1' } })).toEqual([old])
    expect(await found({ coding: { system: `${ONE}#part`, code: 'b' }, targetSystem: TWO })).toEqual([{ system: TWO, code: 'b' }])
    expect(await found({ coding: { system: TWO, code: 'new' }, reverse: true })).toEqual([{ system: ONE, version: '2', code: 'a' }])
  })

  test.each([
    ['an edition', 'http://snomed.info/sct/45991000052106', 'http://snomed.info/sct/45991000052106/version/20250101', 1],
    ['a version of an edition', 'http://snomed.info/sct/45991000052106/version/20250101', 'http://snomed.info/sct/45991000052106', 1],
    ['another edition', 'http://snomed.info/sct/45991000052106', 'http://snomed.info/sct/731000124108/version/20250101', 0],
  ])('takes a group made for %s of SNOMED CT by that', async (_name, sourceVersion, version, found) => {
    const ctx = context(map({ group: [group(ONE, TWO, { a: ['x'] }, { sourceVersion })] }))
    expect(await codes(ctx, { url: MAP, coding: { ...a, version } })).toHaveLength(found)
  })

  test.each([
    [['unmatched'], false],
    [['disjoint'], false],
    [['unmatched', 'wider'], true],
  ])('targets that say %j make the result %s', async (equivalences, result) => {
    const target = equivalences.map((equivalence) => ({ code: 'x', equivalence }))
    const answer = await translate(context(map({ group: [{ source: ONE, element: [{ code: 'a', target }] }] })), { url: MAP, coding: a })
    expect(answer.result).toBe(result)
    expect(answer.matches.map((match) => match.equivalence)).toEqual(equivalences)
  })

  test('gives products and displays', async () => {
    const product = [{ property: 'http://example.org/laterality', system: THREE, value: 'left', display: 'Left' }]
    const element = [{ code: 'a', target: [{ code: 'x', display: 'Ex', equivalence: 'wider', product }] }]
    const { matches } = await translate(context(map({ group: [{ source: ONE, target: TWO, element }] })), { url: MAP, coding: a })
    expect(matches).toEqual([
      {
        equivalence: 'wider',
        concept: { system: TWO, code: 'x', display: 'Ex' },
        from: a,
        products: [{ element: 'http://example.org/laterality', concept: { system: THREE, code: 'left', display: 'Left' } }],
        map: MAP,
      },
    ])
  })

  test('a group without systems maps codes of every system', async () => {
    const ctx = context(map({ group: [{ element: [{ code: 'a', target: [{ code: 'x', equivalence: 'equal' }] }] }] }))
    expect((await translate(ctx, { url: MAP, coding: a })).matches[0]?.concept).toEqual({ code: 'x' })
  })
})

describe('dependsOn', () => {
  const dependsOn = [{ property: 'http://example.org/sex', system: THREE, value: 'female' }]
  const element = [
    {
      code: 'a',
      target: [
        { code: 'f', equivalence: 'equal', dependsOn },
        { code: 'any', equivalence: 'wider' },
      ],
    },
  ]
  const ctx = context(map({ group: [{ source: ONE, target: TWO, element }] }))
  const sex = (coding: object, element_ = 'http://example.org/sex') => ({
    url: MAP,
    coding: a,
    dependencies: [{ element: element_, concept: { coding: [coding] } }],
  })

  test.each<[string, TranslateInput, readonly string[]]>([
    ['nothing is known', { url: MAP, coding: a }, ['any']],
    ['the condition is met', sex({ system: THREE, code: 'female' }), ['f', 'any']],
    ['the value is another', sex({ system: THREE, code: 'male' }), ['any']],
    ['the system is another', sex({ system: TWO, code: 'female' }), ['any']],
    ['the element is another', sex({ system: THREE, code: 'female' }, 'http://example.org/age'), ['any']],
    ['in reverse, conditions do not matter', { url: MAP, coding: { system: TWO, code: 'f' }, reverse: true }, ['a']],
    ['in reverse, known facts do', { ...sex({ system: THREE, code: 'male' }), coding: { system: TWO, code: 'f' }, reverse: true }, []],
  ])('%s', async (_name, input, expected) => {
    expect(await codes(ctx, input)).toEqual(expected)
  })

  test('without a system, the text of the concept counts too', async () => {
    const target = [{ code: 'f', equivalence: 'equal', dependsOn: [{ property: 'p', value: 'yes' }] }]
    const plain = context(map({ group: [{ source: ONE, element: [{ code: 'a', target }] }] }))
    const input = { url: MAP, coding: a }
    expect(await codes(plain, { ...input, dependencies: [{ element: 'p', concept: { text: 'yes' } }] })).toEqual(['f'])
    expect(await codes(plain, { ...input, dependencies: [{ element: 'p', concept: { coding: [{ system: TWO, code: 'yes' }] } }] })).toEqual(
      ['f'],
    )
  })
})

describe('unmapped', () => {
  const other = 'http://example.org/ConceptMap/other'
  const unmapped = (rule: object): JsonObject => map({ group: [group(ONE, TWO, { a: ['x'] }, { unmapped: rule })] })
  const unknown = { system: ONE, code: 'unknown' }

  test.each<[object, object]>([
    [{ mode: 'provided' }, { system: TWO, code: 'unknown' }],
    [
      { mode: 'fixed', code: 'temp', display: 'Temporary' },
      { system: TWO, code: 'temp', display: 'Temporary' },
    ],
  ])('%j gives %j', async (rule, concept) => {
    const answer = await translate(context(unmapped(rule)), { url: MAP, coding: unknown })
    expect(answer).toEqual({ result: true, matches: [{ concept, from: unknown, products: [], map: MAP }] })
  })

  test('gives the version of the target system that the group states, as mappings do', async () => {
    const stated = { ...group(ONE, TWO, { a: ['x'] }, { unmapped: { mode: 'fixed', code: 'temp' } }), targetVersion: '2' }
    const ctx = context(map({ group: [stated] }))
    for (const coding of [a, unknown])
      expect((await translate(ctx, { url: MAP, coding })).matches[0]?.concept).toMatchObject({ version: '2' })
  })

  test.each<[string, TranslateInput]>([
    ['for a code that is mapped', { url: MAP, coding: a }],
    ['for a code of another system', { url: MAP, coding: { system: THREE, code: 'unknown' } }],
    ['for another target system', { url: MAP, coding: unknown, targetSystem: THREE }],
    ['in reverse', { url: MAP, coding: { system: TWO, code: 'unknown' }, reverse: true }],
  ])('does not apply %s', async (_name, input) => {
    expect(await codes(context(unmapped({ mode: 'fixed', code: 'temp' })), input)).not.toContain('temp')
  })

  test('does not apply in a group that names no source system, as FHIR says', async () => {
    const group = [{ target: TWO, element: [], unmapped: { mode: 'fixed', code: 'temp' } }]
    expect(await codes(context(map({ group })), { url: MAP, coding: unknown })).toEqual([])
  })

  test('another map is asked for the rest, and named as where the match comes from', async () => {
    const rest = map({ id: 'other', url: other, version: '3', group: [group(ONE, TWO, { unknown: ['u'] })] })
    const { matches } = await translate(context(unmapped({ mode: 'other-map', url: other }), rest), { url: MAP, coding: unknown })
    expect(matches).toMatchObject([{ concept: { code: 'u' }, map: `${other}|3` }])
  })

  test('leads to another map from a group of another target, too: the target system keeps of all matches those in it', async () => {
    const rest = map({
      id: 'rest',
      url: other,
      group: [group(ONE, THREE, { unknown: ['u'], a: ['v'] }), group(ONE, TWO, { unknown: ['w'] })],
    })
    const first = map({ group: [group(ONE, TWO, { a: ['x'] }, { unmapped: { mode: 'other-map', url: other } })] })
    const ctx = context(first, rest)
    expect(await codes(ctx, { url: MAP, coding: unknown })).toEqual(['u', 'w'])
    expect(await codes(ctx, { url: MAP, coding: unknown, targetSystem: THREE })).toEqual(['u'])
    expect(await codes(ctx, { url: MAP, coding: a, targetSystem: THREE })).toEqual([])
  })

  test('follows a contained map, which may refer to another one', async () => {
    const inner = (id: string, groups: readonly object[]): object => ({ resourceType: 'ConceptMap', id, status: 'active', group: groups })
    const own = group(ONE, TWO, { a: ['x'] }, { unmapped: { mode: 'other-map', url: '#second' } })
    const second = inner('second', [group(ONE, TWO, { b: ['y'] }, { unmapped: { mode: 'other-map', url: '#third' } })])
    const third = inner('third', [group(ONE, TWO, { c: ['z'] }, { unmapped: { mode: 'other-map', url: '#second' } })])
    const found = (code: string): Promise<readonly (string | undefined)[]> =>
      codes(context(map({ group: [own], contained: [second, { resourceType: 'ValueSet', id: 'other' }, third] })), {
        url: MAP,
        coding: { system: ONE, code },
      })
    expect(await Promise.all(['a', 'b', 'c', 'd'].map(found))).toEqual([['x'], ['y'], ['z'], []])
  })

  test('a contained map contains none, however deeply it is nested', async () => {
    let inner: object = { resourceType: 'ConceptMap', id: 'inner', status: 'active', group: [group(ONE, TWO, { a: ['x'] })] }
    for (let depth = 0; depth < 10_000; depth++) inner = { resourceType: 'ConceptMap', id: 'outer', status: 'active', contained: [inner] }
    const conceptMap = map({ group: [group(ONE, TWO, {}, { unmapped: { mode: 'other-map', url: '#inner' } })], contained: [inner] })
    const asked = translate(context(), { conceptMap, coding: { system: ONE, code: 'a' } })
    await expect(asked).rejects.toMatchObject({ code: 'definition-not-found' })
  })

  test.each<[string, object, string]>([
    ['another map that does not exist', { mode: 'other-map', url: other }, 'definition-not-found'],
    ['a fixed mode without code', { mode: 'fixed' }, 'definition-invalid'],
    ['another map without url', { mode: 'other-map' }, 'definition-invalid'],
    ['a mode that does not exist', { mode: 'constructor' }, 'definition-invalid'],
    ['a contained map that does not exist', { mode: 'other-map', url: '#x' }, 'definition-not-found'],
    ['a map inside another one', { mode: 'other-map', url: `${MAP}#x` }, 'definition-not-found'],
  ])('%s is refused', async (_name, rule, code) => {
    await expect(translate(context(unmapped(rule)), { url: MAP, coding: unknown })).rejects.toMatchObject({ code })
  })

  const chain = (length: number, last: object): readonly object[] =>
    Array.from({ length }, (_, i) =>
      map({
        id: `m${i}`,
        url: `http://example.org/ConceptMap/m${i}`,
        group: [
          group(
            ONE,
            TWO,
            { [`code${i}`]: [`t${i}`] },
            { unmapped: i === length - 1 ? last : { mode: 'other-map', url: `http://example.org/ConceptMap/m${i + 1}` } },
          ),
        ],
      }),
    )

  test('a chain of 16 maps is followed, one of 17 refused', async () => {
    const end = { mode: 'fixed', code: 'end' }
    expect(await codes(context(...chain(16, end)), { mapId: 'm0', coding: unknown })).toEqual(['end'])
    await expect(translate(context(...chain(17, end)), { mapId: 'm0', coding: unknown })).rejects.toMatchObject({ code: 'too-costly' })
  })

  test('a cycle of maps ends without a match', async () => {
    const cycle = chain(5, { mode: 'other-map', url: 'http://example.org/ConceptMap/m0' })
    expect(await translate(context(...cycle), { mapId: 'm0', coding: unknown })).toMatchObject({ result: false, matches: [] })
    const self = map({ url: undefined, group: [group(ONE, TWO, {}, { unmapped: { mode: 'other-map', url: MAP } })] })
    expect(await codes(context(map()), { conceptMap: self, coding: unknown })).toEqual([])
  })

  test('many groups that lead to each other cost what they are, not every way through them', async () => {
    const urls = Array.from({ length: 12 }, (_, i) => `http://example.org/ConceptMap/w${i}`)
    const web = urls.map((url, i) =>
      map({ id: `w${i}`, url, group: urls.map((to) => group(ONE, TWO, { x: ['x'] }, { unmapped: { mode: 'other-map', url: to } })) }),
    )
    expect(await codes(context(...web), { url: urls[0], coding: unknown })).toEqual([])
  })
})
