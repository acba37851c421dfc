import { describe, expect, test, vi } from 'vitest'
import type { ContentLayer, Definition } from '../content/index.js'
import { createContext, forRequest, type OperationContext } from '../context/index.js'
import { OperationError } from '../errors/index.js'
import type { JsonObject } from '../json/index.js'
import { memoryStorage } from '../memory/index.js'
import type { CodingInput } from '../input/index.js'
import type { TranslateOptions } from './input.js'
import { translate } from './translate.js'

const URL = 'http://example.org/ConceptMap/'
const FROM = 'http://example.org/ValueSet/from'
const TO = 'http://example.org/ValueSet/to'
/** A value set that maps lead from in one version each. */
const MOVED = 'http://example.org/ValueSet/moved'
const coding = { system: 'http://example.org/one', code: 'a' }

/** A map that translates `a` to `target`. */
function map(target: string, over: object): JsonObject {
  const element = [{ code: 'a', target: [{ code: target, equivalence: 'equal' }] }]
  return {
    resourceType: 'ConceptMap',
    status: 'active',
    group: [{ source: coding.system, target: 'http://example.org/two', element }],
    ...over,
  }
}

const stored = [
  map('old', { id: 'b1', url: `${URL}b`, version: '1.9', sourceUri: FROM, targetUri: TO }),
  map('new', { id: 'b2', url: `${URL}b`, version: '1.10', sourceUri: FROM, targetUri: TO }),
  map('retired', { id: 'b3', url: `${URL}b`, version: '2.0', status: 'retired', sourceUri: FROM, targetUri: TO }),
  map('draft', { id: 'a', url: `${URL}a`, status: 'draft', sourceCanonical: `${FROM}|4`, targetCanonical: `${TO}/other` }),
  map('gone', { id: 'r', url: `${URL}r`, version: '1', status: 'retired', sourceCanonical: FROM }),
  map('nameless', { id: 'nameless' }),
  map('from first', { id: 'm1', url: `${URL}m`, version: '1', sourceCanonical: `${MOVED}|1` }),
  map('from second', { id: 'm2', url: `${URL}m`, version: '2', sourceCanonical: `${MOVED}|2` }),
]
const ctx: OperationContext = createContext({ storage: memoryStorage(stored) })

/** What names a map, and optionally another code than `coding`. */
type Asked = TranslateOptions & Partial<CodingInput>

async function targets(input: Asked, context = ctx): Promise<readonly unknown[]> {
  return (await translate(context, { coding, ...input })).matches.map((match) => match.concept?.code)
}

test.each([
  ['by its url', { url: `${URL}b` }, ['given']],
  ['among the maps from a value set', { source: FROM, target: TO }, ['given']],
  ['but not where a version is asked for', { url: `${URL}b`, mapVersion: '1.9' }, ['old']],
])('a map that comes with the request is used in place of a stored newer one: %s', async (_, asked, expected) => {
  const given = map('given', { url: `${URL}b`, version: '0.1', sourceUri: FROM, targetUri: TO })
  expect(await targets(asked, forRequest(ctx, { resources: [given] }))).toEqual(expected)
})

