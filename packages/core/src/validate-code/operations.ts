import { engineOnDemand, TERMINOLOGY_NEEDS, type Operation } from '../operation/index.js'

/** Descriptor of `ValueSet/$validate-code` for the handler. */
export const valueSetValidateCodeOperation: Operation = {
  name: '$validate-code',
  types: ['ValueSet'],
  levels: ['type', 'instance'],
  methods: ['GET', 'POST'],
  definition: 'http://hl7.org/fhir/OperationDefinition/ValueSet-validate-code',
  answers: 'Parameters',
  resourceParameter: 'valueSet',
  needs: TERMINOLOGY_NEEDS,
  cacheable: true,
  run: engineOnDemand(async () => (await import('./run-operations.js')).runInValueSet),
}

/** Descriptor of `CodeSystem/$validate-code` for the handler. */
export const codeSystemValidateCodeOperation: Operation = {
  name: '$validate-code',
  types: ['CodeSystem'],
  levels: ['type', 'instance'],
  methods: ['GET', 'POST'],
  definition: 'http://hl7.org/fhir/OperationDefinition/CodeSystem-validate-code',
  answers: 'Parameters',
  resourceParameter: 'codeSystem',
  needs: TERMINOLOGY_NEEDS,
  cacheable: true,
  run: engineOnDemand(async () => (await import('./run-operations.js')).runInSystem),
}

/**
 * Descriptor of `ValueSet/$batch-validate-code`: many validations in one request. Each `validation` is a Parameters resource; other parameters apply to
 * all validations without their own. A validation without a value set uses the code system of its code, as HL7's validator does.
 *
 * @see https://build.fhir.org/ig/HL7/fhir-tx-ecosystem-ig/
 */
export const valueSetBatchValidateCodeOperation: Operation = batchOn('ValueSet')

/** Descriptor of `CodeSystem/$batch-validate-code`, whose `url` names a code system. */
export const codeSystemBatchValidateCodeOperation: Operation = batchOn('CodeSystem')

function batchOn(type: 'ValueSet' | 'CodeSystem'): Operation {
  return {
    name: '$batch-validate-code',
    types: [type],
    levels: ['type'],
    methods: ['POST'],
    definition: `http://hl7.org/fhir/OperationDefinition/${type}-batch-validate-code`,
    answers: 'Parameters',
    needs: TERMINOLOGY_NEEDS,
    run: engineOnDemand(async () => (await import('./run-operations.js')).runBatch),
  }
}
