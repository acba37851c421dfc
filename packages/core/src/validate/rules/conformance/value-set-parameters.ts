import { OperationError, quoted } from '../../../errors/index.js'
import { parseFhirPath, type FhirNode } from '../../../fhirpath/index.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { Run } from '../../run/run.js'

/** An expression for the value of a filter that cannot be read or used. */
export const VALUE_SET_EXPRESSION: FindingDefinition = defineFinding(
  'value-set-expression',
  'error',
  'exception',
  'Correct the expression.',
)
/** A parameter of a ValueSet that is not used, not documented, or not named as usual. */
export const VALUE_SET_PARAMETER: FindingDefinition = defineFinding(
  'value-set-parameter',
  'warning',
  'business-rule',
  'Use the parameter in a filter, or remove it; document it, and begin its name with p-.',
)

const PARAMETER = 'http://hl7.org/fhir/tools/StructureDefinition/valueset-parameter'
const EXPRESSION = 'http://hl7.org/fhir/StructureDefinition/cqf-expression'

/** Checks the parameters that a ValueSet declares, and that its filters use them. Returns their names. */
export function checkParameters(run: Run, node: FhirNode): ReadonlySet<string> {
  const declared = extensionsOf(run, node, PARAMETER).flatMap((extension) => {
    const name = partOf(run, extension, 'name')
    return name === undefined ? [] : [{ extension, name }]
  })
  const used = new Set(filterExpressions(run, node).flatMap((expression) => parametersIn(textOf(expression, 'expression') ?? '')))
  for (const { extension, name } of declared) {
    const say = (text: string, severity?: 'information'): void =>
      run.findings.report(VALUE_SET_PARAMETER, extension, { text, ...(severity !== undefined && { severity }) })
    if (!used.has(name)) say(`No filter uses the parameter ${quoted(name)}.`)
    if (name.startsWith('p-')) continue
    if (partOf(run, extension, 'documentation') === undefined)
      say(`The parameter ${quoted(name)} has no documentation, so users cannot tell what it means.`)
    say(`The names of parameters should begin with 'p-', not ${quoted(name)}.`, 'information')
  }
  return new Set(declared.map(({ name }) => name))
}

/** The text of a part of an extension, by its url. */
function partOf(run: Run, extension: FhirNode, url: string): string | undefined {
  const [value] = extensionsOf(run, extension, url).flatMap((part) => childrenOf(run, part, 'value'))
  return typeof value?.value === 'string' ? value.value : undefined
}

/** The expression in an extension on the value of a filter, with its position among the extensions. */
export function expressionOf(run: Run, filter: FhirNode): { readonly expression: FhirNode; readonly at: string } | undefined {
  const [value] = childrenOf(run, filter, 'value')
  const extensions = value === undefined ? [] : childrenOf(run, value, 'extension')
  const index = extensions.findIndex((extension) => textOf(extension, 'url') === EXPRESSION)
  const [expression] = extensions.slice(index, index + 1).flatMap((extension) => childrenOf(run, extension, 'value'))
  return index < 0 || expression === undefined ? undefined : { expression, at: `extension[${index}].value` }
}

/** The problem with an expression: it is in another language, cannot be parsed, or uses a parameter that is not declared. */
export function expressionProblem(expression: FhirNode, declared: ReadonlySet<string>): { text: string; code?: 'invalid' } | undefined {
  const language = textOf(expression, 'language')
  if (language !== 'text/fhirpath')
    return { text: `The language of an expression in a value set must be text/fhirpath, not ${quoted(language ?? '')}.`, code: 'invalid' }
  const text = textOf(expression, 'expression') ?? ''
  const problem = readingProblem(text)
  if (problem !== undefined) return { text: problem }
  const stray = parametersIn(text).find((name) => !declared.has(name))
  return stray === undefined
    ? undefined
    : { text: `The expression uses the parameter ${quoted(stray)}, which the value set does not declare.` }
}

function parametersIn(text: string): readonly string[] {
  return [...text.matchAll(/%(?:`([^`]*)`|([A-Za-z][A-Za-z0-9_-]*))/g)].map(([, delimited, bare]) => delimited ?? bare ?? '')
}

function filterExpressions(run: Run, node: FhirNode): readonly FhirNode[] {
  return ['include', 'exclude']
    .flatMap((part) => childrenOf(run, node, 'compose').flatMap((compose) => childrenOf(run, compose, part)))
    .flatMap((part) => childrenOf(run, part, 'filter'))
    .flatMap((filter) => expressionOf(run, filter)?.expression ?? [])
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
