import { expect, test } from 'vitest'
import { readAddress, writeAddress } from './address.js'

const INPUT = {
  fields: { url: 'http://example.org/ValueSet/ä|1', activeOnly: 'true' },
  texts: { definitions: '{ "a": "#/%~\\n\u{1f600}" }' },
}

test('an address with an input opens the same input', async () => {
  const address = await writeAddress({ operation: 'expand', input: INPUT })
  expect(address).toMatch(/^#\/expand\/~[\w-]+$/)
  expect(await readAddress(address)).toEqual({ operation: 'expand', input: INPUT })
})

test('an address of a sample names it', async () => {
  const address = await writeAddress({ operation: 'expand', sample: 'family' })
  expect(address).toBe('#/expand/family')
  expect(await readAddress(address)).toEqual({ operation: 'expand', sample: 'family' })
})

test('long texts make short addresses', async () => {
  const texts = { definitions: JSON.stringify(Array.from({ length: 1000 }, () => ({ resourceType: 'ValueSet' }))) }
  expect((await writeAddress({ operation: 'expand', input: { fields: {}, texts } })).length).toBeLessThan(1000)
})

test.each(['#/expand/~', '#/expand/~AAAA', '#/expand/~!', `#/expand/~${btoa('{}')}`])(
  '%s opens the operation without an input',
  async (address) => {
    expect(await readAddress(address)).toEqual({ operation: 'expand' })
  },
)

test('a short address that is a very long text is not read to its end', async () => {
  const texts = { definitions: 'x'.repeat(5_000_000) }
  expect(await readAddress(await writeAddress({ operation: 'expand', input: { fields: {}, texts } }))).toEqual({ operation: 'expand' })
})
