import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { ourFindings } from './issue.js'

const FILE = fileURLToPath(new URL('../../../oracle/expressions.tsv.gz', import.meta.url))

/** An expression of a constraint on Observation, and whether HL7's validator reports an error in it. */
interface ExpressionFact {
  readonly expression: string
  readonly isWrong: boolean
}

const FACTS: readonly ExpressionFact[] = gunzipSync(readFileSync(FILE))
  .toString('utf8')
  .trimEnd()
  .split('\n')
  .map((line) => {
    const [verdict, expression = ''] = line.split('\t')
    return { expression, isWrong: verdict === 'error' }
  })

const N1 = 'https://hl7.org/fhirpath/N1/'
const R4 = 'https://hl7.org/fhir/R4'

/** Expressions on which the validators differ, and why ours is right. */
const DECIDED: readonly (readonly [RegExp, why: string])[] = [
  [
    /\.(sum|min|max|avg|toDate|lastIndexOf|dateOf|yearOf|hasExtension|getValue|elementDefinition|subsumes|subsumedBy|checkModifiers)\(/,
    `Theirs does not know functions of [FHIR](${R4}/fhirpath.html#functions), of [N1](${N1}/#functions) and of later versions.`,
  ],
  [/\.toQuantity\(.+\)/, `[toQuantity](${N1}/#toquantityunit-string-quantity) takes a unit.`],
  [/\.(sort|coalesce|hasTemplateIdOf)\(/, `Theirs knows functions that are newer than [N1](${N1}/#functions), or for CDA only.`],
  [
    /^text\.`?div`?\.|^note\.text\.upper/,
    `[markdown and xhtml](${R4}/fhirpath.html#types) are texts, to which functions of text can be applied. Theirs names five types.`,
  ],
  [
    /^(value|value\.ofType\(integer\)|text\.div|contained)\.(subsetOf|supersetOf)\(1\)$|^status\.subsetOf\('a'\)$/,
    `[Values of FHIR's primitive types are converted](${R4}/fhirpath.html#types), so that they can equal those of FHIRPath.`,
  ],
  [
    /^(status|id)\.resolve\(|^id\.memberOf\(/,
    `[resolve](${R4}/fhirpath.html#functions) and memberOf apply to every text. Theirs leaves out types derived from string.`,
  ],
  [/^issued\.(lowBoundary|highBoundary|precision)/, `[instant](${R4}/fhirpath.html#types) is a DateTime.`],
  [/^(\{\}|4 'mg')\./, 'Theirs does not look at what follows a literal of these kinds.'],
  [/^\(@T10:00\) [+-]/, `[Only a duration can be added to a time](${N1}/#datetime-arithmetic). Theirs checks this for dates.`],
  [
    /^\(value\) [+-]|^\((issued|@2020-01-01)\) [+-] \(\{\}\)$|^effective \+/,
    `[Nothing is added to nothing](${N1}/#addition), and of a choice, one type may fit. Theirs looks at the first type.`,
  ],
  [
    /^%rootResource|%a\.|\.power\(2\)\.upper|type\(\)\.nope|ofType\(Nope\)|^repeat\(/,
    'Ours does not know the types of these steps, or only warns about them.',
  ],
]

// Fewer than the findings of one validation.
const BATCH = 90

test("constraints have an error where HL7's Java validator reports one, or a reason why not", async () => {
  const undecided: string[] = []
  const needed = new Set<string>()
  for (let start = 0; start < FACTS.length; start += BATCH) {
    const facts = FACTS.slice(start, start + BATCH)
    const wrong = await wrongExpressions(facts.map(({ expression }) => expression))
    for (const [i, { expression, isWrong }] of facts.entries()) {
      if (wrong.has(i) === isWrong) continue
      const [, why] = DECIDED.find(([expressions]) => expressions.test(expression)) ?? []
      if (why === undefined) undecided.push(`${expression}: ${isWrong ? 'wrong' : 'right'} there`)
      else needed.add(why)
    }
  }
  expect(undecided).toEqual([])
  expect(DECIDED.filter(([, why]) => !needed.has(why))).toEqual([])
})

/** The positions of the expressions that are errors here. */
async function wrongExpressions(expressions: readonly string[]): Promise<ReadonlySet<number>> {
  const constraint = expressions.map((expression, i) => ({ key: `x-${i}`, severity: 'error', human: 'x', expression }))
  const definition = {
    resourceType: 'StructureDefinition',
    url: 'http://example.org/StructureDefinition/expressions',
    name: 'Expressions',
    status: 'active',
    kind: 'resource',
    abstract: false,
    type: 'Observation',
    baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Observation',
    derivation: 'constraint',
    differential: { element: [{ id: 'Observation', path: 'Observation', constraint }] },
  }
  const findings = await ourFindings({ text: JSON.stringify(definition), profiles: [], definitions: [] })
  const errors = findings.filter(({ severity }) => severity === 'error')
  return new Set(errors.map(({ expression = '' }) => Number(/constraint\[(\d+)\]$/.exec(expression)?.[1])))
}
