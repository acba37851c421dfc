import { engineOnDemand, TERMINOLOGY_NEEDS, type Operation } from '../operation/index.js'

/** `ValueSet/$validate-code` as the handler mounts it. */
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

/** `CodeSystem/$validate-code` as the handler mounts it. */
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
 * `ValueSet/$batch-validate-code`: many validations in one request. Each `validation` is a Parameters resource; other parameters apply to all that do
 * not give their own. One that names no value set asks the code system of its code, as HL7's validator does.
 *
 * @see https://build.fhir.org/ig/HL7/fhir-tx-ecosystem-ig/
 */
export const valueSetBatchValidateCodeOperation: Operation = batchOn('ValueSet')

/** `CodeSystem/$batch-validate-code`: the same, where `url` names a code system. */
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
