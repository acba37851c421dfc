import { checkResult } from '../errors/index.js'
import type { Parameters, ParametersParameter } from 'fhir/r4.js'
import type { Explained } from '../context/index.js'
import { explanationParameter } from '../explain/index.js'
import { ownCopy } from '../json/index.js'
import { parameterOf } from '../parameters/index.js'
import { PREFERRED_FOR_LANGUAGE, type ConceptText } from '../terminology/index.js'

/** A property of a concept. */
export interface LookupProperty {
  readonly code: string
  /** Name of the `value[x]` element and its value: `['valueCode', 'animal']`. */
  readonly value: readonly [string, unknown]
  /** Display of the value, where it is a concept, such as a `parent` or `child`. */
  readonly description?: string
  /** Display of the property, where the property is itself a concept. */
  readonly codeDisplay?: string
}

/** Details of a concept. */
export interface LookupResult extends Explained {
  readonly system: string
  /** Version of the code system that was used. */
  readonly version?: string
  /** Name of the code system. */
  readonly name: string
  /** The code in the code system's spelling. */
  readonly code: string
  /** Display in the requested language; absent when the concept has no text. */
  readonly display?: string
  readonly definition?: string
  /** True for a concept that only groups others. */
  readonly abstract: boolean
  /** Designations; the code system's display is among them when it has a language. */
  readonly designations: readonly ConceptText[]
  /** `inactive` first, then `parent`, `child` and the others as the code system lists them. */
  readonly properties: readonly LookupProperty[]
  /** Canonicals of the supplements that were used. */
  readonly supplements: readonly string[]
}

/** Creates the Parameters that `$lookup` returns. */
export function toParameters(result: LookupResult): Parameters {
  checkResult('lookup', result, 'designations')
  return {
    resourceType: 'Parameters',
    parameter: [
      { name: 'name', valueString: result.name },
      ...parameterOf('version', 'valueString', result.version),
      ...parameterOf('display', 'valueString', result.display),
      ...parameterOf('definition', 'valueString', result.definition),
      { name: 'system', valueUri: result.system },
      { name: 'code', valueCode: result.code },
      { name: 'abstract', valueBoolean: result.abstract },
      ...result.designations.map(designationParameter),
      ...result.properties.map(propertyParameter),
      ...result.supplements.map((canonical) => ({ name: 'used-supplement', valueCanonical: canonical })),
      ...explanationParameter(result.explanation),
    ],
  }
}

function designationParameter({ value, language, dialects, use, main, supplement }: ConceptText): ParametersParameter {
  return {
    name: 'designation',
    part: [
      ...parameterOf('language', 'valueCode', main ? (dialects?.[0] ?? language) : language),
      ...parameterOf('use', 'valueCoding', ownCopy(main ? PREFERRED_FOR_LANGUAGE : use)),
      { name: 'value', valueString: value },
      ...parameterOf('source', 'valueCanonical', supplement),
    ],
  }
}

function propertyParameter({ code, value: [name, value], description, codeDisplay }: LookupProperty): ParametersParameter {
  return {
    name: 'property',
    part: [
      { name: 'code', valueCode: code },
      { name: 'value', [name]: ownCopy(value) },
      ...parameterOf('code-display', 'valueString', codeDisplay),
      ...parameterOf('description', 'valueString', description),
    ],
  }
}
