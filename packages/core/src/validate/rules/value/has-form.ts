import { OperationError } from '../../../errors/index.js'
import { compileRegex } from '../../../regex/index.js'

/** Whether the whole text matches a pattern of a definition. One that cannot be used says nothing about the text. */
export function hasForm(text: string, pattern: string): boolean {
  try {
    return compileRegex(pattern).matchesWhole(text)
  } catch (error) {
    if (error instanceof OperationError) return true
    throw error
  }
}
