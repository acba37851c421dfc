import { explanationParameter } from '../explain/index.js'
import type { JsonObject } from '../json/index.js'
import type { ConceptText } from '../terminology/index.js'
import type { LookedUpConcept, LookedUpProperty } from './looked-up.js'

/** Writes what is known about a concept as Parameters. */
export function writeLookup(found: LookedUpConcept): JsonObject {
  return {
    resourceType: 'Parameters',
    parameter: [
      { name: 'name', valueString: found.name },
      ...optional('version', 'String', found.version),
      ...optional('display', 'String', found.display),
      ...optional('definition', 'String', found.definition),
      { name: 'system', valueUri: found.system },
      { name: 'code', valueCode: found.code },
      { name: 'abstract', valueBoolean: found.abstract },
      ...found.designations.map(writeDesignation),
      ...found.properties.map(writeProperty),
      ...found.supplements.map((canonical) => ({ name: 'used-supplement', valueCanonical: canonical })),
      ...explanationParameter(found.explanation),
    ],
  }
}

const PREFERRED: JsonObject = {
  system: 'http://terminology.hl7.org/CodeSystem/hl7TermMaintInfra',
  code: 'preferredForLanguage',
  display: 'Preferred For Language',
}

function writeDesignation({ value, language, dialects, use, main, supplement }: ConceptText): JsonObject {
  return {
    name: 'designation',
    part: [
      ...optional('language', 'Code', main ? (dialects?.[0] ?? language) : language),
      ...optional('use', 'Coding', main ? PREFERRED : use),
      { name: 'value', valueString: value },
      ...optional('source', 'Canonical', supplement),
    ],
  }
}

function writeProperty({ code, value: [name, value], description, codeDisplay }: LookedUpProperty): JsonObject {
  return {
    name: 'property',
    part: [
      { name: 'code', valueCode: code },
      { name: 'value', [name]: value },
      ...optional('code-display', 'String', codeDisplay),
      ...optional('description', 'String', description),
    ],
  }
}

function optional(name: string, type: string, value: unknown): readonly JsonObject[] {
  return value === undefined ? [] : [{ name, [`value${type}`]: value }]
}
