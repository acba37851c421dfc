import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, it } from 'vitest'

/** Folder of the official suites, which are kept beside the repository; `FHIR_OPS_SHARED` names another place. */
export const SUITES: string = process.env['FHIR_OPS_SHARED'] ?? fileURLToPath(new URL('../../shared', import.meta.url))

/** The path of a suite, or of a file in it, whether it exists or not. */
export function suitePath(suite: string, ...file: readonly string[]): string {
  return join(SUITES, suite, ...file)
}

/**
 * As `describe`, for tests that need a suite. Without the suite they are skipped with its name as the reason, which the last line of
 * `npm test` repeats; with `REQUIRE_SUITES=1` its absence is a failure.
 */
export function describeSuite(suite: string, title: string, tests: () => void): void {
  if (existsSync(suitePath(suite))) describe(title, tests)
  else if (process.env['REQUIRE_SUITES'] === '1') describe(title, () => it(`needs the suite ${suite}`, () => reportAbsence(suite)))
  else describe.skip(`${title} (skipped: no suite ${suite})`, tests)
}

function reportAbsence(suite: string): never {
  throw new Error(`REQUIRE_SUITES is 1 and there is no ${suitePath(suite)}.`)
}
