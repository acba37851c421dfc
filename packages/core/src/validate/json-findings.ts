import { rootNode, type TypeModel } from '../fhirpath/index.js'
import { isObject, type JsonProblem, type JsonSource, type JsonProblemKind } from '../json/index.js'
import { UNKNOWN_RESOURCE_TYPE, unknownType } from './rules/structure/resource-type.js'
import { type Positions, defineFinding, findingOf, type Finding, type FindingDefinition } from './run/finding.js'
import { nodeAlong } from './run/nodes.js'
import type { JsonPath } from './run/patch.js'
import type { Run } from './run/run.js'

const JSON_FATAL: FindingDefinition = defineFinding('json-fatal', 'fatal', 'invalid', 'Send one FHIR resource as JSON.')
const JSON_COMMENT: FindingDefinition = defineFinding('json-comment', 'error', 'invalid', 'Remove the comment; JSON has none.')
const JSON_COMMA: FindingDefinition = defineFinding(
  'json-comma',
  'error',
  'invalid',
  'Put one comma between two members or items, and none after the last.',
)
const JSON_QUOTES: FindingDefinition = defineFinding('json-quotes', 'error', 'invalid', 'Put names and texts into double quotes.')
const JSON_DUPLICATE: FindingDefinition = defineFinding('json-duplicate', 'error', 'invalid', 'Keep one of the members with the same name.')
const JSON_NUMBER: FindingDefinition = defineFinding(
  'json-number',
  'error',
  'invalid',
  'Write the number as JSON does: digits, one decimal point, no leading zeros or plus sign.',
)
const JSON_STRING: FindingDefinition = defineFinding(
  'json-string',
  'error',
  'invalid',
  'Escape control characters, and use only the escape sequences of JSON.',
)

/** The kinds of findings about the JSON text of a resource. */
export const JSON_FINDINGS: readonly FindingDefinition[] = [
  JSON_FATAL,
  JSON_COMMENT,
  JSON_COMMA,
  JSON_QUOTES,
  JSON_DUPLICATE,
  JSON_NUMBER,
  JSON_STRING,
]

interface ProblemRow {
  readonly finding: FindingDefinition
  readonly text: (token: string) => string
}

const ENDS_EARLY = 'The text is not valid JSON: unexpected end of the text.'

/** Names of invisible characters. */
const CHARACTERS: ReadonlyMap<string, string> = new Map([['\uFEFF', 'byte order mark']])

const PROBLEMS: Readonly<Record<JsonProblemKind, ProblemRow>> = {
  comment: { finding: JSON_COMMENT, text: () => 'JSON does not allow comments.' },
  'comma-missing': { finding: JSON_COMMA, text: () => 'A comma is missing.' },
  'comma-extra': { finding: JSON_COMMA, text: () => 'There is a superfluous comma.' },
  'name-unquoted': { finding: JSON_QUOTES, text: (token) => `The property name ${token} is not quoted.` },
  'value-unquoted': { finding: JSON_QUOTES, text: (token) => `The value ${token} is not quoted.` },
  'quote-single': { finding: JSON_QUOTES, text: () => 'JSON requires double quotes, not single quotes.' },
  'duplicate-name': { finding: JSON_DUPLICATE, text: (token) => `Duplicated property name: '${token}'` },
  'number-form': { finding: JSON_NUMBER, text: (token) => `${token} is not a valid JSON number.` },
  'control-character': { finding: JSON_STRING, text: () => 'A string contains a control character, which must be escaped.' },
  'escape-invalid': { finding: JSON_STRING, text: (token) => `A string contains an unknown escape sequence ${token}.` },
  unexpected: {
    finding: JSON_FATAL,
    text: (token) => (token === '' ? ENDS_EARLY : `The text is not valid JSON: unexpected ${CHARACTERS.get(token) ?? `'${token}'`}.`),
  },
  unterminated: { finding: JSON_FATAL, text: () => ENDS_EARLY },
  'too-deep': { finding: JSON_FATAL, text: () => 'The JSON has too many nested objects and arrays.' },
  'too-many': { finding: JSON_FATAL, text: () => 'The text has too many members or errors.' },
}

