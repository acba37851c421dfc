import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject } from '../../../json/index.js'
import { type FindingDefinition, INVARIANT } from '../../run/finding.js'
import { ATTACHMENT } from '../datatypes.js'
import { numberTextOf } from '../../run/nodes.js'
import { itemRemoval, removal, replacement, type JsonPatch } from '../../run/patch.js'
import {
  PRIMITIVE_TYPE,
  PRIMITIVE_EMPTY,
  PRIMITIVE_SPACE,
  type PrimitiveCheck,
  type PrimitiveProblem,
} from '../../run/primitive-problem.js'
import type { Run } from '../../run/run.js'
import { dateProblem, dateTimeProblem, instantProblem, timeProblem } from './date-time.js'
import { base64Problem, decimalProblem, integerProblem, positiveIntProblem, unsignedIntProblem, UNDECODABLE } from './number-and-bytes.js'
import {
  canonicalProblem,
  codeProblem,
  encodingProblem,
  idProblem,
  MARKDOWN_HTML,
  markdownProblem,
  markupProblem,
  oidProblem,
  STRING_MARKUP,
  stringProblem,
  uriProblem,
  uuidProblem,
} from './text.js'

type TextCheck = (text: string, now: Date) => PrimitiveProblem | undefined
type NumberCheck = (source: string) => PrimitiveProblem | undefined

const CHECKS: ReadonlyMap<string, PrimitiveCheck> = new Map<string, PrimitiveCheck>([
  ['boolean', (value) => (typeof value === 'boolean' ? undefined : wrongType(value, 'true or false'))],
  ['base64Binary', onText(base64Problem)],
  ['canonical', onText(canonicalProblem)],
  ['code', onText(codeProblem)],
  ['date', onText(dateProblem)],
  ['dateTime', onText(dateTimeProblem)],
  ['id', onText(idProblem)],
  ['instant', onText(instantProblem)],
  ['markdown', onText(markdownProblem)],
  ['oid', onText(oidProblem)],
  ['string', onText(stringProblem)],
  ['time', onText(timeProblem)],
  ['uri', onText(uriProblem)],
  ['url', onText(uriProblem)],
  ['uuid', onText(uuidProblem)],
  ['decimal', onNumber(decimalProblem)],
  ['integer', onNumber(integerProblem)],
  ['positiveInt', onNumber(positiveIntProblem)],
  ['unsignedInt', onNumber(unsignedIntProblem)],
])

/** Checks the JSON type and the form of a primitive value. False when it is wrong, so that no other rule need check it. */
export function checkPrimitive(run: Run, node: FhirNode): boolean {
  const { value, type } = node
  const source = typeof value === 'number' ? numberTextOf(run, node, value) : ''
  const problem = primitiveCheck(type.name)(value, source, run.now)
  if (problem === undefined) return true
  if (problem === UNDECODABLE && node.parent?.type.name === 'Attachment') {
    const text = `The base64 content in the ${node.slot?.name} element is not valid base64: it cannot be decoded.`
    run.findings.report(ATTACHMENT, node.parent, { text })
    return false
  }
  const severity = isRefused(problem.finding, value, run) ? 'error' : problem.severity
  run.findings.report(problem.finding, node, { ...problem, ...(severity !== undefined && { severity }), fix: fixOf(node, source, run.now) })
  const markup = problem.finding === PRIMITIVE_SPACE && typeof value === 'string' ? markupProblem(value) : undefined
  if (markup !== undefined)
    run.findings.report(STRING_MARKUP, node, { text: markup.text, severity: run.policy.refuses.has('markup') ? 'error' : 'information' })
  if (value === '' && run.policy.checks === 'all')
    run.findings.report(INVARIANT, node, { text: 'ele-1: All FHIR elements must have a @value or children' })
  return problem.severity !== undefined
}

