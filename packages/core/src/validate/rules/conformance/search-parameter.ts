import { OperationError, quoted } from '../../../errors/index.js'
import { parseFhirPath, PENDING, type Ast, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, type JsonObject } from '../../../json/index.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { Run, ResourceRule } from '../../run/run.js'
import { placeOf } from '../structure-definition/element-place.js'

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
const CAPABILITY_SEARCH: FindingDefinition = defineFinding(
  'capability-search',
  'error',
  'invalid',
  'State the type that the definition of the search parameter has.',
)

/** SearchParameters. */
export const searchParameterRule: ResourceRule = {
  on: ['SearchParameter'],
  finds: [SEARCH_PARAMETER, SEARCH_PARAMETER_EXPRESSION],
  check: checkSearchParameter,
}

/** Checks a SearchParameter: that its expression starts from its bases, that a composite has components, and that it fits what it derives from. */
function checkSearchParameter(run: Run, node: FhirNode): void {
  const bases = childrenOf(run, node, 'base').flatMap(({ value }) => (typeof value === 'string' ? [value] : []))
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

function checkOrigin(run: Run, node: FhirNode, { origin, bases }: { origin: JsonObject; bases: readonly string[] }): void {
  const type = textOf(node, 'type')
  if (type !== undefined && origin['type'] !== type) {
    run.findings.report(SEARCH_PARAMETER, node, {
      text: `The type is ${quoted(type)}, but the type of the parameter it is derived from is ${quoted(String(origin['type']))}.`,
    })
  }
  const allowed: unknown = origin['base']
  if (!Array.isArray(allowed)) return
  for (const base of bases) {
    if (!allowed.includes(base))
      run.findings.report(SEARCH_PARAMETER, node, { text: `${quoted(base)} is not a base of the parameter that this one is derived from.` })
  }
}

function checkExpression(run: Run, node: FhirNode, bases: readonly string[]): void {
  const expression = textOf(node, 'expression')
  if (expression === undefined) return
  const text = expressionProblem(run, expression, bases)
  if (text !== undefined) run.findings.report(SEARCH_PARAMETER_EXPRESSION, node, { text, at: 'expression' })
}

function expressionProblem(run: Run, expression: string, bases: readonly string[]): string | undefined {
  try {
    const ast = parseFhirPath(expression)
    const starts = startsOf(ast).filter((name) => run.model.type(name)?.kind === 'resource')
    const stray = starts.find((name) => !bases.some((base) => isWithin(run, base, name)))
    if (stray !== undefined) return `The expression starts from ${quoted(stray)}, but the bases are ${bases.join(', ')}.`
    const unknown = pathsIn(ast).find(
      (path) => run.model.type(path.split('.', 1)[0] ?? '') !== undefined && placeOf(run.model, path) === undefined,
    )
    return unknown === undefined ? undefined : `Unknown element ${quoted(unknown)}.`
  } catch (error) {
    if (error instanceof OperationError && error.code !== 'too-costly') return `The expression cannot be read: ${error.message}`
    throw error
  }
}

/** The paths with which the parts of a union begin, up to the first function. */
function pathsIn(ast: Ast): readonly string[] {
  if (ast.kind === 'binary' && ast.operator === '|') return [...pathsIn(ast.left), ...pathsIn(ast.right)]
  if (ast.kind === 'member') {
    const path = pathOfMember(ast)
    return path === undefined ? (ast.target === undefined ? [] : pathsIn(ast.target)) : [path]
  }
  if (ast.kind === 'call') return ast.target === undefined ? [] : pathsIn(ast.target)
  if (ast.kind === 'item') return pathsIn(ast.target)
  return ast.kind === 'type' ? pathsIn(ast.operand) : []
}

/** `undefined` when something else than names is on the way. */
function pathOfMember(ast: Ast): string | undefined {
  if (ast.kind !== 'member') return undefined
  if (ast.target === undefined) return ast.name
  const path = pathOfMember(ast.target)
  return path === undefined ? undefined : `${path}.${ast.name}`
}

/** The names from which the parts of a union start. */
function startsOf(ast: Ast): readonly string[] {
  if (ast.kind === 'binary' && ast.operator === '|') return [...startsOf(ast.left), ...startsOf(ast.right)]
  return startOf(ast)
}

function startOf(ast: Ast): readonly string[] {
  if (ast.kind === 'member') return ast.target === undefined ? [ast.name] : startsOf(ast.target)
  if (ast.kind === 'call') return ast.target === undefined ? [] : startsOf(ast.target)
  if (ast.kind === 'item') return startsOf(ast.target)
  return ast.kind === 'type' ? startsOf(ast.operand) : []
}

/** A parameter of a base may start from the type above it, and one of all resources from any. */
function isWithin({ model }: Run, base: string, name: string): boolean {
  for (let type = model.type(base); type !== undefined; type = type.base === undefined ? undefined : model.type(type.base)) {
    if (type.name === name) return true
  }
  return base === 'Resource' || base === 'DomainResource'
}

/** CapabilityStatements. */
export const capabilityRule: ResourceRule = {
  on: ['CapabilityStatement'],
  finds: [CAPABILITY_SEARCH],
  check: checkCapabilities,
}

/** Checks that the search parameters of a CapabilityStatement have the types that their definitions give them. */
async function checkCapabilities(run: Run, node: FhirNode): Promise<void> {
  for (const rest of childrenOf(run, node, 'rest')) {
    for (const resource of childrenOf(run, rest, 'resource')) await checkParameters(run, resource)
    await checkParameters(run, rest)
  }
}

async function checkParameters(run: Run, holder: FhirNode): Promise<void> {
  for (const parameter of childrenOf(run, holder, 'searchParam')) {
    checkCapability(run, parameter)
    await run.scheduler.turn()
  }
}

function checkCapability(run: Run, parameter: FhirNode): void {
  const canonical = textOf(parameter, 'definition')
  const type = textOf(parameter, 'type')
  const definition = canonical === undefined ? undefined : run.definitions.definition('SearchParameter', canonical)
  if (!isObject(definition) || type === undefined || definition['type'] === type) return
  run.findings.report(CAPABILITY_SEARCH, parameter, {
    text: `The type is ${quoted(type)}, but the definition of the search parameter has the type ${quoted(String(definition['type']))}.`,
  })
}
