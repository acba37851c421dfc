import type { Coding } from 'fhir/r4.js'
import { describe, expect, it } from 'vitest'
import { call, callByGet, codeSystem, contextOf, cs, LIVING, valueSet, vs } from '../../../test/terminology-content.js'
import { closure } from '../../closure/index.js'
import type { OperationContext } from '../../context/index.js'
import { OperationError } from '../../errors/index.js'
import { expand } from '../../expand/index.js'
import type { Explanation } from '../../explain/index.js'
import { objectAt, objectsAt } from '../../json/index.js'
import { lookup } from '../../lookup/index.js'
import { subsumes } from '../../subsumes/index.js'
import { translate } from '../../translate/index.js'
import { validateCode, validateCodeInSystem, type ValidateCodeResult } from '../../validate-code/index.js'
import { versionsByUrl } from '../versions.js'
import { expandOperation, lookupOperation, valueSetValidateCodeOperation } from '../../operations/index.js'

const CATS = valueSet('cats', {
  include: [
    {
      system: cs('living'),
      filter: [
        { property: 'concept', op: 'is-a', value: 'cat' },
        { property: 'legs', op: '=', value: '4' },
      ],
    },
  ],
  exclude: [{ system: cs('living'), concept: [{ code: 'lion' }, { code: 'gone' }] }],
})
const LIST = valueSet('list', { inactive: false, include: [{ system: cs('living'), concept: [{ code: 'lion' }, { code: 'cat' }] }] })
const IMPORTING = valueSet('importing', { include: [{ valueSet: [vs('cats')] }, { system: cs('gone') }] })
const DOUBLE = valueSet('double', {
  include: [
    { system: cs('versions'), version: '1' },
    { system: cs('versions'), version: '2' },
  ],
})
const NEW = valueSet('new', { include: [{ system: cs('versions') }] })
const MAP = {
  resourceType: 'ConceptMap',
  url: 'http://example.org/cm/map',
  version: '1',
  status: 'active',
  sourceCanonical: vs('cats'),
  group: [
    {
      source: cs('living'),
      target: cs('first'),
      element: [{ code: 'cat', target: [{ code: 'C', equivalence: 'equal', dependsOn: [{ property: 'age', value: 'old' }] }] }],
    },
    { source: cs('other'), target: cs('first'), element: [{ code: 'x', target: [{ code: 'X', equivalence: 'equal' }] }] },
    { source: cs('living'), target: cs('second'), element: [], unmapped: { mode: 'fixed', code: 'U' } },
  ],
}
const VERSIONS = ['1', '2'].map((version) => codeSystem('versions', [{ code: 'a' }], { version }))
const ctx = contextOf(LIVING, ...VERSIONS, CATS, LIST, IMPORTING, DOUBLE, NEW, MAP)

/** Each step in one line: kind, outcome, reason, path. */
function lines(explanation: Explanation | undefined): readonly string[] {
  return (explanation?.steps ?? []).map(({ kind, outcome, reason, path }) =>
    [kind, outcome, reason, path].filter((part) => part !== undefined).join(' '),
  )
}

function coding(code: string, more: Coding = {}): Coding {
  return { system: cs('living'), code, ...more }
}

const inSet = (set: string, code: Coding): Promise<ValidateCodeResult> => validateCode(ctx, { url: vs(set), coding: code, explain: true })

