import { objectAt, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import type { Probe } from './measures.js'

/** Lines of reports of one probe that differ. */
export interface Difference {
  readonly probe: Probe
  /** Lines that only our report has. */
  readonly ours: readonly string[]
  /** Lines that only the reference report has; `failed` for one without counts. */
  readonly reference: readonly string[]
}

/** The reason why two reports differ, and which one is right by the specification. */
export interface Decision {
  readonly name: string
  readonly right: 'ours' | 'theirs' | 'both'
  readonly why: string
  /** Whether a line of a difference is explained. */
  readonly explains: (line: string, difference: Difference) => boolean
}

/** The decisions; the first that explains a line is the reason. "CR" is a requirement of the Quality Measure IG. */
export const DECISIONS: readonly Decision[] = [
  {
    name: 'failure of the program',
    right: 'ours',
    why: 'Null instead of a list has no items (CR 3.10), and an observation that is null does not count (CR 3.14); clinical reasoning ends with an exception there, and where all that could be observed is excluded, or where a stratifier gives a date or an age.',
    explains: (_, { reference }) => reference.length === 1 && reference[0] === 'failed',
  },
  {
    name: 'practitioner',
    right: 'ours',
    why: 'A practitioner limits the report to the patients of that practitioner (R4, evaluate-measure); clinical reasoning counts everybody.',
    explains: (_, { probe }) => probe.call.practitioner !== undefined,
  },
  {
    name: 'supplemental data',
    right: 'ours',
    why: 'Supplemental data is that of the initial population (CR 3.18); clinical reasoning adds up everybody.',
    explains: (line) => line.startsWith('supplement '),
  },
  {
    name: 'numerator of a ratio',
    right: 'ours',
    why: 'The numerator of a ratio need not be in the denominator (CR 3.11); clinical reasoning takes what both have.',
    explains: (line, { probe }) => /numerator|score|measure-observation/.test(line) && hasScoring(probe, 'ratio'),
  },
  {
    name: 'exceptions of the excluded',
    right: 'ours',
    why: 'A subject that is excluded from the denominator is not an exception from it (CR 3.11); clinical reasoning counts both, and subtracts both from the denominator of the score.',
    explains: (line, { probe }) =>
      /denominator-exception|score/.test(line) && JSON.stringify(probe.measure).includes('"denominator-exception"'),
  },
  {
    name: 'observations of subjects',
    right: 'ours',
    why: 'A definition in the context Patient reads the record of that patient; clinical reasoning evaluates an observation without parameter over all of them.',
    explains: (line, { probe }) => /score/.test(line) && JSON.stringify(probe.measure).includes('"Patient Visits"'),
  },
  {
    name: 'aggregate of nothing',
    right: 'both',
    why: 'Nothing was counted 0 times: with the aggregate method count the score is 0, while clinical reasoning has none.',
    explains: (line, { probe }) => line.endsWith('score: 0') && JSON.stringify(probe.measure).includes('"count"'),
  },
  {
    name: 'score of strata',
    right: 'ours',
    why: 'The score of a stratum is made as that of its group (R4, MeasureReport); clinical reasoning has one where the group has none for want of a denominator, and none where an exclusion is null.',
    explains: (line) => line.includes('stratifier') && line.includes('score:'),
  },
  {
    name: 'stratum of null',
    right: 'both',
    why: 'Those without a value are in the stratum of null, so that strata add up to the whole; clinical reasoning leaves out strata of which all components are null.',
    explains: (line) => line.includes(' [] '),
  },
  {
    name: 'expressions',
    right: 'ours',
    why: 'Criteria may be expressions (Using CQL with FHIR, text/cql-expression); clinical reasoning takes them as names and counts nobody.',
    explains: (_, { probe }) => JSON.stringify(probe.measure).includes('"text/cql-expression"'),
  },
  {
    name: 'codes of a concept',
    right: 'both',
    why: 'A stratum is for a value (R4, MeasureReport.group.stratifier.stratum.value), which is a concept with all its codes here; clinical reasoning takes its first code.',
    explains: (_, { probe }) => JSON.stringify(probe.measure).includes('"Problem Code"'),
  },
  {
    name: 'ages not known exactly',
    right: 'ours',
    why: 'The age of somebody of whom only the year of birth is known is one of two numbers (CQL, semantics, Uncertainty); clinical reasoning reports the greater.',
    explains: (_, { probe }) => JSON.stringify(probe.measure).includes('"Years"'),
  },
  {
    name: 'quantities of strata',
    right: 'ours',
    why: 'The value of a stratum is its text; clinical reasoning writes the address of its own object.',
    explains: (_, { probe }) => JSON.stringify(probe.measure).includes('"Last Weight"'),
  },
  {
    name: 'members that left',
    right: 'both',
    why: 'A Group with members that are inactive is refused by name here, because it has to be known when they were members; clinical reasoning counts them.',
    explains: (_, { probe }) => probe.call.subject === 'Group/left',
  },
  {
    name: 'lists of observations',
    right: 'both',
    why: 'Clinical reasoning lists the subjects of observations, which R4 does not ask for.',
    explains: (line) => line.includes('measure-observation'),
  },
]

function hasScoring({ measure }: Probe, scoring: string): boolean {
  return objectsAt(measure, 'group').some((group) =>
    objectsAt(group, 'extension').some((extension) => codeOf(objectAt(extension, 'valueCodeableConcept')) === scoring),
  )
}

function codeOf(concept: JsonObject | undefined): string | undefined {
  return stringAt(objectsAt(concept, 'coding')[0], 'code')
}