function isRefused(finding: FindingDefinition, value: unknown, { policy: { refuses } }: Run): boolean {
  if (finding === STRING_MARKUP) return refuses.has('markup')
  return finding === MARKDOWN_HTML && (refuses.has('markdown') || (refuses.has('markup') && markupProblem(String(value)) !== undefined))
}

/** The check of values of a primitive type. */
export function primitiveCheck(type: string): PrimitiveCheck {
  return CHECKS.get(type) ?? ANY_TEXT
}

const ANY_TEXT = onText(encodingProblem)

function onText(check: TextCheck): PrimitiveCheck {
  return (value, _source, now) => {
    if (typeof value !== 'string') return wrongType(value, 'a string')
    return value === '' ? { finding: PRIMITIVE_EMPTY, text: 'A value must not be empty.' } : check(value, now)
  }
}

/**
 * A parsed object may contain NaN and infinity, which are not JSON numbers. A number that was written in JSON is one, even if it is too large for
 * JavaScript.
 */
function onNumber(check: NumberCheck): PrimitiveCheck {
  return (value, source) => {
    const isWritten = typeof value === 'number' && (Number.isFinite(value) || /^-?\d/.test(source))
    return isWritten ? check(source) : wrongType(value, 'a number')
  }
}

function wrongType(value: unknown, expected: string): PrimitiveProblem {
  const found = isObject(value) ? 'an object' : typeof value === 'number' && !Number.isFinite(value) ? String(value) : `a ${typeof value}`
  return { finding: PRIMITIVE_TYPE, text: `The value must be ${expected}, not ${found}.` }
}

/** A fix: the same value in a form that the type's check accepts. A blank text is removed. */
function fixOf(node: FhirNode, source: string, now: Date): JsonPatch | undefined {
  const { value, type } = node
  if (typeof value === 'string' && value.trim() === '') return emptyRemoval(node)
  const right = repairsOf(type.name, value, source).find((repair) => primitiveCheck(type.name)(repair, String(repair), now) === undefined)
  return right === undefined ? undefined : replacement(node, right)
}

function emptyRemoval({ parent, slot, index, extra }: FhirNode): JsonPatch | undefined {
  if (parent === undefined || slot === undefined || extra !== undefined) return undefined
  return index < 0 ? removal(parent, slot.jsonName) : itemRemoval(parent, [slot.jsonName, slot.siblingName], index)
}

type Repair = (text: string) => string

const trim: Repair = (text) => text.trim()

/** Repairs of texts by type, in addition to removing white space around them. */
const TEXT_REPAIRS: ReadonlyMap<string, readonly Repair[]> = new Map<string, readonly Repair[]>(
  Object.entries({
    base64Binary: [(text) => text.replace(/\s+/g, '')],
    canonical: [urn, lowerUrn],
    oid: [urn],
    uri: [urn, lowerUrn],
    url: [urn, lowerUrn],
    uuid: [urn, lowerUrn],
  } satisfies Record<string, readonly Repair[]>),
)

function urn(text: string): string {
  return /^(oid|uuid):/.test(text) ? `urn:${text}` : text
}

function lowerUrn(text: string): string {
  const whole = urn(text)
  return whole.startsWith('urn:uuid:') ? whole.toLowerCase() : text
}

/**
 * Values with the same meaning that may have the form of the type; the check of the type decides which does.
 *
 * @param source The number as it was written.
 */
function repairsOf(type: string, value: unknown, source: string): readonly unknown[] {
  if (typeof value === 'number') return [source, value]
  if (typeof value !== 'string') return []
  const text = value.trim()
  const texts = [trim, ...(TEXT_REPAIRS.get(type) ?? [])].map((repair) => repair(text))
  return [...texts, ...typed(text)]
}

/** The JSON value that a text may mean, if it loses no digit. */
function typed(text: string): readonly unknown[] {
  if (text === 'true' || text === 'false') return [text === 'true']
  return String(Number(text)) === text ? [Number(text)] : []
}
