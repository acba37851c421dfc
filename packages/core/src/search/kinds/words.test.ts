import { describe, expect, it } from 'vitest'
import { publishedSearchParameters, publishedTypes } from '../../../test/r4-definitions.js'
import { memoryStorage } from '../../memory/index.js'
import { createIndexer, parseSearch, searchParameters } from '../index.js'

const parameters = searchParameters(publishedSearchParameters(), publishedTypes(), { words: true })
const indexer = createIndexer(parameters)

const narrative = (div: string): object => ({ status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">${div}</div>` })

const storage = memoryStorage(
  [
    {
      resourceType: 'Condition',
      id: 'bone',
      text: narrative('<p class="wide">Métastases</p><ul><li>in the bone-marrow</li></ul>'),
      subject: { display: 'Ada', reference: 'Patient/1' },
      note: [{ text: 'seen in 2019' }],
    },
    { resourceType: 'Condition', id: 'liver', text: narrative('metastases &amp; caf&#233; &nbsp;(liver) <br/>a < b'), subject: {} },
    { resourceType: 'Condition', id: 'lung', text: narrative('lung; 日本'), subject: {} },
    { resourceType: 'Condition', id: 'silent', subject: {}, extension: [{ url: 'u', valueBase64Binary: `bone/${'QUJD'.repeat(100)}` }] },
    {
      resourceType: 'Patient',
      id: 'smith',
      name: [{ family: 'Smith', given: ['Catherine Ann'], text: 'Nobody' }],
      contact: [{ name: { family: 'Muller' } }],
    },
    { resourceType: 'Patient', id: 'schmidt', name: [{ family: 'Schmidt' }] },
    { resourceType: 'Patient', id: 'tokyo', name: [{ family: '日本' }] },
    { resourceType: 'Practitioner', id: 'mueller', name: [{ family: 'Müller' }] },
  ],
  { indexer },
)

async function found(type: string, name: string, value: string): Promise<string> {
  const { query } = await parseSearch(type, [[name, value]], { parameters })
  return (await storage.search(query)).items.map(({ id }) => id).join(' ')
}

describe('a search by words', () => {
  it.each([
    ['_text', 'metastases', 'bone liver'],
    ['_text', 'METASTASES bone', 'bone'],
    ['_text', '(bone OR liver) and metastases', 'bone liver'],
    ['_text', 'bone or liver metastases', 'bone liver'],
    ['_text', 'metastases not bone', 'liver'],
    ['_text', 'not (bone or liver or not lung)', 'lung'],
    ['_text', 'not not bone', 'bone'],
    ['_text', 'bone,lung', 'bone lung'],
    ['_text', 'marrow', 'bone'],
    ['_text', 'bone-marrow', 'bone'],
    ['_text', 'café', 'liver'],
    ['_text', '日本', 'lung'],
    // neither parts of words nor what is not shown
    ['_text', 'metastas', ''],
    ['_text', 'generated', ''],
    ['_text', 'wide', ''],
    ['_text', 'amp', ''],
    ['_text', 'li', ''],
    ['_text:missing', 'true', 'silent'],
    // the rest of the resource counts for _content only
    ['_text', 'ada', ''],
    ['_content', 'ada', 'bone'],
    ['_content', 'marrow 2019 Ada', 'bone'],
    ['_content', 'lung', 'lung'],
    ['_content', 'QUJD', ''],
    ['_content:missing', 'true', ''],
  ])('%s=%s', async (name, value, ids) => {
    expect(await found('Condition', name, value)).toBe(ids)
  })

  it.each(['', '()', '(bone', 'bone)', 'bone or', 'and bone', 'bone and or lung', 'not', '"bone marrow"', '-'])(
    'refuses %j',
    async (value) => {
      await expect(found('Condition', '_text', value)).rejects.toMatchObject({ code: 'search-invalid' })
    },
  )

  it.each(['_text:exact', '_content:contains', '_sort'])('refuses %s', async (name) => {
    await expect(found('Condition', name, name === '_sort' ? '_text' : 'bone')).rejects.toMatchObject({
      code: expect.stringMatching(/^search-/),
    })
  })

  it('goes through what is nested as deep as a value may be', async () => {
    await expect(found('Condition', '_text', `${'('.repeat(49)}bone${')'.repeat(49)}`)).resolves.toBe('bone')
  })

  it('takes time in proportion to the text', () => {
    const div = '<'.repeat(500_000) + '&#'.repeat(500_000)
    expect(indexer({ resourceType: 'Condition', text: { div } }).length).toBeGreaterThan(0)
  })
})

describe('phonetic', () => {
  it.each([
    ['Patient', 'smyth', 'smith schmidt'],
    ['Patient', 'Kathryn', 'smith'],
    ['Patient', 'Katherine Smythe', 'smith'],
    ['Patient', 'Kathryn Schmitt', 'smith'],
    ['Patient', 'Jones,Schmit', 'schmidt smith'],
    ['Patient', 'Nobody', ''],
    ['Patient', 'Mueller', ''],
    ['Patient', '日本', 'tokyo'],
    ['Practitioner', 'miller', 'mueller'],
  ])('%s?phonetic=%s', async (type, value, ids) => {
    expect((await found(type, 'phonetic', value)).split(' ').sort()).toEqual(ids.split(' ').sort())
  })

  it.each(['-', ' '])('refuses %j', async (value) => {
    await expect(found('Patient', 'phonetic', value)).rejects.toMatchObject({ code: 'search-invalid' })
  })
})
