import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, stringAt } from '../../../json/index.js'
import type { Run } from '../../walk/run.js'
import { reportUnknownCode } from './check-coding.js'

const UCUM = 'http://unitsofmeasure.org'
const ANNOTATED_UNIT = /^[^{]+\{/

/** Checks that the unit of a Quantity is one, where UCUM can be asked, and that it depends on nothing between braces. */
export function checkUnit(run: Run, node: FhirNode): void {
  const code = isObject(node.value) && stringAt(node.value, 'system') === UCUM ? stringAt(node.value, 'code') : undefined
  if (code === undefined) return
  const family = run.facts.codeSystem(UCUM)
  const provider = family === PENDING ? undefined : family.provider()
  if (provider === undefined) return
  if (provider.find(code) === undefined) reportUnknownCode(run, node, { code, provider })
  else if (ANNOTATED_UNIT.test(code)) {
    const text = `The unit ${quoted(code)} has an annotation, which means nothing to whoever compares units; put it into the text of the unit.`
    run.sink.report('unit-annotation', node, { text })
  }
}
