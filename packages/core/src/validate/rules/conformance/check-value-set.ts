import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { childrenOf, textOf } from '../../walk/children.js'
import type { Run } from '../../walk/run.js'
import { EXTERNAL } from '../coding/check-coding.js'
import { isAbsoluteUri } from '../primitive/uri.js'
import { checkFilter } from './value-set-filter.js'
import { checkParameters } from './value-set-parameters.js'

/** Checks what a ValueSet includes and excludes: systems by their url, codes that exist, filters that can be applied. */
export function checkValueSet(run: Run, node: FhirNode): void {
  checkParameters(run, node)
  for (const compose of childrenOf(run, node, 'compose')) {
    for (const part of [...childrenOf(run, compose, 'include'), ...childrenOf(run, compose, 'exclude')]) checkPart(run, part)
  }
}

function checkPart(run: Run, part: FhirNode): void {
  const system = textOf(part, 'system')
  if (system === undefined) return
  if (!isAbsoluteUri(system)) {
    run.sink.report('value-set-system', part, {
      text: `The system must be an absolute URI, not ${quoted(system)}; a contained CodeSystem too is named by its url.`,
    })
    return
  }
  checkConcepts(run, part, system)
  for (const filter of childrenOf(run, part, 'filter')) checkFilter(run, filter, system)
}

function checkConcepts(run: Run, part: FhirNode, system: string): void {
  const concepts = childrenOf(run, part, 'concept')
  const family = concepts.length === 0 || EXTERNAL.has(system) ? PENDING : run.facts.codeSystem(system)
  const provider = family === PENDING ? undefined : family.provider(textOf(part, 'version'))
  if (provider === undefined || !provider.header.complete) return
  for (const concept of concepts) {
    run.step()
    const code = textOf(concept, 'code')
    if (code === undefined || provider.find(code) !== undefined) continue
    run.sink.report('value-set-code', concept, { text: `The code system ${quoted(system)} has no code ${quoted(code)}.` })
  }
}