describe('why a code is in a value set or not', () => {
  it.each([
    [
      'cats',
      coding('cat'),
      ['include holds ValueSet.compose.include[0]', 'exclude fails not-listed ValueSet.compose.exclude[0]', 'value-set holds'],
    ],
    ['cats', coding('lion'), ['exclude holds ValueSet.compose.exclude[0]', 'value-set fails excluded']],
    [
      'cats',
      coding('dog'),
      [
        'filter fails ValueSet.compose.include[0].filter[0]',
        'filter holds ValueSet.compose.include[0].filter[1]',
        'include fails filter ValueSet.compose.include[0]',
        'value-set fails',
      ],
    ],
    ['cats', coding('cow'), ['include fails unknown-code ValueSet.compose.include[0]', 'code fails unknown-code']],
    ['cats', coding('a', { system: cs('versions') }), ['include fails other-system ValueSet.compose.include[0]']],
    ['list', coding('dog'), ['concept fails ValueSet.compose.include[0].concept', 'include fails not-listed ValueSet.compose.include[0]']],
    ['list', coding('lion'), ['status fails inactive', 'include fails inactive ValueSet.compose.include[0]']],
    [
      'importing',
      coding('dog'),
      [
        'include fails filter ValueSet.compose.include[0]',
        'value-set fails',
        'include fails import ValueSet.compose.include[0]',
        'include fails other-system ValueSet.compose.include[1]',
      ],
    ],
    [
      'importing',
      coding('x', { system: cs('gone') }),
      ['code-system unknown unknown-system', 'include unknown unknown-system ValueSet.compose.include[1]', 'value-set unknown'],
    ],
    [
      'double',
      coding('a', { system: cs('versions'), version: '1' }),
      [
        'include fails other-version ValueSet.compose.include[1]',
        'code-system chosen include',
        'include holds ValueSet.compose.include[0]',
      ],
    ],
  ])('%s: %j', async (set, value, expected) => {
    const { explanation } = await inSet(set, value)
    expect(lines(explanation)).toEqual(expect.arrayContaining(expected))
  })

  it('the definitions, codes and reasons are told as data, and in a sentence', async () => {
    const { explanation } = await inSet('list', coding('dog'))
    expect(explanation?.steps.find(({ kind }) => kind === 'include')).toEqual({
      kind: 'include',
      outcome: 'fails',
      reason: 'not-listed',
      definition: vs('list'),
      path: 'ValueSet.compose.include[0]',
      coding: { system: cs('living'), code: 'dog' },
      text: `Includes the list of 2 codes of '${cs('living')}': 'dog' is not listed.`,
    })
  })
})

describe('which version was used, and why', () => {
  const rules = { force: versionsByUrl([`${cs('versions')}|1`]), check: new Map(), fallback: new Map(), valueSets: new Map() }
  const value = coding('a', { system: cs('versions') })
  it.each([
    ['newest', '2', { url: vs('new'), coding: value }],
    ['force-system-version', '1', { url: vs('new'), coding: value, rules }],
    ['coding', '1', { url: vs('new'), coding: coding('a', { system: cs('versions'), version: '1' }) }],
    ['include', '2', { url: vs('double'), coding: coding('a', { system: cs('versions'), version: '2' }) }],
  ])('%s', async (reason, version, input) => {
    const { explanation } = await validateCode(ctx, { ...input, explain: true })
    expect(explanation?.steps.find(({ kind }) => kind === 'code-system')).toMatchObject({
      outcome: 'chosen',
      reason,
      definition: `${cs('versions')}|${version}`,
    })
  })

  it.each([
    ['newest', vs('cats'), { url: vs('cats') }],
    ['request', vs('cats'), { valueSet: CATS }],
    ['request', undefined, { valueSet: { ...CATS, url: undefined } }],
  ])('a value set: %s, %s', async (reason, definition, named) => {
    const { explanation } = await validateCode(ctx, { ...named, coding: coding('cat'), explain: true })
    const step = explanation?.steps.find(({ kind, outcome }) => kind === 'value-set' && outcome === 'chosen')
    expect([step?.reason, step?.definition]).toEqual([reason, definition])
  })
})

