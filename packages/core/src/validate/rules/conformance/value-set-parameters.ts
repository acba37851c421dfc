import { OperationError, quoted } from '../../../errors/index.js'
import { parseFhirPath, type FhirNode } from '../../../fhirpath/index.js'
import { childrenOf, textOf } from '../../walk/children.js'
import type { Run } from '../../walk/run.js'

const PARAMETER = 'http://hl7.org/fhir/tools/StructureDefinition/valueset-parameter'
const EXPRESSION = 'http://hl7.org/fhir/StructureDefinition/cqf-expression'

/** Checks that the expressions that stand for values of filters can be read, and that they use the parameters that the ValueSet declares. */
export function checkParameters(run: Run, node: FhirNode): void {
  const declared = extensionsOf(run, node, PARAMETER).map((extension) => ({ extension, name: nameOf(run, extension) }))
  const names = new Set(declared.map(({ name }) => name))
  const used = new Set<string>()
  for (const expression of filterExpressions(run, node)) {
    const text = textOf(expression, 'expression') ?? ''
    const own = [...text.matchAll(/%([A-Za-z][A-Za-z0-9_-]*)/g)].flatMap(([, name]) => name ?? [])
    for (const name of own) used.add(name)
    const problem = readingProblem(text) ?? undeclaredProblem(own.find((name) => !names.has(name)))
    if (problem !== undefined) run.sink.report('value-set-expression', expression, { text: problem })
  }
  for (const { extension, name } of declared) {
    if (name !== undefined && !used.has(name))
      run.sink.report('value-set-parameter', extension, { text: `No filter uses the parameter ${quoted(name)}.` })
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
