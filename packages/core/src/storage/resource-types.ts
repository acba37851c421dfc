/** The 146 resource types of FHIR 4.0.1. */
const R4_TYPES: string =
  'Account ActivityDefinition AdverseEvent AllergyIntolerance Appointment AppointmentResponse AuditEvent Basic Binary ' +
  'BiologicallyDerivedProduct BodyStructure Bundle CapabilityStatement CarePlan CareTeam CatalogEntry ChargeItem ' +
  'ChargeItemDefinition Claim ClaimResponse ClinicalImpression CodeSystem Communication CommunicationRequest ' +
  'CompartmentDefinition Composition ConceptMap Condition Consent Contract Coverage CoverageEligibilityRequest ' +
  'CoverageEligibilityResponse DetectedIssue Device DeviceDefinition DeviceMetric DeviceRequest DeviceUseStatement ' +
  'DiagnosticReport DocumentManifest DocumentReference EffectEvidenceSynthesis Encounter Endpoint EnrollmentRequest ' +
  'EnrollmentResponse EpisodeOfCare EventDefinition Evidence EvidenceVariable ExampleScenario ExplanationOfBenefit ' +
  'FamilyMemberHistory Flag Goal GraphDefinition Group GuidanceResponse HealthcareService ImagingStudy Immunization ' +
  'ImmunizationEvaluation ImmunizationRecommendation ImplementationGuide InsurancePlan Invoice Library Linkage List ' +
  'Location Measure MeasureReport Media Medication MedicationAdministration MedicationDispense MedicationKnowledge ' +
  'MedicationRequest MedicationStatement MedicinalProduct MedicinalProductAuthorization MedicinalProductContraindication ' +
  'MedicinalProductIndication MedicinalProductIngredient MedicinalProductInteraction MedicinalProductManufactured ' +
  'MedicinalProductPackaged MedicinalProductPharmaceutical MedicinalProductUndesirableEffect MessageDefinition ' +
  'MessageHeader MolecularSequence NamingSystem NutritionOrder Observation ObservationDefinition OperationDefinition ' +
  'OperationOutcome Organization OrganizationAffiliation Parameters Patient PaymentNotice PaymentReconciliation Person ' +
  'PlanDefinition Practitioner PractitionerRole Procedure Provenance Questionnaire QuestionnaireResponse RelatedPerson ' +
  'RequestGroup ResearchDefinition ResearchElementDefinition ResearchStudy ResearchSubject RiskAssessment ' +
  'RiskEvidenceSynthesis Schedule SearchParameter ServiceRequest Slot Specimen SpecimenDefinition StructureDefinition ' +
  'StructureMap Subscription Substance SubstanceNucleicAcid SubstancePolymer SubstanceProtein ' +
  'SubstanceReferenceInformation SubstanceSourceMaterial SubstanceSpecification SupplyDelivery SupplyRequest Task ' +
  'TerminologyCapabilities TestReport TestScript ValueSet VerificationResult VisionPrescription'

const RESOURCE_TYPES: ReadonlySet<string> = /* @__PURE__ */ new Set(/* @__PURE__ */ `${R4_TYPES} Bot`.split(' '))

/** Lists the types that can be stored, in alphabetical order, `Bot` last. */
export function resourceTypes(): readonly string[] {
  return [...RESOURCE_TYPES]
}

/** True for a type that can be stored: one of FHIR 4.0.1, or `Bot` of this project. */
export function isResourceType(type: string): boolean {
  return RESOURCE_TYPES.has(type)
}

/** True for `[A-Za-z0-9\-.]{1,64}`, the form of a FHIR id. */
export function isResourceId(id: string): boolean {
  return /^[A-Za-z0-9\-.]{1,64}$/.test(id)
}
