import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { messages, messagesIn, REASONS, testFinder, UNSHOWN } from './rule-book.js'
import { rulesPage, unknownKinds } from './rules-page.js'

const PAGE = join(resolve(import.meta.dirname, '../../../..'), 'docs/operations/validate-rules.md')

test('the page of rules is the one that the rule book makes', async () => {
  await expect(rulesPage()).toMatchFileSnapshot(PAGE)
})

test('every kind that the rule book names exists', () => {
  expect(unknownKinds()).toEqual([])
})

test('each message is listed once', () => {
  const ids = messages().map(({ id }) => id)
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
})

test('what is covered names a kind, and what is not offered a reason', () => {
  const bare = messages().filter(({ state, kinds, reason }) => (state === 'not' ? reason === '' : state !== 'open' && kinds.length === 0))
  expect(bare.map(({ id }) => id)).toEqual([])
  const reasons = new Set(messages().map(({ reason }) => reason))
  expect(Object.keys(REASONS).filter((word) => !reasons.has(word))).toEqual([])
})

/** Kinds that the public suite and R4's examples test, and no test by name. One that gets a test leaves this list; none is added. */
const WITHOUT_OWN_TEST = ['json-duplicate', 'slice-order']

test('every message that is covered has a test', () => {
  const find = testFinder()
  const covered = messages().filter(({ state }) => state === 'yes' || state === 'off')
  const untested = covered.filter((message) => find(message) === undefined).flatMap(({ kinds }) => kinds)
  expect([...new Set(untested)].toSorted()).toEqual(WITHOUT_OWN_TEST)
})

test('what was tried in vain is covered, and listed once', () => {
  const unshown = Object.values(UNSHOWN).flat()
  const covered = new Set(messages().flatMap(({ id, state }) => (state === 'not' ? [] : id)))
  expect(unshown.filter((id, index) => !covered.has(id) || unshown.indexOf(id) !== index)).toEqual([])
})

test('a line with another state is refused', () => {
  expect(() => messagesIn('X', 'ID\terror\tmaybe\n')).toThrow('maybe')
})
