import type { Extension, Reference } from 'fhir/r4.js'
import type { Subject } from './subject.js'

/** Types that a MeasureReport of R4 can be about. */
const REPORT_SUBJECTS: ReadonlySet<string> = new Set([
  'Patient',
  'Practitioner',
  'PractitionerRole',
  'Location',
  'Device',
  'RelatedPerson',
  'Group',
])

/** The element of R5, as an extension, for all others. */
const SUBJECT = 'http://hl7.org/fhir/5.0/StructureDefinition/extension-MeasureReport.subject'

/** How a report says whom it is about. */
export function reportSubject(subject: Subject | undefined): { readonly subject?: Reference; readonly extension: readonly Extension[] } {
  if (subject === undefined) return { extension: [] }
  const reference = { reference: `${subject.type}/${subject.id}` }
  if (REPORT_SUBJECTS.has(subject.type)) return { subject: reference, extension: [] }
  return { extension: [{ url: SUBJECT, valueReference: reference }] }
}
