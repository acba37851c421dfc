import { expect, test } from 'vitest'
import { isForgetful, readAddress, writeAddress } from './address.js'

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

test.each(['#/expand/~', '#/expand/~AAAA', '#/expand/~!', `#/expand/~${btoa('{}')}`])('%s has an input that is lost', async (address) => {
  expect(await readAddress(address)).toEqual({ operation: 'expand', isLost: true })
})

test('an address that lost its end, as in a message that breaks lines, has an input that is lost', async () => {
  const address = await writeAddress({ operation: 'expand', input: INPUT })
  expect(await readAddress(address.slice(0, -10))).toEqual({ operation: 'expand', isLost: true })
})

test('a short address that is a very long text is not read to its end', async () => {
  const zeros = new Blob([`{"fields":{},"texts":{"definitions":"${'x'.repeat(5_000_000)}"}}`]).stream()
  const bytes = new Uint8Array(await new Response(zeros.pipeThrough(new CompressionStream('deflate-raw'))).arrayBuffer())
  const address = `#/expand/~${Buffer.from(bytes).toString('base64url')}`
  expect(address.length).toBeLessThan(10_000)
  expect(await readAddress(address)).toEqual({ operation: 'expand', isLost: true })
})

test('an input that is too long for an address makes one that says so, and no copy that opens something else', async () => {
  const texts = { definitions: 'x'.repeat(5_000_000) }
  const address = await writeAddress({ operation: 'expand', input: { fields: {}, texts } })
  expect([address, isForgetful(address)]).toEqual(['#/expand/~', true])
  expect(isForgetful(await writeAddress({ operation: 'expand', input: INPUT }))).toBe(false)
})
