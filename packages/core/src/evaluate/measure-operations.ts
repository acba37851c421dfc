import { engineOnDemand, type Operation } from '../operation/index.js'
import { evaluateMeasureOperation, type EvaluateMeasureOperationOptions } from './operation.js'
import type { DataRequirementsOptions } from './requirements/data-requirements.js'

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
    run: engineOnDemand(async () => (await import('./run-data-operations.js')).dataRequirementsRun(type, options)),
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
    needs: { text: 'Measure.r, and .s on every type that the Measure looks at', anyOf: [{ action: 'read', type: 'Measure' }] },
    run: engineOnDemand(async () => (await import('./run-data-operations.js')).collectDataRun(options)),
    write: engineOnDemand(async () => (await import('./run-data-operations.js')).collectDataWrite(options)),
  }
}
