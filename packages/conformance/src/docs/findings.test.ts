import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { FINDING_ADVICE, FINDING_KINDS, type FindingKind } from 'fhir-ops/validate'
import { expect, test } from 'vitest'

const PAGE = resolve(import.meta.dirname, '../../../../docs/operations/validate-findings.md')

test('the page of findings has every kind with its severity, issue type and advice, and no other', () => {
  const rows = readFileSync(PAGE, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
  expect(rows).toEqual(Object.keys(FINDING_KINDS).filter(isKind).map(rowOf))
})

function rowOf(kind: FindingKind): string {
  const { severity, code } = FINDING_KINDS[kind]
  return `| \`${kind}\` | ${severity} | ${code} | ${FINDING_ADVICE[kind].replaceAll('|', '\\|')} |`
}

function isKind(name: string): name is FindingKind {
  return Object.hasOwn(FINDING_ADVICE, name)
}
