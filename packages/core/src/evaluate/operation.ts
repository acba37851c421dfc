import { checkOptions, FUNCTION, inputShape, type InputShape } from '../input/index.js'
import { engineOnDemand, type Operation } from '../operation/index.js'
import type { Indexer } from '../storage/index.js'
import type { EvaluateMeasureOptions } from './evaluate-measure.js'
import { LANGUAGES } from './languages/language.js'

/** Options of `$evaluate-measure`. */
export interface EvaluateMeasureOperationOptions extends EvaluateMeasureOptions {
  /**
   * Store each report, with the index entries that this function creates, and answer 201 with its location. Such a call changes data, so GET is
   * not offered then. When absent, nothing is stored.
   */
  readonly storeReports?: Indexer
}

const SHAPE: InputShape = inputShape<EvaluateMeasureOperationOptions>({
  storeReports: FUNCTION,
  languages: LANGUAGES,
})

/**
 * Creates the descriptors of `Measure/$evaluate-measure` and `Measure/<id>/$evaluate-measure`.
 *
 * @throws {TypeError} for an option that is unknown or of another type.
 * @see https://hl7.org/fhir/R4/measure-operation-evaluate-measure.html
 */
export function evaluateMeasureOperation(given: EvaluateMeasureOperationOptions = {}): Operation {
  checkOptions('evaluateMeasureOperation', SHAPE, given)
  const { storeReports, ...options } = given
  return {
    name: '$evaluate-measure',
    types: ['Measure'],
    levels: ['type', 'instance'],
    methods: storeReports === undefined ? ['GET', 'POST'] : ['POST'],
    definition: 'http://hl7.org/fhir/OperationDefinition/Measure-evaluate-measure',
    answers: 'MeasureReport',
    asynchronous: true,
    needs: { text: 'Measure.r, and .s on every type of the criteria', anyOf: [{ action: 'read', type: 'Measure' }] },
    run: engineOnDemand(async () => (await import('./run-operation.js')).evaluateMeasureRun(options, storeReports)),
  }
}
