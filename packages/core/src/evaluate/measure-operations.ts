import { engineOnDemand, type Operation } from '../operation/index.js'
import { checkOptions, FUNCTION, inputShape, type InputShape } from '../input/index.js'
import type { Indexer } from '../storage/index.js'
import type { DataRequirementsOptions } from './requirements/data-requirements.js'
import type { EvaluateMeasureOptions } from './evaluate-measure.js'
import { LANGUAGES } from './languages/language.js'

/**
 * Creates all operations of Measures, and those of Libraries that answer for them, with the same languages: `$evaluate-measure`,
 * `$data-requirements` and `$collect-data`. The handler itself provides `$submit-data`.
 *
 * @throws {TypeError} for an option that is unknown or of another type.
 */
export function measureOperations(options: EvaluateMeasureOperationOptions = {}): readonly Operation[] {
  const own = options.languages === undefined ? {} : { languages: options.languages }
  return [
    evaluateMeasureOperation(options),
    dataRequirementsOperation('Measure', own),
    dataRequirementsOperation('Library', own),
    collectDataOperation(own),
  ]
}

/**
 * `Measure/$data-requirements` and `Library/$data-requirements`.
 *
 * @see https://hl7.org/fhir/R4/measure-operation-data-requirements.html
 * @see https://hl7.org/fhir/R4/library-operation-data-requirements.html
 */
function dataRequirementsOperation(type: 'Library' | 'Measure', options: DataRequirementsOptions): Operation {
  return {
    name: '$data-requirements',
    types: [type],
    levels: ['type', 'instance'],
    methods: ['GET', 'POST'],
    definition: `http://hl7.org/fhir/OperationDefinition/${type}-data-requirements`,
    answers: 'Library',
    ...(type === 'Library' && { resourceParameter: 'library' }),
    needs: { text: `${type}.r, and .r on the definitions that it uses`, anyOf: [{ action: 'read', type }] },
    run: engineOnDemand(async () => (await import('./run-operations.js')).dataRequirementsRun(type, options)),
  }
}

/** `Measure/$collect-data`. @see https://hl7.org/fhir/R4/measure-operation-collect-data.html */
function collectDataOperation(options: DataRequirementsOptions): Operation {
  return {
    name: '$collect-data',
    types: ['Measure'],
    levels: ['type', 'instance'],
    methods: ['GET', 'POST'],
    definition: 'http://hl7.org/fhir/OperationDefinition/Measure-collect-data',
    answers: 'Parameters',
    asynchronous: true,
    needs: {
      text: 'Measure.r, and .s on every type that the Measure looks at',
      anyOf: [{ action: 'read', type: 'Measure' }],
      readsData: true,
    },
    run: engineOnDemand(async () => (await import('./run-operations.js')).collectDataRun(options)),
    write: engineOnDemand(async () => (await import('./run-operations.js')).collectDataWrite(options)),
  }
}

/** Options of `$evaluate-measure`. */
interface EvaluateMeasureOperationOptions extends EvaluateMeasureOptions {
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
    needs: { text: 'Measure.r, and .s on every type of the criteria', anyOf: [{ action: 'read', type: 'Measure' }], readsData: true },
    run: engineOnDemand(async () => (await import('./run-operations.js')).evaluateMeasureRun(options, storeReports)),
  }
}
