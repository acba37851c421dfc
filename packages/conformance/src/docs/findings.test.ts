import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { FINDING_KINDS } from 'fhir-ops/validate'
import { expect, test } from 'vitest'
import { findingsPage } from './findings-page.js'

const ROOT = resolve(import.meta.dirname, '../../../..')
const PAGE = join(ROOT, 'docs/operations/validate-findings.md')
const SOURCES = join(ROOT, 'packages/core/src/validate')

test('the page of findings is the one that the rules make', async () => {
  await expect(findingsPage()).toMatchFileSnapshot(PAGE)
})

test('every kind of finding that is declared is listed by a rule, so that it is documented and can be switched off', () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((file) => /(?<!\.test)\.ts$/.test(file))
  const declared = files.flatMap((file) => [...readFileSync(join(SOURCES, file), 'utf8').matchAll(/defineFinding\(\s*'([\w-]+)'/g)])
  expect(declared.length).toBeGreaterThan(100)
  expect(declared.map(([, kind = '']) => kind).filter((kind) => !Object.hasOwn(FINDING_KINDS, kind))).toEqual([])
})
