import { isObject, stringAt, type JsonObject } from '../../json/index.js'

const CHOICES = ['valueCode', 'valueString', 'valueBoolean', 'valueInteger', 'valueDecimal', 'valueDateTime', 'valueCoding'] as const

/** The `value[x]` of a concept's property: its name and what it holds. */
export function propertyValue(property: JsonObject): readonly [string, unknown] | undefined {
  const choice = CHOICES.find((name) => property[name] !== undefined)
  return choice === undefined ? undefined : [choice, property[choice]]
}

/** The value as filters compare it: the text of a primitive, the code of a Coding. */
export function propertyText(property: JsonObject): string | undefined {
  const value = propertyValue(property)?.[1]
  if (isObject(value)) return stringAt(value, 'code')
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}
