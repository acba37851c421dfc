import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, stringAt, type JsonObject } from '../../../json/index.js'
import { childrenOf } from '../../walk/children.js'
import type { Run } from '../../walk/run.js'
import { extensionValues } from '../../profile/extension-value.js'
import { checkDerivedItems } from './derivation.js'
import { readForm } from './form.js'

const DERIVATION_TYPE = 'http://hl7.org/fhir/StructureDefinition/questionnaire-derivationType'
const DERIVATIONS = 'http://hl7.org/fhir/questionnaire-derivationType'

/** Checks that what a Questionnaire derives from is known, as is in which way, and that its items keep to it. */
export function checkDerivedFrom(run: Run, node: FhirNode): void {
  for (const base of childrenOf(run, node, 'derivedFrom')) {
    if (typeof base.value !== 'string' || base.value.startsWith('#')) continue
    const found = run.facts.definition('Questionnaire', base.value)
    if (found === PENDING) continue
    const mode = modeOf(base)
    const fault = found === undefined ? 'is not known here' : FAULTS.get(mode)
    if (fault !== undefined) report(run, base, { fault, isFine: found !== undefined && mode === 'inspiredBy' })
    else if (found !== undefined) checkDerivedItems(run, node, { form: readForm(base.value, found), isExtended: mode === 'extends' })
  }
}

/** Why what derives from a known questionnaire is not checked. */
const FAULTS: ReadonlyMap<string, string> = new Map([
  ['', 'is given without the type of the derivation'],
  ['unknown', 'is given with a type of derivation that is not known'],
  ['inspiredBy', 'is only an inspiration'],
])

function modeOf({ extra }: FhirNode): string {
  const coding = extensionValues(extra ?? {}, DERIVATION_TYPE)[0]
  return isObject(coding) ? knownMode(coding) : ''
}

function knownMode(coding: JsonObject): string {
  const code = stringAt(coding, 'code') ?? ''
  return coding['system'] === DERIVATIONS && ['extends', 'compliesWith', 'inspiredBy'].includes(code) ? code : 'unknown'
}

function report(run: Run, base: FhirNode, { fault, isFine }: { fault: string; isFine: boolean }): void {
  run.sink.report('questionnaire-derived-from', base, {
    text: `The questionnaire ${quoted(String(base.value))} ${fault}, so what derives from it is not checked.`,
    ...(isFine && { severity: 'information' }),
  })
}
