import type { IssueSeverity, OutcomeIssue } from '../../errors/index.js'
import { pathOf, type FhirNode } from '../../fhirpath/index.js'
import { isObject, placeIn, type JsonSource, type TextPlace } from '../../json/index.js'
import type { JsonPatch } from './patch.js'

/** One finding of a validation. */
export interface Finding {
  /** The kind of finding: one of `FINDING_KINDS`, or of a host's own rules. It does not depend on the wording of `text`. */
  readonly kind: string
  readonly severity: IssueSeverity
  /** R4 issue type. */
  readonly code: OutcomeIssue['code']
  /** What is wrong, in a sentence. */
  readonly text: string
  /** FHIRPath of the element, with an index on every repeating element: `Patient.name[0].family`. Absent when the input is not a resource. */
  readonly expression?: string
  /** Canonical of the profile, extension or questionnaire that states the rule; absent for rules of FHIR itself. */
  readonly profile?: string
  /** A question or sentence that helps to correct the resource: `Did you mean 'birthDate'?`. */
  readonly hint?: string
  /**
   * A change to the resource that corrects the finding, present when only one is possible. To apply several to one copy, start with the last, so that
   * indexes stay valid.
   */
  readonly fix?: JsonPatch
  /** From 1; present only when the caller requested places and supplied a text. */
  readonly line?: number
  /** From 1, in UTF-16 code units. */
  readonly column?: number
}

/** A kind of finding, declared next to the rule that reports it. Adding a kind is a minor release, removing one a major. */
export interface FindingDefinition {
  /** The stable name. */
  readonly kind: string
  /** Usual severity; a report may have another. */
  readonly severity: IssueSeverity
  /** Usual issue type of R4; a report may have another. */
  readonly code: OutcomeIssue['code']
  /** What to do about such findings, in a sentence. */
  readonly advice: string
  /** True for findings about the JSON of an element, which do not bear on the profiles that it conforms to. */
  readonly isOfForm?: true
}

/** Declares a kind of finding: its name, usual severity and issue type, and what to do about it. */
export function defineFinding(
  kind: string,
  severity: FindingDefinition['severity'],
  code: FindingDefinition['code'],
  advice: string,
): FindingDefinition {
  return { kind, severity, code, advice }
}

/** Like `defineFinding`, for a kind about the JSON of an element. */
export function defineFormFinding(...definition: Parameters<typeof defineFinding>): FindingDefinition {
  return { ...defineFinding(...definition), isOfForm: true }
}

/** Creates a finding with the usual severity and issue type of its kind, for findings that no rule reports on a node. */
export function findingOf({ kind, severity, code }: FindingDefinition, rest: Omit<Finding, 'kind' | 'severity' | 'code'>): Finding {
  return { kind, severity, code, ...rest }
}

/** True for findings that make a resource invalid. */
export function isError({ severity }: Pick<Finding, 'severity'>): boolean {
  return severity === 'error' || severity === 'fatal'
}

/** Reported when there were too many findings. */
export const FINDINGS_CUT: FindingDefinition = defineFinding(
  'findings-cut',
  'warning',
  'too-costly',
  'Fix the reported findings and validate again.',
)

/** A constraint of a type or profile that an element does not meet. */
export const INVARIANT: FindingDefinition = defineFinding(
  'invariant',
  'error',
  'invariant',
  'Change the elements that the constraint is about so that it is met.',
)

/** What a rule reports about a node. */
export interface Report {
  readonly text: string
  /** Replaces the usual severity of the kind. */
  readonly severity?: Finding['severity']
  /** Replaces the usual issue type of the kind. */
  readonly code?: Finding['code']
  readonly profile?: string
  /** JSON steps from the node to a place that has no node of its own: `foo` or `given[2]`. */
  readonly at?: string
  /** The path to report instead of the node's: that of the element that a profile is about. */
  readonly expression?: string
  /** Offset in the text, when it is known more exactly than that of the node. */
  readonly offset?: number
  readonly hint?: string | undefined
  readonly fix?: JsonPatch | undefined
  /** Finds hint and fix when that is costly; called only for findings that are kept. */
  readonly help?: () => Help
}

