import type { Expect } from 'expect'
import { toBeValid, toContainCode, toTranslateTo, type FhirMatchers } from './index.js'

declare module 'expect' {
  interface Matchers<R extends void | Promise<void>, T> extends FhirMatchers {}
}

/** Jest's own `expect`, which its test files have as a global. */
declare const expect: Pick<Expect, 'extend'>

expect.extend({ toBeValid, toContainCode, toTranslateTo })
