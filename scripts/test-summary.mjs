// What a test run came to, in one line that names what was skipped and why.
import { readFileSync } from 'node:fs'

/** One line for the JSON report of vitest: counts, the reason of each skip, and the suites that are absent. */
export function summaryOf(report) {
  const { numPassedTests, numFailedTests, numPendingTests, testResults } = JSON.parse(readFileSync(report, 'utf8'))
  const skipped = testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'skipped' || status === 'pending'),
  )
  const suites = new Set(skipped.flatMap((test) => reasonOf(test).match(/^no suite (.*)$/)?.[1] ?? []))
  const parts = [`${numPassedTests} passed`, `${numFailedTests} failed`, `${numPendingTests} skipped${reasonsOf(skipped)}`]
  return parts.join(', ') + (suites.size > 0 ? `; NOT RUN, absent suites: ${[...suites].join(', ')}` : '')
}

/** Skips with the same reason as one, with the name of what they are part of. */
function reasonsOf(skipped) {
  const counts = new Map()
  for (const test of skipped) {
    const reason = `${test.ancestorTitles[0]?.replace(/ \(skipped:.*\)$/, '') ?? test.title}: ${reasonOf(test)}`
    counts.set(reason, (counts.get(reason) ?? 0) + 1)
  }
  return counts.size === 0 ? '' : ` (${[...counts].map(([reason, count]) => `${count} of ${reason}`).join('; ')})`
}

/** A title says it as `(skipped: reason)` or `(needs something)`. */
function reasonOf({ fullName, title }) {
  return fullName.match(/\(skipped: (.*?)\)(?= |$)/)?.[1] ?? fullName.match(/\((needs [^)]*)\)/)?.[1] ?? title
}
