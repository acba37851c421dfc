import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import type { Finding } from '../../finding.js'
import { childrenOf, textOf } from '../../walk/children.js'
import { resourceOf, type Run } from '../../walk/run.js'
import type { Work } from '../../../work/index.js'
import { EXTERNAL, isExampleUrl } from '../coding/check-coding.js'
import { isAbsoluteUri } from '../primitive/uri.js'
import { checkFilter } from './value-set-filter.js'
import { checkParameters } from './value-set-parameters.js'

/** Checks what a ValueSet includes and excludes: systems by their url, codes that exist, filters that can be applied. */
export function* checkValueSet(run: Run, node: FhirNode): Work<void> {
  checkParameters(run, node)
  for (const compose of childrenOf(run, node, 'compose')) {
    for (const part of [...childrenOf(run, compose, 'include'), ...childrenOf(run, compose, 'exclude')]) yield* checkPart(run, part)
  }
}

function* checkPart(run: Run, part: FhirNode): Work<void> {
  yield
  checkImports(run, part)
  const system = textOf(part, 'system')
  if (system === undefined) return
  if (!isAbsoluteUri(system) || system.includes('|')) {
    run.sink.report('value-set-system', part, {
      text: `The system must be an absolute URI without version, not ${quoted(system)}; a contained CodeSystem too is named by its url.`,
    })
    return
  }
  checkSystem(run, part, system)
  yield* checkConcepts(run, part, system)
  for (const filter of childrenOf(run, part, 'filter')) checkFilter(run, filter, system)
}

function checkImports(run: Run, part: FhirNode): void {
  const imports = childrenOf(run, part, 'valueSet')
  const warn = (node: FhirNode, text: string, code?: 'informational'): void =>
    run.sink.report('value-set-import', node, { text, ...(code !== undefined && { code }) })
  for (const one of imports) {
    if (typeof one.value === 'string' && !one.value.startsWith('#') && run.facts.valueSet(one.value) === undefined)
      warn(one, `The value set ${quoted(one.value)} is not known here.`)
  }
  if (imports.length > 1) warn(part, 'Only codes that are in all of the value sets are meant.', 'informational')
}

/** What is said of the content of a code system that cannot give all codes. */
const CONTENT: ReadonlyMap<unknown, Pick<Finding, 'severity'>> = new Map([
  ['supplement', { severity: 'error' }],
  ['example', { severity: 'warning' }],
  ['fragment', { severity: 'information' }],
])

function checkSystem(run: Run, part: FhirNode, system: string): void {
  const definition = run.facts.definition('CodeSystem', system)
  if (definition === PENDING || EXTERNAL.has(system)) return
  if (definition === undefined) return checkUnknown(run, part, system)
  const content = CONTENT.get(definition['content'])
  if (content === undefined) return
  const text = `Of the code system ${quoted(system)} there is only a part here: ${quoted(String(definition['content']))}.`
  run.sink.report('value-set-system', part, { text, ...content })
}

function checkUnknown(run: Run, part: FhirNode, system: string): void {
  const valueSet = run.facts.valueSet(system)
  if (valueSet === PENDING) return
  if (valueSet !== undefined)
    run.sink.report('value-set-system', part, { text: `${quoted(system)} is a value set, not a code system; include it as such.` })
  else if (childrenOf(run, part, 'concept').length > 0 && resourceOf(part).slot?.name !== 'contained')
    run.sink.report('value-set-system', part, {
      text: `The code system ${quoted(system)} is not known here, so its codes are not checked.`,
      severity: isExampleUrl(system) ? 'information' : 'warning',
      code: 'business-rule',
    })
}

function* checkConcepts(run: Run, part: FhirNode, system: string): Work<void> {
  const concepts = childrenOf(run, part, 'concept')
  const family = concepts.length === 0 || EXTERNAL.has(system) ? PENDING : run.facts.codeSystem(system)
  const provider = family === PENDING ? undefined : family.provider(textOf(part, 'version'))
  if (provider === undefined || !provider.header.complete) return
  for (const concept of concepts) {
    run.step()
    yield
    const code = textOf(concept, 'code')
    if (code === undefined || provider.find(code) !== undefined) continue
    run.sink.report('value-set-code', concept, { text: `The code system ${quoted(system)} has no code ${quoted(code)}.` })
  }
}
