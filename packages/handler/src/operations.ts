import { evaluateMeasureOperation } from 'fhir-ops/evaluate'
import { expandOperation } from 'fhir-ops/expand'
import type { Operation } from 'fhir-ops/operation'
import { translateOperation } from 'fhir-ops/translate'

/** Every operation of the library that is mounted by its descriptor alone. */
export const OPERATIONS: readonly Operation[] = [evaluateMeasureOperation, expandOperation, translateOperation]
