import { rootNode, type TypeModel } from '../fhirpath/index.js'
import { isObject, type JsonSlip, type JsonSource, type SlipKind } from '../json/index.js'
import { FINDING_KINDS, type FindingKind } from './finding-kinds.js'
import { unknownType } from './rules/structure/resource-type.js'
import type { Positions } from './run/finding-sink.js'
import type { Finding } from './run/finding.js'
import { nodeAlong, type JsonPath } from './run/nodes.js'
import type { Run } from './run/run.js'

interface SlipRow {
  readonly kind: FindingKind
  readonly text: (token: string) => string
}

const ENDS_EARLY = 'The text is not JSON: it ends too early.'

/** Characters that cannot be seen. */
const CHARACTERS: ReadonlyMap<string, string> = new Map([['\uFEFF', 'byte order mark']])

const SLIPS: Readonly<Record<SlipKind, SlipRow>> = {
  comment: { kind: 'json-comment', text: () => 'JSON has no comments.' },
  'comma-missing': { kind: 'json-comma', text: () => 'A comma is missing.' },
  'comma-extra': { kind: 'json-comma', text: () => 'There is a comma too many.' },
  'name-unquoted': { kind: 'json-quotes', text: (token) => `The property name ${token} has no quotes.` },
  'value-unquoted': { kind: 'json-quotes', text: (token) => `The value ${token} has no quotes.` },
  'quote-single': { kind: 'json-quotes', text: () => 'JSON has double quotes, not single ones.' },
  'duplicate-name': { kind: 'json-duplicate', text: (token) => `The property '${token}' is there more than once.` },
  'number-form': { kind: 'json-number', text: (token) => `${token} is not how JSON writes a number.` },
  'control-character': { kind: 'json-string', text: () => 'A string has a control character, which must be escaped.' },
  'escape-invalid': { kind: 'json-string', text: (token) => `A string has an unknown escape ${token}.` },
  unexpected: {
    kind: 'json-fatal',
    text: (token) => (token === '' ? ENDS_EARLY : `The text is not JSON: there is an unexpected ${CHARACTERS.get(token) ?? `'${token}'`}.`),
  },
  unterminated: { kind: 'json-fatal', text: () => ENDS_EARLY },
  'too-deep': { kind: 'json-fatal', text: () => 'The text has too many objects and arrays within each other.' },
  'too-many': { kind: 'json-fatal', text: () => 'The text has too many members or faults.' },
}

const MAX_TOKEN = 100

/** What a text says that cannot be read. */
export function faultFinding(fault: JsonSlip, places: Positions | undefined): Finding {
  return { kind: 'json-fatal', ...FINDING_KINDS['json-fatal'], text: textOf(fault), ...places?.ofOffset(fault.offset) }
}

/** What JSON says that is not a resource. */
export function noResource({ text: source, start }: JsonSource, places: Positions | undefined): Finding {
  const isMarkup = source.charAt(start) === '<'
  const text = isMarkup
    ? 'The content is XML or HTML, not JSON.'
    : 'The content is not a resource: an object with a resourceType is needed.'
  return { kind: 'json-fatal', ...FINDING_KINDS['json-fatal'], text, ...places?.ofOffset(start) }
}

/** What a resource says of a type that FHIR does not have. */
export function noSuchType(
  model: TypeModel,
  { value, start }: JsonSource,
  { type, places }: { type: string; places: Positions | undefined },
): Finding {
  const { text, hint, fix } = unknownType(model, rootNode(model, value))
  return {
    kind: 'unknown-resource-type',
    ...FINDING_KINDS['unknown-resource-type'],
    text,
    expression: type.slice(0, MAX_TOKEN).toWellFormed(),
    ...(hint !== undefined && { hint }),
    ...(fix !== undefined && { fix }),
    ...places?.ofOffset(start),
  }
}

/** Reports the slips of a text that was read in spite of them. */
export function reportSlips(run: Run, slips: readonly JsonSlip[]): void {
  for (const slip of slips) {
    const { node, rest } = nodeAlong(run, run.root, placeOf(slip, run.root.value))
    run.findings.report(SLIPS[slip.kind].kind, node, {
      text: textOf(slip),
      offset: slip.offset,
      ...(rest.length > 0 && { at: steps(rest) }),
    })
  }
}

function textOf({ kind, token }: JsonSlip): string {
  return SLIPS[kind].text(JSON.stringify(token.slice(0, MAX_TOKEN).toWellFormed()).slice(1, -1))
}

/** A value without quotes in a list is named itself, a repeated name too; other slips are those of the nearest object. */
function placeOf({ kind, path, token }: JsonSlip, value: unknown): JsonPath {
  if (kind === 'duplicate-name') return [...path, token]
  if (kind === 'value-unquoted' && typeof path.at(-1) === 'number') return path
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
