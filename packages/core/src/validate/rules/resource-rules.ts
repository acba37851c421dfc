import type { FhirNode } from '../../fhirpath/index.js'
import type { ResourceCheck, Run } from '../run/run.js'
import { checkBundle } from './bundle/check-bundle.js'
import { checkCodeSystem } from './conformance/code-system.js'
import { checkConceptMap } from './conformance/concept-map.js'
import { checkOperation } from './conformance/operation-definition.js'
import { checkCapabilities, checkSearchParameter } from './conformance/search-parameter.js'
import { checkValueSet } from './conformance/value-set.js'
import { checkMeasure } from './measure/check-measure.js'
import { checkReport } from './measure/check-report.js'
import { checkQuestionnaire } from './questionnaire/check-questionnaire.js'
import { checkResponse } from './questionnaire/check-response.js'
import { checkSignature } from './signature/check-signature.js'
import { checkStructureDefinition } from './structure-definition/check-structure-definition.js'

/** What is checked on resources of one type beyond their ElementDefinitions: a line for each type that has such rules. */
export const RESOURCE_RULES: ReadonlyMap<string, readonly ResourceCheck[]> = new Map([
  ['Bundle', [checkBundle, inOneGo(checkSignature)]],
  ['CapabilityStatement', [checkCapabilities]],
  ['CodeSystem', [checkCodeSystem]],
  ['ConceptMap', [checkConceptMap]],
  ['Measure', [inOneGo(checkMeasure)]],
  ['MeasureReport', [checkReport]],
  ['OperationDefinition', [inOneGo(checkOperation)]],
  ['Questionnaire', [checkQuestionnaire]],
  ['QuestionnaireResponse', [checkResponse]],
  ['SearchParameter', [inOneGo(checkSearchParameter)]],
  ['StructureDefinition', [checkStructureDefinition]],
  ['ValueSet', [checkValueSet]],
])

/** A check that takes much less time than the walk over the resource. */
function inOneGo(check: (run: Run, resource: FhirNode) => void): ResourceCheck {
  return function* checkAtOnce(run, resource) {
    check(run, resource)
    yield
  }
}
