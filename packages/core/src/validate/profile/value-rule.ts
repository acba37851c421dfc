import { isObject, objectsAt, type JsonObject } from '../../json/index.js'
import { TYPE_URL } from '../../text/index.js'
import type { LimitRule, ValueRule } from '../run/element-rule.js'

/** The extension that lists the units of a Quantity, by Codings or by a value set. */
export const ALLOWED_UNITS = 'elementdefinition-allowedUnits'

/** Compiles the requirements of an ElementDefinition on the value itself. */
export function valueRuleOf(element: JsonObject): ValueRule {
  const { fixed, pattern, minValue, maxValue } = choicesOf(element)
  const { maxLength } = element
  return {
    ...(fixed !== undefined && { fixed: fixed.value }),
    ...(pattern !== undefined && { pattern: pattern.value }),
    ...(minValue !== undefined && { min: minValue }),
    ...(maxValue !== undefined && { max: maxValue }),
    ...(typeof maxLength === 'number' && { maxLength }),
    ...(element['extension'] !== undefined && extendedRuleOf(element)),
  }
}

/** The requirements on the value that extensions of an ElementDefinition state. */
function extendedRuleOf(element: JsonObject): ValueRule {
  const regex = extensionValue(element, 'regex')
  const units = extensionValue(element, ALLOWED_UNITS)
  const alternatives = valueAlternatives(element)
  const sections = extensionValues(element, `${TYPE_URL}narrative-language-control`).filter((value) => typeof value === 'string')
  const sourceControl = SEVERITIES.get(extensionValue(element, 'narrative-source-control'))
  return {
    ...numberOf(element, 'minLength'),
    ...numberOf(element, 'maxDecimalPlaces'),
    ...numberOf(element, 'maxSize'),
    ...(typeof regex === 'string' && { regex }),
    ...(isObject(units) && { units: objectsAt(units, 'coding') }),
    ...(alternatives !== undefined && { alternatives }),
    ...(sections.length > 0 && { sections }),
    ...(sourceControl !== undefined && { sourceControl }),
  }
}

const SEVERITIES: ReadonlyMap<unknown, 'error' | 'warning' | 'information'> = new Map([
  ['error', 'error'],
  ['warning', 'warning'],
  ['information', 'information'],
  ['hint', 'information'],
])

function numberOf(element: JsonObject, name: 'minLength' | 'maxDecimalPlaces' | 'maxSize'): ValueRule {
  const value = extensionValue(element, name)
  return typeof value === 'number' ? { [name]: value } : {}
}

/** The extensions that can replace a required value; `undefined` when the value is not required. */
function valueAlternatives(element: JsonObject): readonly string[] | undefined {
  const named = extensionValues(element, `${R5_ELEMENT}valueAlternatives`).filter((value) => typeof value === 'string')
  const isNeeded = named.length > 0 || extensionValues(element, `${R5_ELEMENT}mustHaveValue`).includes(true)
  return isNeeded ? named : undefined
}

const CHOICE = /^(fixed|pattern|minValue|maxValue)([A-Z].*)$/

/** The fixed, pattern, minimum and maximum values of an ElementDefinition, each with its type. */
function choicesOf(element: JsonObject): { readonly [stem in 'fixed' | 'pattern' | 'minValue' | 'maxValue']?: LimitRule } {
  const choices: Record<string, LimitRule> = {}
  for (const name of Object.keys(element)) {
    const [, stem, type] = CHOICE.exec(name) ?? []
    if (stem !== undefined && type !== undefined) choices[stem] ??= { type, value: element[name] }
  }
  return choices
}

/** Prefix of the extensions by which R4 expresses the members that R5 added to ElementDefinition. */
export const R5_ELEMENT = 'http://hl7.org/fhir/5.0/StructureDefinition/extension-ElementDefinition.'

/** Extensions of a binding that contain additional bindings. */
export const ADDITIONAL_BINDINGS: ReadonlySet<unknown> = new Set([
  'http://hl7.org/fhir/tools/StructureDefinition/additional-binding',
  `${R5_ELEMENT}binding.additional`,
])

/** The value of FHIR's own extension with a name, on a part of a definition. */
export function extensionValue(element: JsonObject, name: string): unknown {
  return extensionValues(element, TYPE_URL + name)[0]
}

/** The values of all extensions with a url. */
export function extensionValues(element: JsonObject, url: string): readonly unknown[] {
  if (element['extension'] === undefined) return []
  const extensions = objectsAt(element, 'extension').filter((candidate) => candidate['url'] === url)
  return extensions.map(valueIn).filter((value) => value !== undefined)
}

/** The value of an extension, of whatever type. */
export function valueIn(extension: JsonObject): unknown {
  return Object.entries(extension).find(([name]) => name.startsWith('value'))?.[1]
}
