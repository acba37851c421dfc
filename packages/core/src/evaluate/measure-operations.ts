import type { Operation } from '../operation/index.js'
import { evaluateMeasureOperation, type EvaluateMeasureOperationOptions } from './operation.js'
import { dataRequirementsOperations } from './requirements/operation.js'

/**
 * Makes every operation of Measures, and those of Libraries that answer for them, with the same languages: `$evaluate-measure` and
 * `$data-requirements`.
 *
 * @throws {TypeError} for an option that is unknown or of another type.
 */
export function measureOperations(options: EvaluateMeasureOperationOptions = {}): readonly Operation[] {
  const { languages } = options
  return [evaluateMeasureOperation(options), ...dataRequirementsOperations(languages === undefined ? {} : { languages })]
}
