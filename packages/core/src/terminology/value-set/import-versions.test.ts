import { expect, it } from 'vitest'
import { callByGet, contextOf, cs, LIVING, valueSet, vs } from '../../../test/terminology-content.js'
import { isObject, objectAt, objectsAt, type JsonObject } from '../../json/index.js'
import { expandOperation, valueSetValidateCodeOperation } from '../../operations/index.js'

const pets = (version: string, code: string): JsonObject =>
  valueSet('pets', { include: [{ system: cs('living'), concept: [{ code }] }] }, { version })
const ctx = contextOf(
  LIVING,
  pets('1.0.0', 'cat'),
  pets('2.0.0', 'dog'),
  valueSet('open', { include: [{ valueSet: [vs('pets')] }] }),
  valueSet('fixed', { include: [{ valueSet: [`${vs('pets')}|2.0.0`] }] }),
  valueSet('without', { include: [{ system: cs('living') }], exclude: [{ valueSet: [`${vs('pets')}|2.0.0`] }] }),
)

async function expansionOf(name: string, rule: string): Promise<{ codes: string; rules: readonly unknown[] }> {
  const expansion = objectAt(await callByGet(expandOperation, ctx, `url=${vs(name)}&excludeNested=true&${rule}`), 'expansion')
  const rules = objectsAt(expansion, 'parameter').filter(({ name: found }) => String(found).endsWith('-valueset-version'))
  return {
    codes: objectsAt(expansion, 'contains')
      .map(({ code }) => code)
      .join(' '),
    rules: rules.map(({ name: found, valueUri }) => `${String(found)}=${String(valueUri)}`),
  }
}

it.each([
  ['open', '', 'dog'],
  ['open', `default-valueset-version=${vs('pets')}|1.0.0`, 'cat'],
  ['fixed', `default-valueset-version=${vs('pets')}|1.0.0`, 'dog'],
  ['open', `force-valueset-version=${vs('pets')}|1.0.0`, 'cat'],
  ['fixed', `force-valueset-version=${vs('pets')}|1.0.0`, 'cat'],
  ['fixed', `force-valueset-version=${vs('pets')}|1.x.x`, 'cat'],
  ['without', `force-valueset-version=${vs('pets')}|1.0.0`, 'animal lion dog duck plant'],
  ['open', `check-valueset-version=${vs('pets')}|1.0.0`, 'cat'],
  ['fixed', `check-valueset-version=${vs('pets')}|2.x.x`, 'dog'],
  ['fixed', `check-valueset-version=${vs('other')}|7`, 'dog'],
])('the import of %s with "%s" gives %s, and $validate-code agrees', async (name, rule, expected) => {
  const { codes, rules } = await expansionOf(name, rule)
  expect(codes).toBe(expected)
  expect(rules).toEqual(rule === '' ? [] : [rule])
  for (const code of ['cat', 'dog']) {
    const query = `url=${vs(name)}&system=${cs('living')}&code=${code}&${rule}`
    const answer = await callByGet(valueSetValidateCodeOperation, ctx, query)
    const result = objectsAt(answer, 'parameter').find((one) => one['name'] === 'result')
    expect([code, isObject(result) && result['valueBoolean']]).toEqual([code, expected.split(' ').includes(code)])
  }
})

it.each([
  ['fixed', `check-valueset-version=${vs('pets')}|1.0.0`, 'unprocessable', 'VALUESET_IMPORT_VERSION_CHECK'],
  ['without', `check-valueset-version=${vs('pets')}|1.0.0`, 'unprocessable', 'VALUESET_IMPORT_VERSION_CHECK'],
  ['fixed', `force-valueset-version=${vs('pets')}|7`, 'content-not-found', 'VS_EXP_IMPORT_UNK_PINNED'],
  ['open', `force-valueset-version=${vs('pets')}`, 'parameter-value', undefined],
])('the import of %s with "%s" is refused with %s', async (name, rule, code, messageId) => {
  await expect(expansionOf(name, rule)).rejects.toMatchObject({ code, ...(messageId !== undefined && { detail: { messageId } }) })
})

it('what a request asks of versions is forgotten with it', async () => {
  await expansionOf('open', `force-valueset-version=${vs('pets')}|1.0.0`)
  expect((await expansionOf('open', '')).codes).toBe('dog')
})
