import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { systemNotes, type StatusNote } from '../../../terminology/index.js'
import type { ElementRule } from '../../run/element-rule.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import type { Run, NodeRule } from '../../run/run.js'
import { boundLists, codesOf } from './bound-codes.js'

const TERMINOLOGY_STATUS: FindingDefinition = defineFinding(
  'terminology-status',
  'information',
  'business-rule',
  'No action needed; check that a draft or withdrawn definition is meant to be used.',
)

/** Drafts, experiments and outdated definitions behind codes. */
export const terminologyStatusRule: NodeRule = {
  on: ['CodeableConcept', 'Coding'],
  finds: [TERMINOLOGY_STATUS],
  check: checkStatus,
}

/** Notes that the code systems of an element, or the value sets that it is bound to, are drafts, experiments, or should not be used any more. */
function checkStatus(run: Run, node: FhirNode, rules: readonly ElementRule[]): void {
  if (node.parent?.type.name === 'CodeableConcept') return
  const systems = new Set(codesOf(node).flatMap(({ system }) => (system === undefined || system === '' ? [] : [system])))
  for (const system of systems) {
    for (const { status, type, canonical } of notesOn(run, system, rules)) {
      run.findings.report(TERMINOLOGY_STATUS, node, { text: `The ${type} ${canonical} is ${STATUSES[status]}.` })
    }
  }
}

const STATUSES: Readonly<Record<StatusNote['status'], string>> = {
  draft: 'a draft',
  experimental: 'experimental',
  deprecated: 'deprecated',
  withdrawn: 'withdrawn',
  retired: 'retired',
}

/** A draft value set may use draft systems, so a binding decides what is worth a note. */
function notesOn(run: Run, system: string, rules: readonly ElementRule[]): readonly StatusNote[] {
  const lists = boundLists(run, rules)
  const isBound = rules.some(({ bindings }) => bindings.length > 0)
  const notes = isBound ? lists.flatMap((list) => list.notes(system)) : notesOnSystem(run, system)
  return notes.filter(({ status, canonical }) => status !== 'draft' || !canonical.startsWith(COPIED))
}

/** R4 has copies of the code systems of terminology.hl7.org, as the drafts that most of them were at the time. */
const COPIED = 'http://terminology.hl7.org/'

function notesOnSystem(run: Run, system: string): readonly StatusNote[] {
  const family = run.definitions.codeSystem(system)
  const provider = family === PENDING ? undefined : family.provider()
  return provider === undefined ? [] : systemNotes(provider, { status: 'active', experimental: false })
}
