import type { JsonObject } from 'fhir-ops/internal/json'

export const BASE = 'http://hl7.org/fhir/StructureDefinition/'
/** The kinds of findings that questionnaires and their responses have. */
export const KINDS: RegExp = /^(questionnaire-|link-id-|item-|answer-)/

const FORM = 'http://example.org/Questionnaire/form'

export function form(items: readonly JsonObject[], members: JsonObject = {}): JsonObject {
  return { resourceType: 'Questionnaire', url: FORM, status: 'active', item: items, ...members }
}

/** A response to `form`. */
export function response(items: readonly JsonObject[], members: JsonObject = {}): JsonObject {
  return { resourceType: 'QuestionnaireResponse', questionnaire: FORM, status: 'completed', item: items, ...members }
}

export function question(type: string, members: JsonObject = {}): JsonObject {
  return { linkId: 'q', type, ...members }
}

/** The item of a response that answers `question`. */
export function answered(...answers: readonly JsonObject[]): JsonObject {
  return { linkId: 'q', answer: answers }
}

/** The members of an item that is limited by an extension. */
export function limit(url: string, value: JsonObject): JsonObject {
  return { extension: [{ url, ...value }] }
}
