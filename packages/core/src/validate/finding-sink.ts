import { pathOf, type FhirNode } from '../fhirpath/index.js'
import type { Finding } from './finding.js'
import { FINDING_KINDS, type FindingKind } from './finding-kinds.js'

/** What a rule says about a node. */
export interface Report {
  readonly text: string
  /** In place of the usual severity of the kind. */
  readonly severity?: Finding['severity']
  /** In place of the usual issue type of the kind. */
  readonly code?: Finding['code']
  readonly profile?: string
  /** Further steps below the node, for what has no node of its own: `foo` or `given[2]`. */
  readonly at?: string
}

/** Takes the findings of one walk, each once. */
export interface FindingSink {
  readonly report: (kind: FindingKind, node: FhirNode, report: Report) => void
  /** In the order of the reports; when there were too many, errors come before others in what is kept, and the last finding says so. */
  readonly findings: () => readonly Finding[]
  /** Number of errors so far. */
  readonly errors: number
  /** True when there are as many errors as may be said. */
  readonly isFull: boolean
}

/** Makes a sink that keeps at most `limit` findings. */
export function createSink(limit: number): FindingSink {
  const errors = new Map<string, Finding>()
  const all = new Map<string, Finding>()
  return {
    report(kind, node, { text, at, profile, ...usual }) {
      const { severity, code } = { ...FINDING_KINDS[kind], ...usual }
      const expression = at === undefined ? pathOf(node) : `${pathOf(node)}${at.startsWith('[') ? '' : '.'}${at}`
      const key = `${kind} ${severity} ${expression} ${text}`
      if (all.has(key)) return
      const finding = { kind, severity, code, text, expression, ...(profile !== undefined && { profile }) }
      const isError = severity === 'error' || severity === 'fatal'
      if (isError) errors.set(key, finding)
      if (isError || all.size <= limit) all.set(key, finding)
    },
    findings: () => (all.size > limit ? cut([...errors.values()], [...all.values()], limit) : [...all.values()]),
    get errors() {
      return errors.size
    },
    get isFull() {
      return errors.size > limit
    },
  }
}

function cut(errors: readonly Finding[], all: readonly Finding[], limit: number): readonly Finding[] {
  const kept = new Set(errors.slice(0, limit))
  for (const finding of all) if (kept.size < limit) kept.add(finding)
  return [
    ...all.filter((finding) => kept.has(finding)),
    { kind: 'findings-cut', ...FINDING_KINDS['findings-cut'], text: `There are more than ${limit} findings; the rest is left out.` },
  ]
}
