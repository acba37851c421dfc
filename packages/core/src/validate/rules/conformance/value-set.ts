import { OperationError, quoted } from '../../../errors/index.js'
import { parseFhirPath, PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { defineFinding, type FindingDefinition, type Finding } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import { resourceOf, type Run, type ResourceRule } from '../../run/run.js'
import { EXTERNAL, isExampleUrl } from '../codes/special-systems.js'
import { isAbsoluteUri } from '../primitive/uri.js'
import { checkFilter, VALUE_SET_FILTER } from './value-set-filter.js'

const VALUE_SET_SYSTEM: FindingDefinition = defineFinding(
  'value-set-system',
  'error',
  'invalid',
  'Use the absolute canonical URL of the code system.',
)
const VALUE_SET_IMPORT: FindingDefinition = defineFinding(
  'value-set-import',
  'warning',
  'business-rule',
  'Load the included value set, or correct its canonical.',
)
const VALUE_SET_CODE: FindingDefinition = defineFinding(
  'value-set-code',
  'error',
  'business-rule',
  'List codes that are defined in the code system.',
)
const VALUE_SET_EXPRESSION: FindingDefinition = defineFinding('value-set-expression', 'error', 'exception', 'Correct the expression.')
const VALUE_SET_PARAMETER: FindingDefinition = defineFinding(
  'value-set-parameter',
  'warning',
  'business-rule',
  'Use the parameter in a filter, or remove it.',
)

/** ValueSets. */
export const valueSetRule: ResourceRule = {
  on: ['ValueSet'],
  finds: [VALUE_SET_SYSTEM, VALUE_SET_IMPORT, VALUE_SET_CODE, VALUE_SET_FILTER, VALUE_SET_EXPRESSION, VALUE_SET_PARAMETER],
  check: checkValueSet,
}

/** Checks what a ValueSet includes and excludes: systems by their url, codes that exist, filters that can be applied. */
async function checkValueSet(run: Run, node: FhirNode): Promise<void> {
  checkParameters(run, node)
  for (const compose of childrenOf(run, node, 'compose')) {
    for (const part of [...childrenOf(run, compose, 'include'), ...childrenOf(run, compose, 'exclude')]) await checkPart(run, part)
  }
}

async function checkPart(run: Run, part: FhirNode): Promise<void> {
  await run.scheduler.turn()
  checkImports(run, part)
  const system = textOf(part, 'system')
  if (system === undefined) return
  if (!isAbsoluteUri(system) || system.includes('|')) {
    run.findings.report(VALUE_SET_SYSTEM, part, {
      text: `The system must be an absolute URI without version, not ${quoted(system)}; also for a contained CodeSystem.`,
    })
    return
  }
  checkSystem(run, part, system)
  await checkConcepts(run, part, system)
  for (const filter of childrenOf(run, part, 'filter')) checkFilter(run, filter, system)
}

function checkImports(run: Run, part: FhirNode): void {
  const imports = childrenOf(run, part, 'valueSet')
  const warn = (node: FhirNode, text: string, code?: 'informational'): void =>
    run.findings.report(VALUE_SET_IMPORT, node, { text, ...(code !== undefined && { code }) })
  for (const one of imports) {
    if (typeof one.value === 'string' && !one.value.startsWith('#') && run.definitions.valueSet(one.value) === undefined)
      warn(one, `The value set ${quoted(one.value)} could not be found.`)
  }
  if (imports.length > 1) warn(part, 'Only codes that are in all of these value sets are included.', 'informational')
}

/** What is said of the content of a code system that cannot give all codes. */
const CONTENT: ReadonlyMap<unknown, Pick<Finding, 'severity'>> = new Map([
  ['supplement', { severity: 'error' }],
  ['example', { severity: 'warning' }],
  ['fragment', { severity: 'information' }],
])

function checkSystem(run: Run, part: FhirNode, system: string): void {
  const definition = run.definitions.definition('CodeSystem', system)
  if (definition === PENDING || EXTERNAL.has(system)) return
  if (definition === undefined) return checkUnknown(run, part, system)
  const content = CONTENT.get(definition['content'])
  if (content === undefined) return
  const text = `The content of the code system ${quoted(system)} is ${quoted(String(definition['content']))}, so it is not complete.`
  run.findings.report(VALUE_SET_SYSTEM, part, { text, ...content })
}

function checkUnknown(run: Run, part: FhirNode, system: string): void {
  const valueSet = run.definitions.valueSet(system)
  if (valueSet === PENDING) return
  if (valueSet !== undefined)
    run.findings.report(VALUE_SET_SYSTEM, part, { text: `${quoted(system)} is a value set, not a code system; include it with valueSet.` })
  else if (childrenOf(run, part, 'concept').length > 0 && resourceOf(part).slot?.name !== 'contained')
    run.findings.report(VALUE_SET_SYSTEM, part, {
      text: `The code system ${quoted(system)} could not be found, so its codes are not checked.`,
      severity: isExampleUrl(system) ? 'information' : 'warning',
      code: 'business-rule',
    })
}

async function checkConcepts(run: Run, part: FhirNode, system: string): Promise<void> {
  const concepts = childrenOf(run, part, 'concept')
  const family = concepts.length === 0 || EXTERNAL.has(system) ? PENDING : run.definitions.codeSystem(system)
  const provider = family === PENDING ? undefined : family.provider(textOf(part, 'version'))
  if (provider === undefined || !provider.header.complete) return
  for (const concept of concepts) {
    run.scheduler.step()
    await run.scheduler.turn()
    const code = textOf(concept, 'code')
    if (code === undefined || provider.find(code) !== undefined) continue
    run.findings.report(VALUE_SET_CODE, concept, { text: `Unknown code ${quoted(code)} in the code system ${quoted(system)}.` })
  }
}

const PARAMETER = 'http://hl7.org/fhir/tools/StructureDefinition/valueset-parameter'
const EXPRESSION = 'http://hl7.org/fhir/StructureDefinition/cqf-expression'

/** Checks that the expressions in place of values of filters can be read, and that they use the parameters that the ValueSet declares. */
function checkParameters(run: Run, node: FhirNode): void {
  const declared = extensionsOf(run, node, PARAMETER).map((extension) => ({ extension, name: nameOf(run, extension) }))
  const names = new Set(declared.map(({ name }) => name))
  const used = new Set<string>()
  for (const expression of filterExpressions(run, node)) {
    const text = textOf(expression, 'expression') ?? ''
    const own = [...text.matchAll(/%([A-Za-z][A-Za-z0-9_-]*)/g)].flatMap(([, name]) => name ?? [])
    for (const name of own) used.add(name)
    const problem = readingProblem(text) ?? undeclaredProblem(own.find((name) => !names.has(name)))
    if (problem !== undefined) run.findings.report(VALUE_SET_EXPRESSION, expression, { text: problem })
  }
  for (const { extension, name } of declared) {
    if (name !== undefined && !used.has(name))
      run.findings.report(VALUE_SET_PARAMETER, extension, { text: `No filter uses the parameter ${quoted(name)}.` })
  }
}

function undeclaredProblem(name: string | undefined): string | undefined {
  return name === undefined ? undefined : `The expression uses the parameter ${quoted(name)}, which the value set does not declare.`
}

function nameOf(run: Run, parameter: FhirNode): string | undefined {
  const [name] = extensionsOf(run, parameter, 'name').flatMap((extension) => childrenOf(run, extension, 'value'))
  return typeof name?.value === 'string' ? name.value : undefined
}

function filterExpressions(run: Run, node: FhirNode): readonly FhirNode[] {
  return ['include', 'exclude']
    .flatMap((part) => childrenOf(run, node, 'compose').flatMap((compose) => childrenOf(run, compose, part)))
    .flatMap((part) => childrenOf(run, part, 'filter'))
    .flatMap((filter) => childrenOf(run, filter, 'value'))
    .flatMap((value) => extensionsOf(run, value, EXPRESSION))
    .flatMap((extension) => childrenOf(run, extension, 'value'))
    .filter((expression) => textOf(expression, 'language') === 'text/fhirpath')
}

function extensionsOf(run: Run, node: FhirNode, url: string): readonly FhirNode[] {
  return childrenOf(run, node, 'extension').filter((extension) => textOf(extension, 'url') === url)
}

function readingProblem(expression: string): string | undefined {
  try {
    parseFhirPath(expression)
    return undefined
  } catch (error) {
    if (error instanceof OperationError && error.code !== 'too-costly') return `The expression cannot be read: ${error.message}`
    throw error
  }
}
