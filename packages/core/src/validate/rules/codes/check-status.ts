import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, type JsonObject } from '../../../json/index.js'
import { systemNotes, type StatusNote } from '../../../terminology/index.js'
import type { ElementRule } from '../../run/element-rule.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import type { Run, NodeRule } from '../../run/run.js'
import { boundList, codesOf } from './bound-codes.js'

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
    return stated.length === 0 ? undefined : (_, run) => outdatedLists(run, stated).length > 0
  },
  check: (run, node, rules) => {
    for (const note of outdatedLists(run, rules.filter(isOfProfile))) report(run, node, note)
  },
}

function isOfProfile({ isBase, bindings }: ElementRule): boolean {
  return !isBase && bindings.length > 0
}

/** Whether there is a note on the system of a Coding, or on one of those in a CodeableConcept. */
function hasNotes(run: Run, value: JsonObject, rules: readonly ElementRule[]): boolean {
  const { coding, system } = value
  if (typeof system === 'string' && system !== '' && notesOn(run, system, rules).length > 0) return true
  if (Array.isArray(coding)) for (const one of coding) if (isObject(one) && hasNotes(run, one, rules)) return true
  return false
}

/** Reports the code systems of an element, or value sets that it is bound to, that are drafts, experimental or outdated. */
function checkStatus(run: Run, node: FhirNode, rules: readonly ElementRule[]): void {
  if (node.parent?.type.name === 'CodeableConcept') return
  const systems = new Set(codesOf(node).flatMap(({ system }) => (system === undefined || system === '' ? [] : [system])))
  for (const system of systems) {
    for (const note of notesOn(run, system, rules)) report(run, node, note)
  }
}

function report(run: Run, node: FhirNode, { status, type, canonical }: StatusNote): void {
  run.findings.report(TERMINOLOGY_STATUS, node, { text: `The ${type} ${canonical} is ${STATUSES[status]}.` })
}

/** The outdated value sets to which profiles bind a primitive code. Drafts and experimental ones are not reported, because profiles may try them out. */
function outdatedLists(run: Run, rules: readonly ElementRule[]): readonly StatusNote[] {
  return rules.flatMap((rule) =>
    rule.bindings.flatMap(({ valueSet }) => {
      const list = boundList(run, rule, valueSet)
      const notes = list === undefined || list === PENDING ? NONE : list.notes(NO_SYSTEM)
      return notes.filter(({ status, type }) => type === 'ValueSet' && status !== 'draft' && status !== 'experimental')
    }),
  )
}

const NO_SYSTEM = ''

const STATUSES: Readonly<Record<StatusNote['status'], string>> = {
  draft: 'a draft',
  experimental: 'experimental',
  deprecated: 'deprecated',
  withdrawn: 'withdrawn',
  retired: 'retired',
}

/** A draft value set may use draft systems, so the notes of the bound value sets count, if there are any. */
function notesOn(run: Run, system: string, rules: readonly ElementRule[]): readonly StatusNote[] {
  let notes: readonly StatusNote[] = NONE
  let isBound = false
  for (const rule of rules) {
    for (const { valueSet } of rule.bindings) {
      isBound = true
      const list = boundList(run, rule, valueSet)
      const own = list === undefined || list === PENDING ? NONE : list.notes(system)
      if (own.length > 0) notes = [...notes, ...own]
    }
  }
  if (!isBound) notes = notesOnSystem(run, system)
  return notes.length === 0 ? NONE : notes.filter(({ status, canonical }) => status !== 'draft' || !canonical.startsWith(COPIED))
}

const NONE: readonly StatusNote[] = []

/** R4 contains copies of the code systems of terminology.hl7.org, most of which were drafts at the time. */
const COPIED = 'http://terminology.hl7.org/'

function notesOnSystem(run: Run, system: string): readonly StatusNote[] {
  const family = run.definitions.codeSystem(system)
  const provider = family === PENDING ? undefined : family.provider()
  return provider === undefined ? [] : systemNotes(provider, { status: 'active', experimental: false })
}
