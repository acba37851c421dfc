import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { createContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { validate } from 'fhir-ops/validate'
import { r4 } from '@fhir-ops/r4'

const require = createRequire(fileURLToPath(new URL('../../../r4/package.json', import.meta.url)))
/** The definitions of R4 as they are published. */
const FOLDER = dirname(require.resolve('hl7.fhir.r4.examples/package.json'))
const TYPES = [
  'StructureDefinition',
  'ValueSet',
  'CodeSystem',
  'SearchParameter',
  'OperationDefinition',
  'ConceptMap',
  'CapabilityStatement',
]

/** Errors of the release itself: what is wrong, by kind of finding, and in which files. */
const FAULTS: readonly { readonly kind: string; readonly what: string; readonly files: readonly string[] }[] = [
  {
    kind: 'capability-search',
    what: 'states another type than the search parameter has',
    files: [
      'CapabilityStatement-base',
      'CapabilityStatement-knowledge-repository',
      'CapabilityStatement-measure-processor',
      'CapabilityStatement-terminology-server',
    ],
  },
  {
    kind: 'code-system-property',
    what: 'declares a property twice, or with a uri that is none of FHIR',
    files: ['CodeSystem-snomedct', 'CodeSystem-v3-AddressPartType'],
  },
  {
    kind: 'concept-map-code',
    what: 'maps codes that the complete code system or the value set of the map does not have',
    files: [
      'ConceptMap-cm-administrative-gender-v3',
      'ConceptMap-sc-appointmentstatus',
      'ConceptMap-sc-clinicalimpression-status',
      'ConceptMap-sc-condition-ver-status',
      'ConceptMap-sc-contract-publicationstatus',
      'ConceptMap-sc-contract-status',
      'ConceptMap-sc-diagnostic-report-status',
      'ConceptMap-sc-goal-achievement',
      'ConceptMap-sc-medication-admin-status',
      'ConceptMap-sc-medication-statement-status',
      'ConceptMap-sc-medicationdispense-status',
      'ConceptMap-sc-observation-status',
      'ConceptMap-sc-participationstatus',
      'ConceptMap-sc-publication-status',
      'ConceptMap-sc-research-study-status',
      'ConceptMap-sc-research-subject-status',
      'ConceptMap-sc-subscription-status',
      'ConceptMap-sc-verificationresult-status',
      'ValueSet-nhin-purposeofuse',
    ],
  },
  {
    kind: 'definition-base',
    what: 'is of another kind than its base',
    files: ['StructureDefinition-example-composition', 'StructureDefinition-example-section-library'],
  },
  { kind: 'definition-binding', what: 'binds to a code system', files: ['StructureDefinition-ExplanationOfBenefit'] },
  {
    kind: 'definition-expression',
    what: 'has a constraint on an element that the type does not have',
    files: ['StructureDefinition-ChargeItemDefinition', 'StructureDefinition-allergyintolerance-substanceExposureRisk'],
  },
  {
    kind: 'definition-slicing',
    what: 'names slices of what is not sliced',
    files: ['StructureDefinition-catalog', 'StructureDefinition-familymemberhistory-genetic'],
  },
  { kind: 'extension-context', what: 'uses an extension of value sets', files: ['CodeSystem-dicom-dcim'] },
  {
    kind: 'id-form',
    what: 'has an id of more than 64 characters',
    files: ['SearchParameter-questionnaireresponse-extensions-QuestionnaireResponse-item-subject'],
  },
  { kind: 'identifier', what: 'has an example identifier that is not a URI', files: ['StructureDefinition-Consent'] },
  {
    kind: 'invariant',
    what: 'is a pattern without a base',
    files: ['StructureDefinition-Definition', 'StructureDefinition-Event', 'StructureDefinition-FiveWs', 'StructureDefinition-Request'],
  },
  {
    kind: 'narrative',
    what: 'has links or markup that are not allowed',
    files: [
      'CodeSystem-v3-ActCode',
      'CodeSystem-v3-ActReason',
      'CodeSystem-v3-ActRelationshipType',
      'CodeSystem-v3-CalendarCycle',
      'CodeSystem-v3-ContextControl',
      'CodeSystem-v3-EntityCode',
      'CodeSystem-v3-EntityNamePartQualifier',
      'CodeSystem-v3-NullFlavor',
      'CodeSystem-v3-ObservationInterpretation',
      'CodeSystem-v3-RoleCode',
      'CodeSystem-v3-RouteOfAdministration',
      'CodeSystem-v3-hl7Realm',
      'CodeSystem-v3-orderableDrugForm',
      'ValueSet-v3-ActCode',
      'ValueSet-v3-ActReason',
      'ValueSet-v3-ActRelationshipType',
      'ValueSet-v3-CalendarCycle',
      'ValueSet-v3-ContextControl',
      'ValueSet-v3-EntityCode',
      'ValueSet-v3-EntityNamePartQualifier',
      'ValueSet-v3-NullFlavor',
      'ValueSet-v3-ObservationInterpretation',
      'ValueSet-v3-RoleCode',
      'ValueSet-v3-RouteOfAdministration',
      'ValueSet-v3-hl7Realm',
      'ValueSet-v3-orderableDrugForm',
    ],
  },
  { kind: 'primitive-form', what: 'has codes with white space', files: ['CodeSystem-v2-0550'] },
  { kind: 'search-parameter-expression', what: 'starts from a type that is not a base', files: ['SearchParameter-example-extension'] },
  {
    kind: 'too-few',
    what: 'has no base',
    files: [
      'SearchParameter-codesystem-extensions-CodeSystem-author',
      'SearchParameter-codesystem-extensions-CodeSystem-effective',
      'SearchParameter-codesystem-extensions-CodeSystem-end',
      'SearchParameter-codesystem-extensions-CodeSystem-keyword',
      'SearchParameter-codesystem-extensions-CodeSystem-workflow',
      'SearchParameter-valueset-extensions-ValueSet-author',
      'SearchParameter-valueset-extensions-ValueSet-effective',
      'SearchParameter-valueset-extensions-ValueSet-end',
      'SearchParameter-valueset-extensions-ValueSet-keyword',
      'SearchParameter-valueset-extensions-ValueSet-workflow',
    ],
  },
  {
    kind: 'uri-form',
    what: 'refers by relative URLs',
    files: [
      'CapabilityStatement-example',
      'CapabilityStatement-knowledge-repository',
      'CapabilityStatement-measure-processor',
      'CapabilityStatement-messagedefinition',
      'CapabilityStatement-terminology-server',
      'OperationDefinition-example',
    ],
  },
  {
    kind: 'value-set-system',
    what: 'writes versions into systems, or refers to a contained system',
    files: [
      'ValueSet-example-hierarchical',
      'ValueSet-v2-2.1-0006',
      'ValueSet-v2-2.3.1-0360',
      'ValueSet-v2-2.4-0006',
      'ValueSet-v2-2.4-0391',
      'ValueSet-v2-2.6-0391',
      'ValueSet-v2-2.7-0360',
    ],
  },
]

test.each(TYPES)('the definitions of R4 have no errors but those that are known: %s', async (type) => {
  const ctx = createContext({ ...r4(), storage: memoryStorage(), limits: { operationTimeoutMs: 120_000 } })
  const faults: string[] = []
  for (const file of readdirSync(FOLDER).filter((name) => name.startsWith(`${type}-`))) {
    const { findings } = await validate(ctx, { resource: readFileSync(join(FOLDER, file), 'utf8') })
    const errors = findings.filter(({ severity }) => severity === 'error' || severity === 'fatal')
    faults.push(...new Set(errors.map(({ kind }) => `${file} ${kind}`)))
    if (process.env['SHOW_FAULTS'] !== undefined)
      for (const { kind, expression, text } of errors) process.stdout.write(`${file} ${kind} ${expression}: ${text}\n`)
  }
  const known = FAULTS.flatMap(({ kind, files }) => files.map((name) => `${name}.json ${kind}`))
  expect([...new Set(faults)].toSorted()).toEqual(known.filter((fault) => fault.startsWith(`${type}-`)).toSorted())
})