describe('the nearest codes', () => {
  const nearest = async (code: string): Promise<readonly string[]> => {
    const { explanation } = await validateCodeInSystem(ctx, { coding: coding(code), explain: true })
    return (explanation?.nearest ?? []).map(({ coding: { code: found }, distance, by }) => `${found} ${distance} ${by}`)
  }
  it.each([
    ['CAT', ['cat 0 code']],
    ['cta', ['cat 1 code']],
    ['Katzen', ['cat 1 text']],
    ['anmal', ['animal 1 code']],
    ['zebra crossing', []],
    ['constructor', []],
    ['cat', []],
  ])('of %s', async (code, expected) => {
    expect(await nearest(code)).toEqual(expected)
  })

  it('are looked for only for the first few unknown codes of a call', async () => {
    const codings = Array.from({ length: 10 }, (_, i) => coding(`cat${i}`))
    const { explanation } = await validateCodeInSystem(ctx, { codeableConcept: { coding: codings }, explain: true })
    expect([explanation?.nearest.length, lines(explanation).filter((line) => line.startsWith('code fails')).length]).toEqual([3, 10])
  })

  it('of a giant are none', async () => {
    expect(await nearest('x'.repeat(100_000))).toEqual([])
  })

  it('come with the error of an operation that needs the code', async () => {
    const failures = [
      lookup(ctx, { system: cs('living'), code: 'cta', explain: true }),
      subsumes(ctx, { system: cs('living'), codeA: 'dog', codeB: 'cta', explain: true }),
    ]
    for (const failure of failures) {
      const error: unknown = await failure.catch((thrown: unknown) => thrown)
      expect(error instanceof OperationError && error.detail.explanation?.nearest).toMatchObject([
        { coding: { code: 'cat', display: 'Cat' } },
      ])
    }
  })
})

describe('how an answer came about', () => {
  it('expand counts the codes of each part', async () => {
    const { explanation } = await expand(ctx, { url: vs('cats'), displayLanguage: 'de', filter: 'k', explain: true })
    expect(explanation?.steps.flatMap(({ kind, count }) => (count === undefined ? [] : [`${kind} ${count}`]))).toEqual([
      'filter 2',
      'filter 3',
      'include 2',
      'exclude 1',
      'value-set 1',
      'text-filter 1',
    ])
    expect(lines(explanation)).toEqual(
      expect.arrayContaining(['language chosen displayLanguage', 'concept fails unknown-code ValueSet.compose.exclude[0].concept']),
    )
  })

  it('expand says how a filter with a typing error was read', async () => {
    const { explanation } = await expand(ctx, { url: vs('cats'), filter: 'Katez', tolerateTypo: true, explain: true })
    expect(explanation?.steps.at(-1)?.text).toBe("1 code with words that begin like those of 'Katez', read as 'katze'.")
  })

  it('lookup tells the text that is shown', async () => {
    const { explanation } = await lookup(ctx, { system: cs('living'), code: 'cat', displayLanguage: 'de', explain: true })
    expect(explanation?.steps.at(-1)).toMatchObject({ kind: 'text', text: "'Katze' is shown, a designation in 'de': 'de' was asked for." })
  })

  it.each([
    ['Katze', 'text holds'],
    ['Hund', 'text fails'],
  ])('the display %s is compared', async (display, expected) => {
    expect(lines((await inSet('cats', coding('cat', { display }))).explanation)).toContain(expected)
  })

  it('subsumes shows the way', async () => {
    const { outcome, explanation } = await subsumes(ctx, { system: cs('living'), codeA: 'animal', codeB: 'lion', explain: true })
    expect([outcome, explanation?.steps.at(-1)?.text]).toEqual(['subsumes', "'lion' is below 'cat' is below 'animal'."])
  })

  it('translate tells groups, elements, conditions and unmapped', async () => {
    const { explanation } = await translate(ctx, { source: vs('cats'), coding: { system: cs('living'), code: 'cat' }, explain: true })
    expect(lines(explanation)).toEqual([
      'concept-map chosen newest',
      "element fails depends-on ConceptMap.group[0].element.where(code = 'cat')",
      'group fails other-system ConceptMap.group[1]',
      'group fails not-mapped ConceptMap.group[2]',
      'unmapped chosen not-mapped ConceptMap.group[2].unmapped',
    ])
  })

  it('translate suggests codes that the map has', async () => {
    const { explanation } = await translate(ctx, {
      source: vs('cats'),
      coding: { system: cs('living'), code: 'cta' },
      targetSystem: cs('first'),
      explain: true,
    })
    expect(explanation?.nearest).toEqual([{ coding: { system: cs('living'), code: 'cat' }, distance: 1, by: 'code' }])
  })

  it('translate suggests at most five codes for a code, the most similar first', async () => {
    const codes = ['abcduu', 'abcdvv', 'abcdww', 'abcdeu', 'abcdev', 'abcdew']
    const { explanation } = await translate(ctx, {
      conceptMap: {
        resourceType: 'ConceptMap',
        status: 'active',
        group: [{ source: cs('living'), element: codes.map((code) => ({ code })) }],
      },
      coding: { system: cs('living'), code: 'abcdef' },
      explain: true,
    })
    expect(explanation?.nearest.map(({ coding: { code }, distance }) => `${code} ${distance}`)).toEqual([
      'abcdeu 1',
      'abcdev 1',
      'abcdew 1',
      'abcduu 2',
      'abcdvv 2',
    ])
  })

  it('closure tells the version', async () => {
    await closure(ctx, { name: 'table' })
    const { explanation } = await closure(ctx, { name: 'table', concepts: [{ system: cs('living'), code: 'cat' }], explain: true })
    expect(lines(explanation)).toEqual(['code-system chosen newest'])
  })

  it('a value set of many parts is explained in the time that its parts take', async () => {
    const include = Array.from({ length: 5_000 }, (_, i) => ({ system: cs('living'), version: `${i % 100}`, concept: [{ code: 'cat' }] }))
    const value = coding('cat', { version: '7' })
    const { explanation } = await validateCode(ctx, { valueSet: valueSet('many', { include }), coding: value, explain: true })
    expect(explanation?.omitted).toBeGreaterThan(3_900)
  })

  it('no more than 1,000 steps are kept', async () => {
    const include = Array.from({ length: 1_100 }, (_, i) => ({ system: cs('living'), concept: [{ code: `c${i}` }] }))
    const { explanation } = await expand(ctx, { valueSet: valueSet('long', { include }), explain: true })
    expect([explanation?.steps.length, (explanation?.omitted ?? 0) > 2_000]).toEqual([1_000, true])
  })
})

