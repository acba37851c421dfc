import type { CodeableConcept, Coding, Element, Extension, Quantity } from 'fhir/r4.js'
import { isObject, isString, type JsonObject } from '../json/index.js'

/** A concept of a Measure or of counted resources, to be copied into a report unchanged; `undefined` for a value that is not a CodeableConcept. */
export function conceptOf(concept: JsonObject | undefined): CodeableConcept | undefined {
  return isConcept(concept) ? concept : undefined
}

/** Whether a value has the shape of a CodeableConcept. The values of its extensions are not checked. */
export function isConcept(value: unknown): value is CodeableConcept {
  return (
    isElement(value) && isOptional(value['text'], isString) && isOptional(value['_text'], isElement) && isListOf(value['coding'], isCoding)
  )
}

/** Whether a value is an amount, to be copied into a report. */
export function isQuantity(value: unknown): value is Quantity {
  return isObject(value)
}

function isCoding(value: unknown): value is Coding {
  return (
    isElement(value) &&
    ['system', 'version', 'code', 'display'].every(
      (name) => isOptional(value[name], isString) && isOptional(value[`_${name}`], isElement),
    ) &&
    isOptional(value['userSelected'], (selected) => typeof selected === 'boolean') &&
    isOptional(value['_userSelected'], isElement)
  )
}

function isElement(value: unknown): value is Element & JsonObject {
  return isObject(value) && isOptional(value['id'], isString) && isListOf(value['extension'], isExtension)
}

function isExtension(value: unknown): value is Extension {
  return isElement(value) && isString(value['url'])
}

function isOptional(value: unknown, check: (value: unknown) => boolean): boolean {
  return value === undefined || check(value)
}

function isListOf(value: unknown, check: (item: unknown) => boolean): boolean {
  return isOptional(value, (list) => Array.isArray(list) && list.every(check))
}
