import { r4TypeModel } from '@fhir-ops/r4'
import { createTranslator, type CqlTranslator } from '../src/translator/index.js'

/** One translator for all tests of a process: loading it, FHIR's model and FHIRHelpers takes longer than what most files test. */
export const translator: CqlTranslator = await createTranslator({ model: r4TypeModel() })