const MAX_TOKEN = 100

/** The finding about a text that cannot be read. */
export function faultFinding({ text: source, start }: JsonSource, fault: JsonProblem, places: Positions | undefined): Finding {
  const isMarkup = fault.offset === start && source.charAt(start) === '<'
  const text = isMarkup ? 'The content is XML or HTML, not JSON.' : textOf(fault)
  return findingOf(JSON_FATAL, { text, ...places?.ofOffset(fault.offset) })
}

/** The finding about JSON that is not a resource. */
export function noResource({ start }: JsonSource, places: Positions | undefined): Finding {
  return findingOf(JSON_FATAL, {
    text: 'The content is not a resource: an object with a resourceType is required.',
    ...places?.ofOffset(start),
  })
}

/** The finding about a resource of a type that FHIR does not have. */
export function noSuchType(
  model: TypeModel,
  { value, start }: JsonSource,
  { type, places }: { type: string; places: Positions | undefined },
): Finding {
  const { text, hint, fix } = unknownType(model, rootNode(model, value))
  return findingOf(UNKNOWN_RESOURCE_TYPE, {
    text,
    expression: type.slice(0, MAX_TOKEN).toWellFormed(),
    ...(hint !== undefined && { hint }),
    ...(fix !== undefined && { fix }),
    ...places?.ofOffset(start),
  })
}

/** Reports the syntax errors that were repaired when the text was read. */
export function reportRepairs(run: Run, repairs: readonly JsonProblem[]): void {
  for (const problem of repairs) {
    if (problem.kind === 'comment' && run.policy.allowComments) continue
    const { node, rest } = nodeAt(run, placeOf(problem, run.root.value))
    run.findings.report(PROBLEMS[problem.kind].finding, node, {
      text: textOf(problem),
      offset: problem.offset,
      ...(rest.length > 0 && { at: steps(rest) }),
    })
  }
}

function textOf({ kind, token }: JsonProblem): string {
  return PROBLEMS[kind].text(JSON.stringify(token.slice(0, MAX_TOKEN).toWellFormed()).slice(1, -1))
}

/** The node at a path. For a path to a list, the node that holds the list. */
function nodeAt(run: Run, path: JsonPath): ReturnType<typeof nodeAlong> {
  const list = path.at(-1)
  if (!Array.isArray(path.reduce<unknown>(memberOf, run.root.value)) || list === undefined) return nodeAlong(run, run.root, path)
  const { node, rest } = nodeAlong(run, run.root, path.slice(0, -1))
  return { node, rest: [...rest, list] }
}

/**
 * The path to report for a problem: the value itself for a number, a value without quotes in a list, a duplicate name and the value that a comment
 * concerns; the container of a superfluous comma; the nearest object for all others.
 */
function placeOf({ kind, path, token }: JsonProblem, value: unknown): JsonPath {
  if (kind === 'duplicate-name') return [...path, token]
  if (kind === 'comma-extra') return path
  if (kind === 'comment' && path.at(-1) !== 'resourceType') {
    const isItem = typeof path.at(-1) === 'number' && !isObject(path.reduce(memberOf, value))
    return isItem ? path.slice(0, -1) : path
  }
  if (kind === 'number-form' || (kind === 'value-unquoted' && typeof path.at(-1) === 'number')) return path
  let length = 0
  let current = value
  for (const [index, step] of path.entries()) {
    current = memberOf(current, step)
    if (isObject(current)) length = index + 1
  }
  return path.slice(0, length)
}

function memberOf(value: unknown, step: string | number): unknown {
  if (Array.isArray(value)) return value[Number(step)]
  return isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined
}

function steps(path: JsonPath): string {
  return path.map((step, index) => (typeof step === 'number' ? `[${step}]` : `${index === 0 ? '' : '.'}${step}`)).join('')
}
