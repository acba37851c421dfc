import { parseFhirPath, type Ast } from '../../fhirpath/index.js'

/**
 * Names of elements without which an expression finds nothing: a focus that has no child of any of them need not be asked. `undefined` where
 * that cannot be said, as of `exists()`, which finds `false`.
 */
export function neededNames(expression: string): readonly string[] | undefined {
  return namesOf(parseFhirPath(expression))
}

/** Functions that find nothing in nothing. */
const PASSING: ReadonlySet<string> = new Set(['as', 'extension', 'first', 'ofType', 'resolve', 'where'])

function namesOf(ast: Ast): readonly string[] | undefined {
  if (ast.kind === 'member') return namesOfStep(ast.name, ast.target)
  if (ast.kind === 'type') return ast.operator === 'as' ? namesOf(ast.operand) : undefined
  if (ast.kind === 'call') return namesOfCall(ast)
  return ast.kind === 'binary' && ast.operator === '|' ? namesOfUnion(ast) : undefined
}

/** At the head of a path the name of a type stands for the focus, or else for an element. */
function namesOfStep(name: string, target: Ast | undefined): readonly string[] | undefined {
  if (target === undefined) return isTypeName(name) ? undefined : [name]
  return isHead(target) ? [target.name, name] : namesOf(target)
}

function namesOfCall({ name, target }: Ast & { kind: 'call' }): readonly string[] | undefined {
  if (target === undefined || !PASSING.has(name)) return undefined
  return name === 'extension' ? namesOfStep(name, target) : namesOf(target)
}

function namesOfUnion({ left, right }: Ast & { kind: 'binary' }): readonly string[] | undefined {
  const [before, after] = [namesOf(left), namesOf(right)]
  return before && after && [...before, ...after]
}

function isHead(ast: Ast): ast is Ast & { kind: 'member' } {
  return ast.kind === 'member' && ast.target === undefined && isTypeName(ast.name)
}

function isTypeName(name: string): boolean {
  return /^[A-Z]/.test(name)
}
