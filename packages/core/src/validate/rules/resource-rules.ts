import type { NodeCheck } from '../walk/run.js'
import { checkBundle } from './bundle/check-bundle.js'
import { checkQuestionnaire } from './questionnaire/check-questionnaire.js'
import { checkResponse } from './questionnaire/check-response.js'

/** What is checked on resources of one type beyond their ElementDefinitions: a line for each type that has such rules. */
export const RESOURCE_RULES: readonly (readonly [type: string, checks: readonly NodeCheck[]])[] = [
  ['Bundle', [checkBundle]],
  ['Questionnaire', [checkQuestionnaire]],
  ['QuestionnaireResponse', [checkResponse]],
]