/** Help to correct a finding. */
export type Help = Pick<Report, 'hint' | 'fix'>

/** A reserved position in the order of findings, to be filled later. */
interface FindingSection {
  /** Places the findings of `work` here. Returns a promise only if the work does not complete synchronously. */
  readonly fill: (work: () => Promise<void> | undefined) => Promise<void> | undefined
}

/** Collects the findings of one walk, each once. */
export interface FindingSink {
  readonly report: (definition: FindingDefinition, node: FhirNode, report: Report) => void
  /** Reserves the position after the findings reported so far. */
  readonly section: () => FindingSection
  /** In the order of reports and sections. If there were too many, errors are kept before others, and the last finding says that some are omitted. */
  readonly findings: () => readonly Finding[]
  /** Whether errors were reported so far in a resource or in a resource within it, other than about its JSON. */
  readonly hasErrorIn: (resource: FhirNode) => boolean
  /** Number of errors so far. */
  readonly errors: number
  /** True when more errors were reported than the limit allows. */
  readonly isFull: boolean
}

/** Findings in order; a section is a list of its own. */
type Findings = (Finding | Findings)[]

/** Options of `createSink`. */
interface SinkOptions {
  /** Finds line and column; absent when these are not requested. */
  readonly places?: Positions | undefined
  /** Whether a finding is accepted and therefore not reported. */
  readonly hides?: ((finding: Finding) => boolean) | undefined
  /** True to leave out findings about the JSON of elements. */
  readonly hidesForm?: boolean
  /** The configured severity of a kind of finding. */
  readonly severityOf?: ((kind: string) => Finding['severity'] | 'off' | undefined) | undefined
}

/** Creates a sink that keeps at most `limit` findings. */
export function createSink(limit: number, { places, hides, hidesForm, severityOf }: SinkOptions = {}): FindingSink {
  const all: Findings = []
  const seen = new Set<string>()
  let current = all
  let faulty: Set<unknown> | undefined
  // Mutable numbers instead of getters, whose creation takes a tenth of the time of a small resource: bench `validate`.
  const sink: { -readonly [K in keyof FindingSink]: FindingSink[K] } = {
    errors: 0,
    isFull: false,
    report(definition, node, report) {
      if (hidesForm === true && definition.isOfForm === true) return
      const severity = severityOf?.(definition.kind) ?? report.severity ?? definition.severity
      if (severity === 'off' || (isError({ severity }) ? sink.errors : seen.size) > limit) return
      const finding = findingAt(node, definition, { ...report, severity })
      const key = `${finding.kind} ${finding.severity} ${finding.expression} ${finding.text}`
      if (seen.has(key) || hides?.(finding) === true) return
      seen.add(key)
      current.push({ ...finding, ...helpOf(report), ...linesOf(node, report, places) })
      if (!isError(finding)) return
      sink.errors++
      sink.isFull = sink.errors > limit
      if (definition.isOfForm !== true) addResources(node, (faulty ??= new Set()))
    },
    section() {
      const own: Findings = []
      current.push(own)
      return {
        fill(work) {
          const outer = current
          current = own
          const rest = work()
          if (rest === undefined) current = outer
          return rest?.then(() => void (current = outer))
        },
      }
    },
    hasErrorIn: ({ value }) => faulty?.has(value) === true,
    findings: () => cut(flat(all), limit),
  }
  return sink
}

/** Adds all resources that contain a node. */
function addResources(node: FhirNode, into: Set<unknown>): void {
  for (let around: FhirNode | undefined = node; around !== undefined; around = around.parent) {
    if (around.type.kind === 'resource') into.add(around.value)
  }
}