describe('which map is used', () => {
  test.each<[string, Asked, readonly string[]]>([
    ['the one of that id', { mapId: 'b1' }, ['old']],
    ['a retired one, when named by its id', { mapId: 'r' }, ['gone']],
    ['one without url, by its id', { mapId: 'nameless' }, ['nameless']],
    ['the newest version of a url that is not retired', { url: `${URL}b` }, ['new']],
    ['the version in the url', { url: `${URL}b|1.9` }, ['old']],
    ['the version beside the url, retired or not', { url: `${URL}b`, mapVersion: '2.0' }, ['retired']],
    ['drafts too', { url: `${URL}a` }, ['draft']],
    ['every map from a value set, by canonical, one version each', { source: FROM }, ['draft', 'new']],
    ['only those of the version of the value set, where both say one', { source: `${FROM}|5` }, ['new']],
    ['every map between two value sets', { source: FROM, target: TO }, ['new']],
    ['the newest version that leads from the version of the value set', { source: `${MOVED}|1` }, ['from first']],
    ['the newest version of all where the value set has none', { source: MOVED }, ['from second']],
    [
      'in reverse, every map into a value set',
      { source: `${TO}/other`, reverse: true, coding: { system: 'http://example.org/two', code: 'draft' } },
      ['a'],
    ],
    ['an inline map', { conceptMap: map('inline', {}) }, ['inline']],
    [
      'an inline map rather than the stored one of that url',
      { conceptMap: map('inline', { url: `${URL}b`, version: '1.9' }), url: `${URL}b|1.9` },
      ['inline'],
    ],
    ['a map that came along, by its url', { url: `${URL}along`, resources: [map('along', { url: `${URL}along` })] }, ['along']],
    [
      'all maps that came along, when nothing else names one',
      { resources: [map('2', { url: `${URL}2` }), map('1', { url: `${URL}1` })] },
      ['1', '2'],
    ],
    [
      'maps that came along without a url',
      { resources: [map('1', { url: `${URL}1` }), map('nameless', {}), map('nameless too', {})] },
      ['nameless', 'nameless too', '1'],
    ],
    [
      'a version of those that came along',
      { mapVersion: '2', resources: [map('1', { version: '1' }), map('2', { version: '2' }), map('3', { url: `${URL}3`, version: '2' })] },
      ['2', '3'],
    ],
    ['id, url, version, source and target together', { mapId: 'b1', url: `${URL}b`, mapVersion: '1.9', source: FROM, target: TO }, ['old']],
  ])('%s', async (_name, input, expected) => {
    expect(await targets(input)).toEqual(expected)
  })

  test.each<[string, Asked, string]>([
    ['nothing names a map', {}, 'parameter-required'],
    ['a target alone names no map', { target: TO }, 'parameter-required'],
    ['unknown id', { mapId: 'none' }, 'not-found'],
    ['unknown url', { url: `${URL}none` }, 'not-found'],
    ['unknown version', { url: `${URL}b|7` }, 'not-found'],
    ['a url of which all is retired', { url: `${URL}r` }, 'not-found'],
    ['unknown source', { source: `${FROM}/none` }, 'not-found'],
    ['a source that no map leads from to the target', { source: FROM, target: `${TO}/none` }, 'not-found'],
    ['an id whose url is another', { mapId: 'a', url: `${URL}b` }, 'parameter-invalid'],
    ['an id of another version', { mapId: 'b1', mapVersion: '1.10' }, 'parameter-invalid'],
    ['a url with another source', { url: `${URL}b`, source: `${FROM}/none` }, 'parameter-invalid'],
    ['a url with another target', { url: `${URL}b`, target: FROM }, 'parameter-invalid'],
    ['a map without source, when one is given', { mapId: 'nameless', source: FROM }, 'parameter-invalid'],
    ['an inline map of another url', { conceptMap: map('x', { url: `${URL}x` }), url: `${URL}y` }, 'parameter-invalid'],
    ['an inline map of another url than the id', { mapId: 'a', conceptMap: map('x', { url: `${URL}x` }) }, 'parameter-invalid'],
    ['something inline that is not a map', { conceptMap: { resourceType: 'Patient' } }, 'parameter-value'],
    ['a coding without system', { mapId: 'a', coding: { code: 'a' } }, 'parameter-required'],
  ])('%s is refused', async (_name, input, code) => {
    await expect(translate(ctx, { coding, ...input })).rejects.toMatchObject({ code })
  })

  test('what the caller may not read is refused before it is looked for', async () => {
    const authorize = (interaction: string, type: string, id?: string): void => {
      throw new OperationError('forbidden', `${interaction} ${type} ${id}`)
    }
    await expect(translate({ ...ctx, authorize }, { mapId: 'a', coding })).rejects.toThrow('read ConceptMap a')
  })

  test('an inline map never answers for a later call', async () => {
    await targets({ conceptMap: map('inline', { url: `${URL}b`, version: '1.9' }) })
    expect(await targets({ url: `${URL}b|1.9` })).toEqual(['old'])
  })

  test('of two maps with one url and version that come along the first is used', async () => {
    const twin = { url: `${URL}twin`, version: '1' }
    const [first, second] = [map('first', twin), map('second', twin)]
    const resources = [first, second]
    expect(await targets({ resources })).toEqual(['first'])
    expect(await targets({ resources, url: `${URL}twin` })).toEqual(['first'])
    expect(await targets({ resources, conceptMap: second })).toEqual(['second'])
  })

  test('a new version of a stored map is seen at once', async () => {
    const storage = memoryStorage([map('first', { id: 'm' })])
    const own = createContext({ storage })
    expect(await targets({ mapId: 'm' }, own)).toEqual(['first'])
    const text = JSON.stringify({ resourceType: 'ConceptMap', id: 'm', meta: {}, ...map('second', {}) })
    await storage.write([{ op: 'put', type: 'ConceptMap', id: 'm', text, entries: [] }])
    expect(await targets({ mapId: 'm' }, own)).toEqual(['second'])
  })

  test('the explanation names the value sets for which a map was chosen', async () => {
    const why = async (input: TranslateOptions): Promise<unknown> =>
      (await translate(ctx, { coding, ...input, explain: true })).explanation?.steps[0]?.text
    const used = `The map '${URL}b|1.10' was used: it is the newest that is not retired`
    expect(await why({ url: `${URL}b` })).toBe(`${used}.`)
    expect(await why({ source: `${FROM}|5` })).toBe(`${used} for '${FROM}|5'.`)
    expect(await why({ source: FROM, target: TO })).toBe(`${used} for '${FROM}' and '${TO}'.`)
  })

  test('older versions of a map are not read where the newest fits', async () => {
    const read = vi.fn()
    const versions = ['1', '2'].map((version): Definition => {
      const resource = map(version, { url: `${URL}v`, version, sourceCanonical: `${FROM}|${version}` })
      const stated = { type: 'ConceptMap', url: `${URL}v`, version, status: 'active', key: version }
      return Object.defineProperty({ ...stated, resource }, 'resource', { get: () => (read(version), resource) })
    })
    const layer: ContentLayer = { find: () => Promise.resolve(versions) }
    const own = createContext({ storage: memoryStorage([]), definitions: [layer] })
    expect(await targets({ source: FROM }, own)).toEqual(['2'])
    expect(read).not.toHaveBeenCalledWith('1')
    expect(await targets({ source: `${FROM}|1` }, own)).toEqual(['1'])
  })
})
