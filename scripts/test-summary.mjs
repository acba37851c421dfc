// What a test run came to, in one line that names what was skipped and why.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { root } from './packages.mjs'

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

/** A line for each test that failed: its file, which `npm test -- <file>` runs again, and its name. */
export function failuresOf(report) {
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'))
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(root, name)
    const failed = assertionResults.filter((test) => test.status === 'failed').map(({ fullName }) => `  ${file}: ${fullName}`)
    return failed.length === 0 && status === 'failed' ? [`  ${file}: ${message.split('\n')[0]}`] : failed
  })
}

/** Skips with the same reason as one, with the names of what they are part of. */
function reasonsOf(skipped) {
  // Map.groupBy would do, but this runs on the machine's own Node, which may be 20.
  const byReason = new Map()
  for (const test of skipped) byReason.set(reasonOf(test), [...(byReason.get(reasonOf(test)) ?? []), test])
  const parts = [...byReason].map(([reason, tests]) => `${tests.length} of ${[...new Set(tests.map(nameOf))].join(', ')}: ${reason}`)
  return parts.length === 0 ? '' : ` (${parts.join('; ')})`
}

/** The outermost title without what it says of the reason and of the variant. */
function nameOf({ ancestorTitles, title }) {
  return (ancestorTitles[0] ?? title)
    .replace(/ \((skipped:|needs).*\)$/, '')
    .replace(/(,.*)? keeps the (storage|session store|concept store) contract$/, '')
}

/** A title says it as `(skipped: reason)` or `(needs something)`. */
function reasonOf({ fullName, title }) {
  return fullName.match(/\(skipped: (.*?)\)(?= |$)/)?.[1] ?? fullName.match(/\((needs [^)]*)\)/)?.[1] ?? title
}
