import { PENDING, type FhirNode } from '../../fhirpath/index.js'
import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from '../../json/index.js'
import type { Profile } from '../run/element-rule.js'
import { defineFinding, type FindingDefinition } from '../run/finding.js'
import type { ResourceRule, Run } from '../run/run.js'

const OBSERVATION_ADVICE: FindingDefinition = defineFinding(
  'observation-advice',
  'warning',
  'invalid',
  'Say whom the observation is about, who made it, and when.',
)

/** Observations, if best practices are checked. */
export const observationRule: ResourceRule = {
  on: ['Observation'],
  finds: [OBSERVATION_ADVICE],
  check: checkObservation,
}

const ADVICE = [
  { has: ['subject'], text: 'Best practice: in general, all observations should have a subject.' },
  { has: ['performer'], text: 'Best practice: in general, all observations should have a performer.' },
  {
    has: ['effectiveDateTime', 'effectivePeriod', 'effectiveTiming', 'effectiveInstant'],
    text: 'Best practice: in general, all observations should have an effective date, period, timing or instant.',
  },
] as const

function checkObservation(run: Run, node: FhirNode): void {
  const { bestPractice } = run.policy
  const { value } = node
  if (bestPractice === 'off' || !isObject(value)) return
  for (const { has, text } of ADVICE) {
    if (has.some((name) => Object.hasOwn(value, name) || Object.hasOwn(value, `_${name}`))) continue
    run.findings.report(OBSERVATION_ADVICE, node, { text, severity: bestPractice })
  }
}

/** A profile that was applied because FHIR requires it for the code of a vital sign. */
export const PROFILE_APPLIED: FindingDefinition = defineFinding(
  'profile-applied',
  'information',
  'informational',
  'No action needed; FHIR requires this profile for the code.',
)

/** The profiles of vital signs, each with the LOINC codes of Observations that must conform to it. */
const BY_LOINC: readonly (readonly [profile: string, codes: string])[] = [
  ['vitalspanel', '85353-1'],
  ['resprate', '9279-1 76170-0 76172-6 76171-8 19840-8 33438-3 76270-8 11291-2'],
  ['heartrate', '8867-4 60978-4 73795-7 73799-9 76476-1 76477-9 8889-8 8890-6 8891-4 8892-2 8893-0'],
  ['heartrate', '40443-4 55425-3 68999-2 11328-2 69000-8 8886-4'],
  ['oxygensat', '2708-6 19224-5 20564-1 2709-4 2710-2 2713-6 51733-4 59408-5 59417-6 89276-0 97549-0'],
  ['bodytemp', '8310-5 60834-9 60835-6 60836-4 60838-0 60955-2 61009-7 75539-7 75987-8 76010-8 76011-6 76278-1'],
  ['bodytemp', '8309-7 8328-7 8329-5 8330-3 8331-1 8332-9 8333-7 8334-5 91371-5 98657-0 98663-8'],
  ['bodyheight', '8302-2 3137-7 3138-5 8306-3 8308-9'],
  ['headcircum', '9843-4 8287-5'],
  ['bodyweight', '29463-7 3141-9 3142-7 75292-3 79348-9 8350-1 8351-9'],
  ['bmi', '39156-5 89270-3'],
  ['bp', '85354-9 35094-2 8459-0 76534-7 55284-4 8480-6'],
]

/** Profiles by `system|code`. */
const PROFILES: ReadonlyMap<string, string> = new Map([
  ...BY_LOINC.flatMap(([profile, codes]) => codes.split(' ').map((code): [string, string] => [`http://loinc.org|${code}`, profile])),
  ['http://snomed.info/sct|276885007', 'bodytemp'],
])

const CATEGORY = 'vital-signs'

/**
 * The vital-signs profile that an Observation must conform to, claimed or not, as a list of at most one. Its category shows that it is a vital sign or,
 * if the policy says so, its code alone. An Observation that was entered in error does not count.
 *
 * @see https://hl7.org/fhir/R4/observation-vitalsigns.html
 */
export function vitalSignsProfile(run: Run, node: FhirNode): readonly Profile[] {
  if (node.type.name !== 'Observation' || !isObject(node.value) || !isVitalSign(run, node.value)) return []
  const key = codesOf(node.value).find((code) => PROFILES.has(code))
  if (key === undefined) return []
  const profile = run.definitions.profile(`http://hl7.org/fhir/StructureDefinition/${PROFILES.get(key)}`)
  if (profile === undefined || profile === PENDING) return []
  run.findings.report(PROFILE_APPLIED, node, {
    text: `Validated against ${profile.url}, which FHIR requires because of the code ${key}.`,
    profile: profile.canonical,
  })
  return [profile]
}

function isVitalSign({ policy }: Run, observation: JsonObject): boolean {
  if (observation['status'] === 'entered-in-error') return false
  if (policy.vitalSigns === 'code') return true
  const categories = objectsAt(observation, 'category').flatMap((concept) => objectsAt(concept, 'coding'))
  return categories.some(({ code }) => code === CATEGORY)
}

function codesOf(observation: JsonObject): readonly string[] {
  return objectsAt(objectAt(observation, 'code'), 'coding').map((coding) => `${stringAt(coding, 'system')}|${stringAt(coding, 'code')}`)
}