describe('without being asked', () => {
  it('nothing is explained', async () => {
    const answers: readonly object[] = [
      await expand(ctx, { url: vs('cats') }),
      await lookup(ctx, { system: cs('living'), code: 'cat', explain: false }),
      await validateCode(ctx, { url: vs('cats'), coding: coding('cat') }),
    ]
    for (const answer of answers) expect(answer).not.toHaveProperty('explanation')
  })
})

describe('as parameters and resources', () => {
  const ask = (own: OperationContext, query: string): Promise<object> =>
    callByGet(lookupOperation, own, `system=${cs('living')}&code=cat${query}`)

  it('_explain adds a parameter with a part for each step', async () => {
    expect(await ask(ctx, '&_explain=true')).toMatchObject({
      parameter: expect.arrayContaining([
        {
          name: 'explanation',
          part: expect.arrayContaining([
            {
              name: 'step',
              part: [
                { name: 'kind', valueCode: 'code-system' },
                { name: 'outcome', valueCode: 'chosen' },
                { name: 'reason', valueCode: 'newest' },
                { name: 'definition', valueCanonical: `${cs('living')}|1.0.0` },
                { name: 'text', valueString: expect.stringContaining('was used') },
              ],
            },
          ]),
        },
      ]),
    })
    expect(JSON.stringify(await ask(ctx, '&_explain=false'))).not.toContain('explanation')
    await expect(ask(ctx, '&_explain=yes')).rejects.toMatchObject({ code: 'parameter-value' })
  })

  it('an expansion has it as an extension', async () => {
    const answer = await callByGet(expandOperation, ctx, `url=${vs('cats')}&_explain=true`)
    const [extension] = objectsAt(objectAt(answer, 'expansion'), 'extension')
    expect(extension).toMatchObject({
      url: 'https://fhir-ops.dev/StructureDefinition/explanation',
      extension: expect.arrayContaining([{ url: 'step', extension: expect.anything() }]),
    })
  })

  it('a POST asks with a parameter', async () => {
    const parameters = [
      { name: 'url', valueUri: vs('cats') },
      { name: 'coding', valueCoding: { system: cs('living'), code: 'cat' } },
    ]
    const answer = await call(valueSetValidateCodeOperation, ctx, [...parameters, { name: '_explain', valueBoolean: true }])
    expect(objectsAt(answer, 'parameter').at(-1)).toMatchObject({ name: 'explanation' })
  })
})
