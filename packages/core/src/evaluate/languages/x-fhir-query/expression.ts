import { OperationError, quoted } from '../../../errors/index.js'
import { isResourceType } from '../../../storage/index.js'
import { withBlanks } from '../../../text/index.js'

/** The parts of a query: its type and decoded parameters in order. */
export interface QueryExpression {
  readonly type: string
  readonly parameters: readonly (readonly [string, string])[]
}

/**
 * Parses `Type` or `Type?name=value&...`. `{{%name}}` is replaced by the value of a variable, which is always data and never syntax.
 *
 * @param variables Values by name, without the percent sign.
 * @throws {OperationError} `search-invalid` for every other form, an unknown type and an unknown variable.
 */
export function parseExpression(expression: string, variables: ReadonlyMap<string, string>): QueryExpression {
  if (/[\u0000-\u001f\u007f#]/.test(expression)) throw invalid('A query must not contain a fragment or control characters.')
  const mark = expression.indexOf('?')
  const type = mark < 0 ? expression : expression.slice(0, mark)
  if (!isResourceType(type) || type === 'Bot') throw invalid(`${quoted(type)} is not a resource type.`)
  const query = mark < 0 ? '' : expression.slice(mark + 1)
  return {
    type,
    parameters: withValues(query, variables)
      .split('&')
      .filter((pair) => pair !== '')
      .map(decodedPair),
  }
}

function withValues(query: string, variables: ReadonlyMap<string, string>): string {
  const inserted = query.replace(/\{\{%([^{}]*)\}\}/g, (_, name: string) => {
    const value = variables.get(name)
    if (value === undefined) throw invalid(`Variable ${quoted(`%${name}`)} is unknown.`)
    return encodeURIComponent(value)
  })
  if (/\{\{|\}\}/.test(inserted)) throw invalid('{{ and }} must enclose a variable such as %periodStart.')
  return inserted
}

function decodedPair(pair: string): readonly [string, string] {
  const equals = pair.indexOf('=')
  if (equals <= 0) throw invalid(`${quoted(pair)} is not name=value.`)
  return [decoded(pair.slice(0, equals)), decoded(pair.slice(equals + 1))]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(withBlanks(text))
  } catch {
    throw invalid(`${quoted(text)} is not percent-encoded correctly.`)
  }
}

function invalid(message: string): OperationError {
  return new OperationError('search-invalid', message)
}
