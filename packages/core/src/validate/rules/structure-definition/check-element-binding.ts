import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject } from '../../../json/index.js'
import { ADDITIONAL_BINDINGS } from '../../profile/value-rule.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import { resourceOf, type Run } from '../../run/run.js'
import { otherKindOf } from '../conformance/other-kind.js'
import { canBind, DEFINITION_BINDING } from './check-types.js'
import { elementAtPath } from '../../profile/element-at-path.js'
import type { ElementCheck } from './element-place.js'

/** Value sets of all codes of a code system, with its name. */
const WHOLE: ReadonlyMap<string, string> = new Map([
  ['http://loinc.org/vs', 'LOINC'],
  ['http://snomed.info/sct?fhir_vs', 'SNOMED CT'],
  ['http://hl7.org/fhir/ValueSet/cpt-all', 'CPT'],
])
const BINDABLE: ReadonlySet<string> = new Set([
  'code',
  'string',
  'url',
  'uri',
  'Coding',
  'CodeableConcept',
  'Quantity',
  'CodeableReference',
])

/** The purposes of additional bindings, from their code system. */
const PURPOSES: ReadonlySet<unknown> = new Set([
  'maximum',
  'minimum',
  'required',
  'extensible',
  'candidate',
  'current',
  'preferred',
  'ui',
  'starter',
  'component',
])

/** Checks the binding of an element in a differential, which applies to each type of the element that can be bound. */
export function checkBinding(definition: FhirNode, element: ElementCheck): void {
  const { run, node } = element
  const types = childrenOf(run, node, 'type').flatMap((type) => textOf(type, 'code') ?? [])
  if (types.filter((type) => BINDABLE.has(type)).length > 1)
    for (const binding of childrenOf(run, node, 'binding'))
      run.findings.report(DEFINITION_BINDING, binding, {
        text: `The binding is for several types of the element: ${types.join(', ')}.`,
        severity: 'information',
      })
  checkBoundTo(definition, element)
}

/**
 * Checks that the value set of a binding is known and is not just all codes of a code system. Only experimental profiles, and example bindings, may use
 * an experimental one.
 */
export function checkBoundTo(definition: FhirNode, { run, node, place }: ElementCheck): void {
  const types = childrenOf(run, node, 'type').flatMap((type) => textOf(type, 'code') ?? [])
  const bound = types.length > 0 ? types : (place?.slots.map(({ type }) => type) ?? [])
  for (const binding of childrenOf(run, node, 'binding')) {
    const canonical = textOf(binding, 'valueSet')
    const whole = WHOLE.get(canonical ?? '')
    if (whole !== undefined)
      run.findings.report(DEFINITION_BINDING, binding, {
        text: `The binding allows all codes of ${whole}, including those that make no sense as values.`,
        severity: 'warning',
      })
    if (canonical !== undefined && !canonical.startsWith('#') && whole === undefined && canBind(run.model, bound))
      checkValueSet(run, binding, canonical)
    for (const extension of childrenOf(run, binding, 'extension'))
      if (ADDITIONAL_BINDINGS.has(textOf(extension, 'url'))) checkAdditional(run, definition, extension)
  }
}

/** Checks that an additional binding has a known value set and one purpose, and that its usage names elements of the profile. */
function checkAdditional(run: Run, definition: FhirNode, extension: FhirNode): void {
  const parts = childrenOf(run, extension, 'extension')
  if (parts.filter((part) => textOf(part, 'url') === 'purpose').length > 1)
    run.findings.report(DEFINITION_BINDING, extension, { text: 'An additional binding has one purpose.' })
  for (const part of parts) {
    const [value] = childrenOf(run, part, 'value')
    if (textOf(part, 'url') === 'purpose' && value !== undefined) checkPurpose(run, value)
    if (textOf(part, 'url') === 'valueSet' && typeof value?.value === 'string') checkValueSet(run, extension, value.value)
    if (textOf(part, 'url') === 'usage' && value !== undefined) checkUsage(run, definition, value)
  }
}

function checkPurpose(run: Run, purpose: FhirNode): void {
  if (typeof purpose.value !== 'string' || PURPOSES.has(purpose.value)) return
  const text = `${quoted(purpose.value)} is not a purpose of an additional binding: ${[...PURPOSES].join(', ')}.`
  run.findings.report(DEFINITION_BINDING, purpose, { text })
}

function checkUsage(run: Run, definition: FhirNode, usage: FhirNode): void {
  const [code] = childrenOf(run, usage, 'code')
  if (code === undefined) return
  const [system, path = ''] = [textOf(code, 'system'), textOf(code, 'code')]
  const say = (text: string, severity?: 'information'): void =>
    run.findings.report(DEFINITION_BINDING, usage, { text, ...(severity !== undefined && { severity }) })
  if (system === undefined || system !== textOf(definition, 'url')) {
    say(`The context ${quoted(`${system ?? ''}#${path}`)} of the binding is not known, so it is not checked.`, 'information')
    return
  }
  const [value] = childrenOf(run, usage, 'value')
  if (path.split('.', 1)[0] !== textOf(definition, 'type') || elementAtPath(run.model, path) === undefined)
    say(`The context of the binding is the element ${quoted(path)}, which the profile does not have.`)
  else if (value !== undefined && value.type.name !== 'CodeableConcept')
    say(`The value of the context of the binding is a ${value.type.name}; it must be a CodeableConcept.`)
}

function checkValueSet(run: Run, binding: FhirNode, canonical: string): void {
  const found = run.definitions.definition('ValueSet', canonical)
  const say = (text: string, severity: 'error' | 'warning'): void => run.findings.report(DEFINITION_BINDING, binding, { text, severity })
  if (found === undefined && run.definitions.valueSet(canonical) === undefined) {
    const kind = otherKindOf(run, canonical, 'ValueSet')
    if (kind === undefined) say(`The value set ${quoted(canonical)} could not be found.`, 'warning')
    else if (kind !== PENDING) say(`${quoted(canonical)} is a ${kind}, not a value set.`, 'error')
  }
  if (!isExperiment(found) || isExperiment(resourceOf(binding).value) || textOf(binding, 'strength') === 'example') return
  say(`The value set ${quoted(canonical)} is experimental, but the profile is not.`, 'warning')
}

function isExperiment(definition: unknown): boolean {
  return isObject(definition) && definition['experimental'] === true
}