function findingAt(
  node: FhirNode,
  { kind, code: usual }: FindingDefinition,
  { text, at, severity = 'error', code, profile, expression }: Report,
): Finding {
  return {
    kind,
    severity,
    code: code ?? usual,
    text: text.toWellFormed(),
    expression: expression ?? pathOf(node) + (at === undefined ? '' : stepsBelow(node, at)),
    ...(profile !== undefined && { profile }),
  }
}

function helpOf(report: Report): Pick<Finding, 'hint' | 'fix'> {
  const { hint, fix } = report.help?.() ?? report
  return { ...(hint !== undefined && { hint }), ...(fix !== undefined && { fix }) }
}

function linesOf(node: FhirNode, { offset, at }: Report, places: Positions | undefined): Pick<Finding, 'line' | 'column'> | undefined {
  return offset === undefined ? places?.ofNode(node, at) : places?.ofOffset(offset)
}

/** Converts JSON steps to FHIRPath steps, which name choices differently. */
function stepsBelow({ type }: FhirNode, at: string): string {
  if (at.startsWith('[')) return at
  const name = /^\w*/.exec(at)?.[0] ?? ''
  const slot = type.members.get(name)
  return `.${slot?.isChoice === true ? `${slot.name}.ofType(${slot.type})` : name}${at.slice(name.length)}`
}

function flat(findings: Findings): readonly Finding[] {
  const into: Finding[] = []
  addAll(findings, into)
  return into
}

function addAll(findings: Findings, into: Finding[]): void {
  for (const one of findings) {
    if (Array.isArray(one)) addAll(one, into)
    else into.push(one)
  }
}

function cut(all: readonly Finding[], limit: number): readonly Finding[] {
  if (all.length <= limit) return all
  const kept = new Set(all.filter(isError).slice(0, limit))
  for (const finding of all) if (kept.size < limit) kept.add(finding)
  const text = `There are more than ${limit} findings; the rest is omitted.`
  return [...all.filter((finding) => kept.has(finding)), findingOf(FINDINGS_CUT, { text })]
}

/** Finds lines and columns in a text. */
export interface Positions {
  /** Where a node begins, or the value that the steps in `at` lead to below it. */
  readonly ofNode: (node: FhirNode, at: string | undefined) => TextPlace | undefined
  readonly ofOffset: (offset: number) => TextPlace
}

/** Finds places in a text from the positions that its parser recorded. A value without a recorded position has that of the value around it. */
export function positionsIn({ text, start, positions }: JsonSource): Positions {
  const offsetIn = (holder: unknown, key: string | number): number | undefined =>
    typeof holder === 'object' && holder !== null ? positions.get(holder)?.get(key) : undefined
  const offsetOf = (node: FhirNode): number | undefined => {
    const { parent, slot, index } = node
    if (parent === undefined || slot === undefined || !isObject(parent.value)) return start
    const list = parent.value[slot.jsonName] ?? parent.value[slot.siblingName]
    const own = Array.isArray(list) ? offsetIn(list, index) : undefined
    return own ?? offsetIn(parent.value, slot.jsonName) ?? offsetIn(parent.value, slot.siblingName) ?? offsetOf(parent)
  }
  const offsetBelow = (node: FhirNode, at: string): number | undefined => {
    let offset: number | undefined
    let holder: unknown = node.value
    for (const step of at.split(/[.[\]]+/).filter((part) => part !== '')) {
      const key = Array.isArray(holder) ? Number(step) : step
      offset = offsetIn(holder, key) ?? offsetIn(holder, `_${step}`) ?? offset
      holder = Array.isArray(holder) ? holder[Number(step)] : isObject(holder) && Object.hasOwn(holder, step) ? holder[step] : undefined
    }
    return offset
  }
  return {
    ofNode: (node, at) => {
      const offset = (at === undefined ? undefined : offsetBelow(node, at)) ?? offsetOf(node)
      return offset === undefined ? undefined : placeIn(text, offset)
    },
    ofOffset: (offset) => placeIn(text, offset),
  }
}
