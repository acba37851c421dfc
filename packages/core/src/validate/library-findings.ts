import type { LibraryProblem, OperationContext } from '../context/index.js'
import { isObject, objectsAt, stringAt, type JsonObject } from '../json/index.js'
import { after, type Awaitable } from '../work/index.js'
import { CQL_ERROR, CQL_UNCHECKED, CQL_WARNING } from './finding-kinds.js'
import type { ResolvedInput } from './findings-of.js'
import { findingOf, type Finding } from './run/finding.js'

/**
 * Findings about the CQL of a Library: the problems that `ctx.checkLibrary` reports or, without a translator, that the CQL is not checked. Contained
 * and bundled Libraries are not checked.
 *
 * @throws what the checker throws.
 */
export function libraryFindings(ctx: OperationContext, resource: unknown, input: ResolvedInput): Awaitable<readonly Finding[]> {
  if (input.policy.checks !== 'all' || !isObject(resource) || resource['resourceType'] !== 'Library') return []
  const texts = objectsAt(resource, 'content').flatMap((content, index) => (isCql(content) ? [index] : []))
  if (texts.length === 0) return []
  return after(ctx.checkLibrary?.(ctx, resource), (problems) => {
    const findings = problems?.map(findingOfProblem) ?? texts.map(unchecked)
    return findings.filter((finding) => input.suppressor?.hides(finding) !== true)
  })
}

function isCql(content: JsonObject): boolean {
  return stringAt(content, 'contentType')?.split(';')[0] === 'text/cql' && stringAt(content, 'data') !== undefined
}

function findingOfProblem({ severity, text, content, line, column }: LibraryProblem): Finding {
  const where = line === undefined ? '' : `Line ${line}, column ${column ?? 1}: `
  return findingOf(severity === 'error' ? CQL_ERROR : CQL_WARNING, { text: `${where}${text}`, expression: contentAt(content) })
}

function unchecked(index: number): Finding {
  return findingOf(CQL_UNCHECKED, { text: 'The CQL is not checked: no translator is set up here.', expression: contentAt(index) })
}

function contentAt(index: number): string {
  return `Library.content[${index}]`
}
