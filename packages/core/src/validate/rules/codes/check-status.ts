import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import { systemNotes, type StatusNote } from '../../../terminology/index.js'
import type { GivenCode } from '../../run/definitions.js'
import type { ElementRule } from '../../run/element-rule.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import type { Run, NodeRule } from '../../run/run.js'
import { boundList } from './bound-codes.js'

const TERMINOLOGY_STATUS: FindingDefinition = defineFinding(
  'terminology-status',
  'information',
  'business-rule',
  'No action needed; check that a draft or withdrawn definition is meant to be used.',
)

/** Code systems and value sets that are drafts, experimental or outdated. */
export const terminologyStatusRule: NodeRule = {
  on: ['CodeableConcept', 'Coding'],
  finds: [TERMINOLOGY_STATUS],
  when: ({ parent, rules }) =>
    parent.name === 'CodeableConcept' ? undefined : (value, run) => isObject(value) && hasNotes(run, value, rules),
  check: checkStatus,
}

/** Outdated value sets to which profiles bind primitive codes. */
export const outdatedValueSetRule: NodeRule = {
  on: ['code'],
  finds: [TERMINOLOGY_STATUS],
  when: ({ rules }) => {
    const stated = rules.filter(isOfProfile)
    return stated.length === 0 ? undefined : (value, run) => outdatedLists(run, stated, value).length > 0
  },
  check: (run, node, rules) => {
    for (const note of outdatedLists(run, rules.filter(isOfProfile), node.value)) report(run, node, note)
  },
}

function isOfProfile({ isBase, bindings }: ElementRule): boolean {
  return !isBase && bindings.length > 0
}

/** Whether there is a note on the system of a Coding, or on one of those in a CodeableConcept. */
function hasNotes(run: Run, value: JsonObject, rules: readonly ElementRule[]): boolean {
  const { coding } = value
  if (notesOn(run, rules, { code: stringAt(value, 'code') ?? '', system: stringAt(value, 'system') }).length > 0) return true
  if (Array.isArray(coding)) for (const one of coding) if (isObject(one) && hasNotes(run, one, rules)) return true
  return false
}

/** Reports the code systems of an element, or value sets that it is bound to, that are drafts, experimental or outdated. */
function checkStatus(run: Run, node: FhirNode, rules: readonly ElementRule[]): void {
  if (node.parent?.type.name === 'CodeableConcept') return
  const { value, type } = node
  if (!isObject(value)) return
  const codings = type.name === 'CodeableConcept' ? objectsAt(value, 'coding') : [value]
  const notes = codings.flatMap((coding) =>
    notesOn(run, rules, { code: stringAt(coding, 'code') ?? '', system: stringAt(coding, 'system') }),
  )
  const once = new Map(notes.map((note) => [`${note.status} ${note.canonical}`, note]))
  for (const note of once.values()) report(run, node, note)
}

function report(run: Run, node: FhirNode, { status, type, canonical }: StatusNote): void {
  run.findings.report(TERMINOLOGY_STATUS, node, { text: `The ${type} ${canonical} is ${STATUSES[status]}.` })
}

/** The outdated value sets to which profiles bind a primitive code. Drafts and experimental ones are not reported, because profiles may try them out. */
function outdatedLists(run: Run, rules: readonly ElementRule[], value: unknown): readonly StatusNote[] {
  return rules.flatMap((rule) =>
    rule.bindings.flatMap(({ valueSet }) => {
      const list = boundList(run, rule, valueSet)
      const notes = list === undefined || list === PENDING ? NONE : list.notes({ code: typeof value === 'string' ? value : '' })
      return notes.filter(({ status, type }) => type === 'ValueSet' && status !== 'draft' && status !== 'experimental')
    }),
  )
}

const STATUSES: Readonly<Record<StatusNote['status'], string>> = {
  draft: 'a draft',
  experimental: 'experimental',
  deprecated: 'deprecated',
  withdrawn: 'withdrawn',
  retired: 'retired',
}

/**
 * A draft value set may use draft systems, so the notes of the bound value sets count, if there are any. A value set that only gives examples is not one that
 * the code has to be in, so its own status does not matter.
 */
function notesOn(run: Run, rules: readonly ElementRule[], { code, system = '' }: GivenCode): readonly StatusNote[] {
  if (system === '') return NONE
  let notes: readonly StatusNote[] = NONE
  let isBound = false
  for (const rule of rules) {
    for (const { valueSet, strength } of rule.bindings) {
      isBound = true
      const list = boundList(run, rule, valueSet)
      const own = list === undefined || list === PENDING ? NONE : list.notes({ code, system })
      if (own.length > 0) notes = [...notes, ...own.filter(({ type }) => type === 'CodeSystem' || strength !== 'example')]
    }
  }
  if (!isBound) notes = notesOnSystem(run, system)
  return notes.length === 0 ? NONE : notes.filter((note) => isOfInterest(run, note))
}

const NONE: readonly StatusNote[] = []

/** Experimental definitions are for trying things out, so they matter only in what is to be published. */
function isOfInterest({ policy }: Run, { status, canonical }: StatusNote): boolean {
  return status === 'experimental' ? policy.forPublication : status !== 'draft' || !canonical.startsWith(COPIED)
}

/** R4 contains copies of the code systems of terminology.hl7.org, most of which were drafts at the time. */
const COPIED = 'http://terminology.hl7.org/'

function notesOnSystem(run: Run, system: string): readonly StatusNote[] {
  const family = run.definitions.codeSystem(system)
  const provider = family === PENDING ? undefined : family.provider()
  return provider === undefined ? [] : systemNotes(provider, { status: 'active', experimental: false })
}
