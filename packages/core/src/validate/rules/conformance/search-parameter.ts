import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { stringAt, type JsonObject, shownJson } from '../../../json/index.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { Run, ResourceRule } from '../../run/run.js'
import { expressionProblem } from '../expression/expression-problem.js'

const SEARCH_PARAMETER: FindingDefinition = defineFinding(
  'search-parameter',
  'error',
  'business-rule',
  'Make the parameter agree with the parameters it is derived from or composed of.',
)
const SEARCH_PARAMETER_EXPRESSION: FindingDefinition = defineFinding(
  'search-parameter-expression',
  'error',
  'invalid',
  'Correct the FHIRPath expression; it starts from one of the base types.',
)
/** SearchParameters. */
export const searchParameterRule: ResourceRule = {
  on: ['SearchParameter'],
  finds: [SEARCH_PARAMETER, SEARCH_PARAMETER_EXPRESSION],
  check: checkSearchParameter,
}

/** Checks a SearchParameter: its expression starts from its bases, a composite has components, and it agrees with the parameter that it is derived from. */
function checkSearchParameter(run: Run, node: FhirNode): void {
  const bases = childrenOf(run, node, 'base').flatMap(({ value }) => (typeof value === 'string' ? [value] : []))
  checkCode(run, node)
  checkExpression(run, node, bases)
  if (textOf(node, 'type') === 'composite' && childrenOf(run, node, 'component').length < 2) {
    run.findings.report(SEARCH_PARAMETER, node, { text: 'A composite search parameter must have at least two components.' })
  }
  const derivedFrom = textOf(node, 'derivedFrom')
  const origin = derivedFrom === undefined ? undefined : run.definitions.definition('SearchParameter', derivedFrom)
  if (derivedFrom !== undefined && origin === undefined)
    run.findings.report(SEARCH_PARAMETER, node, {
      text: `The parameter ${quoted(derivedFrom)}, which this one is derived from, could not be found.`,
      severity: 'warning',
    })
  if (origin !== undefined && origin !== PENDING) checkOrigin(run, node, { origin, bases })
}

/** Reports characters in the code that separate names, modifiers and values in the query of a search. */
function checkCode(run: Run, node: FhirNode): void {
  const code = textOf(node, 'code') ?? ''
  const strays = ['.', '$', '|'].filter((one) => code.includes(one))
  for (const stray of strays)
    run.findings.report(SEARCH_PARAMETER, node, {
      text: `The code ${quoted(code)} has the character ${quoted(stray)}, which has a meaning of its own in a search.`,
      severity: 'warning',
      code: 'invalid',
    })
}

function checkOrigin(run: Run, node: FhirNode, { origin, bases }: { origin: JsonObject; bases: readonly string[] }): void {
  const type = textOf(node, 'type')
  if (type !== undefined && origin['type'] !== type) {
    run.findings.report(SEARCH_PARAMETER, node, {
      text: `The type is ${quoted(type)}, but the type of the parameter it is derived from is ${quoted(shownJson(origin['type']))}.`,
    })
  }
  const [own, other] = [textOf(node, 'expression'), stringAt(origin, 'expression')]
  if (own !== undefined && other !== undefined && partsFor(own, bases) !== partsFor(other, bases))
    run.findings.report(SEARCH_PARAMETER, node, {
      text: `The expression is not that of the parameter it is derived from: ${quoted(other)}.`,
      severity: 'warning',
    })
  const allowed: unknown = origin['base']
  if (!Array.isArray(allowed)) return
  for (const base of bases) {
    if (!allowed.includes(base) && !allowed.includes('Resource'))
      run.findings.report(SEARCH_PARAMETER, node, { text: `${quoted(base)} is not a base of the parameter that this one is derived from.` })
  }
}

function checkExpression(run: Run, node: FhirNode, bases: readonly string[]): void {
  const expression = textOf(node, 'expression')
  const focus = bases.flatMap((base) => run.model.type(base) ?? [])
  if (expression === undefined || focus.length < bases.length) return
  const knowsExtension = (url: string): boolean => run.definitions.profile(url) !== undefined
  const problem = expressionProblem(expression, { model: run.model, focus, knowsExtension })
  if (problem === undefined) return
  const { text, isError } = problem
  run.findings.report(SEARCH_PARAMETER_EXPRESSION, node, {
    text: `The expression is invalid: ${text}`,
    at: 'expression',
    ...(!isError && { severity: 'warning', code: 'business-rule' }),
  })
}

/** The parts of a union that apply to some of the bases, sorted. */
function partsFor(expression: string, bases: readonly string[]): string {
  const parts = expression.split('|').map((part) => part.trim())
  const own = parts.filter((part) => {
    const type = /^\(*([A-Z]\w*)\./.exec(part)?.[1]
    return type === undefined || bases.includes(type)
  })
  return own.toSorted((one, other) => (one < other ? -1 : 1)).join(' | ')
}
