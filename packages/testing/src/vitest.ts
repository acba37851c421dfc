import { expect } from 'vitest'
import { toBeValid, toContainCode, toTranslateTo, type FhirMatchers } from './index.js'

declare module 'vitest' {
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown> extends FhirMatchers {}
}

expect.extend({ toBeValid, toContainCode, toTranslateTo })
