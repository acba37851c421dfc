import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { findingsPage } from './findings-page.js'

const PAGE = resolve(import.meta.dirname, '../../../../docs/operations/validate-findings.md')

test('the page of findings is the one that the rules make', async () => {
  await expect(findingsPage()).toMatchFileSnapshot(PAGE)
})
