import type { FhirNode } from '../../fhirpath/index.js'
import { isObject } from '../../json/index.js'
import type { Run } from './run.js'

/** The digits of a number as they were written, where that is known. */
export function numberTextOf(run: Run, { parent, slot, index }: FhirNode, value: number): string {
  const text = String(value)
  if (parent === undefined || slot === undefined || !isObject(parent.value)) return text
  const list = parent.value[slot.jsonName]
  const source = Array.isArray(list) ? run.numberText(list, index) : run.numberText(parent.value, slot.jsonName)
  return source ?? text
}
