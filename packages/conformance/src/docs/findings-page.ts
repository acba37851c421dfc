import { FINDING_KINDS } from 'fhir-ops/validate'
import type { FindingDefinition } from 'fhir-ops/internal/validate'

const HEAD = `# Findings of $validate

Every kind of finding has a name that does not depend on the wording: \`kind\` in-process, extension \`operationoutcome-message-id\` over HTTP,
\`ruleId\` in SARIF. Severity and issue type are the usual ones; profiles, warning levels and the circumstances can change them for one finding, and
[\`rules\`](validate.md#rules) for all. Adding a kind is a minor release, removing one a major. \`FINDING_KINDS\` of \`fhir-ops/validate\` has the same data.

This page is generated from the rules (\`npm run docs\`).

| Kind | Severity | Issue type | What to do |
|---|---|---|---|
`

/** The page `docs/operations/validate-findings.md`, from the kinds of findings that the rules declare. */
export function findingsPage(): string {
  return `${HEAD}${Object.values(FINDING_KINDS).map(rowOf).join('')}`
}

function rowOf({ kind, severity, code, advice }: FindingDefinition): string {
  return `| \`${kind}\` | ${severity} | ${code} | ${advice.replaceAll('|', '\\|')} |\n`
}
