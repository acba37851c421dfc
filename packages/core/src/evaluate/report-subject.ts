import type { Extension, Reference } from 'fhir/r4.js'
import type { Subject } from './subject.js'

/** Types that the subject of an R4 MeasureReport can have. */
const REPORT_SUBJECTS: ReadonlySet<string> = new Set([
  'Patient',
  'Practitioner',
  'PractitionerRole',
  'Location',
  'Device',
  'RelatedPerson',
  'Group',
])

/** The extension for R5's element, for all other types. */
const SUBJECT = 'http://hl7.org/fhir/5.0/StructureDefinition/extension-MeasureReport.subject'

/** The subject of a report, as its element or as an extension. */
export function reportSubject(subject: Subject | undefined): { readonly subject?: Reference; readonly extension: readonly Extension[] } {
  if (subject === undefined) return { extension: [] }
  const reference = { reference: `${subject.type}/${subject.id}` }
  if (REPORT_SUBJECTS.has(subject.type)) return { subject: reference, extension: [] }
  return { extension: [{ url: SUBJECT, valueReference: reference }] }
}
