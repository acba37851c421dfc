import type { Extension, ParametersParameter } from 'fhir/r4.js'
import type { Evaluation } from '../compile/compiler.js'
import { toParameterEntries } from '../results/parameters.js'
import type { CompiledCriterion } from './criterion.js'

/** What supports that a subject is in a population, as extensions `value` of `cqf-supportingEvidence`. */
export function evidenceValues({ ofSubject, ofItem, place: _ }: CompiledCriterion, evaluation: Evaluation): readonly Extension[] {
  const value = ofSubject === undefined ? (ofItem?.(evaluation, evaluation.subject) ?? null) : ofSubject(evaluation)
  return toParameterEntries('value', value).map(extensionOf)
}

/** A parameter as an extension: resources are referred to, parts are nested, an absent value keeps the extensions that say why. */
function extensionOf({ name, part, resource, extension = [], ...values }: ParametersParameter): Extension {
  if (resource !== undefined) return { url: name, valueReference: { reference: `${resource.resourceType}/${resource.id ?? ''}` } }
  const absent = Object.entries(values).flatMap(([member, value]) => (member.startsWith('_') ? extensionsIn(value) : []))
  const nested = [...extension, ...absent, ...(part ?? []).map(extensionOf)]
  const present = Object.fromEntries(Object.entries(values).filter(([member]) => !member.startsWith('_')))
  return { url: name, ...(nested.length > 0 && { extension: nested }), ...present }
}

function extensionsIn(element: unknown): readonly Extension[] {
  return typeof element === 'object' && element !== null && 'extension' in element && Array.isArray(element.extension)
    ? element.extension.filter(isExtension)
    : []
}

function isExtension(value: unknown): value is Extension {
  return typeof value === 'object' && value !== null && 'url' in value && typeof value.url === 'string'
}
