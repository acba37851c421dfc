import { expect, test } from 'vitest'
import { textAfter } from './sql.js'

test.each([
  ['', undefined],
  ['a', 'b'],
  ['ab', 'ac'],
  ['a\u{10ffff}', 'b'],
  ['\u{10ffff}', undefined],
  ['\ud7ff', '\ue000'],
  ['🙂', '🙃'],
])('the first text after all that begin with %j is %j', (prefix, after) => {
  expect(textAfter(prefix)).toBe(after)
})
