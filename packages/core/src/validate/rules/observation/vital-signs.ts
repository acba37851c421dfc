import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import type { Profile } from '../../profile/element-rule.js'
import type { Run } from '../../walk/run.js'

const LOINC = 'http://loinc.org'
const SNOMED = 'http://snomed.info/sct'

/** Codes of vital signs by `system|code`, each with the profile of the specification that such an Observation must conform to. */
const PROFILES: ReadonlyMap<string, string> = new Map([
  [`${LOINC}|85353-1`, 'vitalspanel'],
  [`${LOINC}|9279-1`, 'resprate'],
  [`${LOINC}|8867-4`, 'heartrate'],
  [`${LOINC}|2708-6`, 'oxygensat'],
  [`${LOINC}|59408-5`, 'oxygensat'],
  [`${LOINC}|8310-5`, 'bodytemp'],
  [`${SNOMED}|276885007`, 'bodytemp'],
  [`${LOINC}|8302-2`, 'bodyheight'],
  [`${LOINC}|9843-4`, 'headcircum'],
  [`${LOINC}|29463-7`, 'bodyweight'],
  [`${LOINC}|39156-5`, 'bmi'],
  [`${LOINC}|85354-9`, 'bp'],
  [`${LOINC}|76534-7`, 'bp'],
])

const CATEGORY = 'vital-signs'

/**
 * The vital-signs profile that an Observation of this category must conform to whether it claims it or not, as a list of at most one.
 * What was entered in error is no vital sign.
 *
 * @see https://hl7.org/fhir/R4/observation-vitalsigns.html
 */
export function vitalSignsProfile(run: Run, node: FhirNode): readonly Profile[] {
  if (node.type.name !== 'Observation' || !isObject(node.value) || !isVitalSign(node.value)) return []
  const key = codesOf(node.value).find((code) => PROFILES.has(code))
  if (key === undefined) return []
  const profile = run.facts.profile(`http://hl7.org/fhir/StructureDefinition/${PROFILES.get(key)}`)
  if (profile === undefined || profile === PENDING) return []
  run.sink.report('profile-applied', node, {
    text: `This is checked against ${profile.url}, which FHIR requires because of the code ${key}.`,
    profile: profile.canonical,
  })
  return [profile]
}

function isVitalSign(observation: JsonObject): boolean {
  const categories = objectsAt(observation, 'category').flatMap((concept) => objectsAt(concept, 'coding'))
  return observation['status'] !== 'entered-in-error' && categories.some(({ code }) => code === CATEGORY)
}

function codesOf(observation: JsonObject): readonly string[] {
  return objectsAt(objectAt(observation, 'code'), 'coding').map((coding) => `${stringAt(coding, 'system')}|${stringAt(coding, 'code')}`)
}
