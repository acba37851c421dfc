import { expect, test } from 'vitest'
import { ALL, representative } from '../../../../../test/effort.js'
import { cases, markOf, knownFacts, refreshFacts } from './cases.js'
import { decisions, REASONS, type Decision } from './decisions.js'
import { differenceOf } from './answers.js'
import { answererOf } from './ours.js'

/** A command that starts the oracle, to ask it anew. */
const ORACLE = process.env['FHIR_OPS_TERMINOLOGY_ORACLE']

test.runIf(ORACLE !== undefined)("HL7's Java classes for terminology are asked anew", () => refreshFacts(ORACLE ?? '', cases()))

test("terminology is answered as by HL7's Java classes, but for what has been decided", async () => {
  const facts = knownFacts()
  const decided = decisions()
  const found = new Map<string, string>()
  let asked = 0
  const part = representative(cases(), { every: 10 })
  for (const one of part) {
    const known = facts.get(one.seed)
    expect(known?.mark, `The facts about seed ${one.seed} are of other questions.`).toBe(markOf(one))
    const ask = answererOf(one.world)
    for (const [index, question] of one.questions.entries()) {
      asked++
      const difference = differenceOf(await ask(question), known?.answers[index] ?? {})
      if (difference !== undefined) found.set(`${one.seed}.${index} ${question.operation}`, difference)
    }
  }
  if (ALL) process.stdout.write(tableOf(asked, [...decided.values()]))
  const undecided = [...found].filter(([place, difference]) => decided.get(place)?.difference !== difference)
  expect(Object.fromEntries(undecided.slice(0, 10))).toEqual({})
  const seeds = new Set(part.map(({ seed }) => String(seed)))
  const expected = [...decided.keys()].filter((place) => seeds.has(place.split('.', 1)[0] ?? ''))
  expect(expected.filter((place) => !found.has(place))).toEqual([])
})

test('each decision has a reason, and cites the paragraph by which ours is right', () => {
  const used = new Set([...decisions().values()].map(({ reason }) => reason))
  expect([...used].filter((name) => !REASONS.some((reason) => reason.name === name))).toEqual([])
  expect(REASONS.filter(({ name }) => !used.has(name))).toEqual([])
  expect(REASONS.filter(({ isLimit, why }) => isLimit !== true && !/\]\(https:\/\/[^\s)#]+#[^\s)]+\)/.test(why))).toEqual([])
})

function tableOf(asked: number, decided: readonly Decision[]): string {
  const byReason = Map.groupBy(decided, ({ reason }) => reason)
  const rows = REASONS.map(({ name, right, why }) => `| ${name} | ${byReason.get(name)?.length ?? 0} | ${right} | ${why} |\n`)
  return `${asked} questions, ${decided.length} answered otherwise\n\n| difference | questions | right | why |\n|---|---|---|---|\n${rows.join('')}`
}
