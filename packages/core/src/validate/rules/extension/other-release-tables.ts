/**
 * Content of other releases that R4 does not have: types, and elements of types that R4 has too, by the element that contains them. Their own content is
 * not listed. Taken from the types that `@types/fhir` declares for each release.
 */
interface ReleaseTable {
  /** Names, separated by spaces. */
  readonly types: string
  /** Such as `Account:currency,balance Account.coverage:start`. */
  readonly elements: string
}

/** By the number of the release in urls of extensions. */
export const OTHER_RELEASES: Readonly<Record<string, ReleaseTable>> = {
  '1.0': {
    types:
      'BodySite Conformance DataElement DeviceComponent DeviceUseRequest DiagnosticOrder EligibilityRequest EligibilityResponse ' +
      'ImagingObjectSelection MedicationOrder Order OrderResponse ProcedureRequest ProcessRequest ProcessResponse ReferralRequest',
    elements:
      'Account:activePeriod,currency,balance,coveragePeriod AllergyIntolerance:reporter,substance,status,lastOccurence ' +
      'AllergyIntolerance.reaction:certainty Appointment:type,reason AuditEvent:event,participant,object AuditEvent.source:identifier ' +
      'Binary:content CarePlan:context,modified,support,relatedPlan,participant CarePlan.activity:actionResulting ' +
      'CarePlan.activity.detail:category,prohibited ' +
      'Claim:ruleset,originalRuleset,target,organization,condition,coverage,exception,school,accidentType,interventionException,additionalMaterials,missingTeeth ' +
      'Claim.item:type,provider,diagnosisLinkId,service,serviceDate,points,prosthesis Claim.item.detail:type,service,points ' +
      'Claim.item.detail.subDetail:type,service,points Claim.payee:provider,organization,person ' +
      'ClaimResponse:ruleset,originalRuleset,organization,requestProvider,requestOrganization,totalCost,unallocDeductable,totalBenefit,paymentAdjustment,paymentAdjustmentReason,paymentAmount,paymentRef,reserved,note,coverage ' +
      'ClaimResponse.addItem:sequenceLinkId,service,fee,noteNumberLinkId ClaimResponse.addItem.detail:service,fee ' +
      'ClaimResponse.error:sequenceLinkId,detailSequenceLinkId,subdetailSequenceLinkId ClaimResponse.item:sequenceLinkId ' +
      'ClaimResponse.item.adjudication:code ClaimResponse.item.detail:sequenceLinkId ClaimResponse.item.detail.subDetail:sequenceLinkId ' +
      'ClinicalImpression:patient,trigger,investigations,resolved,ruledOut,prognosis,plan,action ClinicalImpression.finding:item,cause ' +
      'Communication:reason,requestDetail CommunicationRequest:scheduled,reason,requestedOn Composition:class ' +
      'ConceptMap:requirements,element Condition:patient,dateRecorded,notes Contract:action,actionReason,actor,valuedItem,binding ' +
      'Contract.term:subject,actionReason,actor,valuedItem Coverage:issuer,bin,group,plan,subPlan,sequence DetectedIssue:category,date ' +
      'Device:model,expiry,udi DeviceUseStatement:whenUsed,indication,notes DiagnosticReport:request,image,codedDiagnosis ' +
      'DocumentReference:class,created,indexed Encounter:patient,incomingReferral,reason,indication ' +
      'Encounter.hospitalization:admittingDiagnosis,dischargeDiagnosis ' +
      'EnrollmentRequest:ruleset,originalRuleset,target,organization,subject,relationship ' +
      'EnrollmentResponse:ruleset,originalRuleset,requestOrganization EpisodeOfCare:condition,careTeam ' +
      'ExplanationOfBenefit:request,ruleset,originalRuleset,organization,requestProvider,requestOrganization FamilyMemberHistory:gender ' +
      'Goal:status,author,outcome HealthcareService:serviceCategory,serviceType,serviceName,eligibilityNote,programName,publicKey ' +
      'ImagingStudy:patient,uid,accession,order,modalityList,availability,url,procedure ImagingStudy.series:availability,url ' +
      'ImagingStudy.series.instance:type,content Immunization:date,wasNotGiven,reported,requester,explanation,vaccinationProtocol ' +
      'ImmunizationRecommendation.recommendation:date,protocol ImplementationGuide:dependency,package,binary,page Media:subtype ' +
      'Medication:isBrand,product,package ' +
      'MedicationAdministration:patient,practitioner,encounter,prescription,wasNotGiven,reasonNotGiven,reasonGiven,effectiveTime ' +
      'MedicationAdministration.dosage:quantity MedicationDispense:patient,dispenser ' +
      'MedicationStatement:patient,wasNotTaken,reasonNotTaken,reasonForUse,supportingInformation MessageHeader:timestamp,receiver,data ' +
      'NamingSystem:replacedBy Observation:comments,related Observation.referenceRange:meaning ' +
      'OperationDefinition:requirements,idempotent,notes OperationDefinition.parameter:profile Patient:animal,careProvider ' +
      'PaymentNotice:ruleset,originalRuleset,target,organization ' +
      'PaymentReconciliation:ruleset,originalRuleset,organization,requestProvider,requestOrganization,form,total,note ' +
      'PaymentReconciliation.detail:responce Practitioner:practitionerRole ' +
      'Procedure:notPerformed,reasonNotPerformed,reason,request,notes,used Procedure.performer:role Provenance:period ' +
      'Provenance.agent:actor,userId,relatedAgent Provenance.entity:type,reference,display Questionnaire:telecom,group ' +
      'QuestionnaireResponse:group RiskAssessment:date Schedule:type SearchParameter:requirements Slot:type,freeBusyType ' +
      'Specimen:treatment Specimen.collection:comment StructureDefinition:display,requirements,code,constrainedType,contextType,base ' +
      'StructureDefinition.mapping:comments Subscription:tag SupplyDelivery:quantity,whenPrepared,time ' +
      'SupplyRequest:patient,source,date,kind,orderedItem,reason,when TestScript:requirements,multiserver ' +
      'TestScript.metadata.capability:conformance ValueSet:lockedDate,requirements,extensible,codeSystem ValueSet.compose:import ' +
      'VisionPrescription:reason,dispense',
  },
  '3.0': {
    types:
      'BodySite DataElement DeviceComponent EligibilityRequest EligibilityResponse ExpansionProfile ImagingManifest ProcedureRequest ' +
      'ProcessRequest ProcessResponse ReferralRequest Sequence ServiceDefinition',
    elements:
      'Account:period,active,balance ActivityDefinition:contributor ActivityDefinition.dynamicValue:description,language ' +
      'AdverseEvent:type,reaction,eventParticipant,description ' +
      'AdverseEvent.suspectEntity:causalityAssessment,causalityProductRelatedness,causalityMethod,causalityAuthor,causalityResult ' +
      'AllergyIntolerance:assertedDate Appointment:reason,indication,incomingReferral AuditEvent.agent:reference,userId ' +
      'AuditEvent.entity:identifier,reference AuditEvent.source:identifier Binary:content CapabilityStatement:acceptUnknown,profile ' +
      'CapabilityStatement.messaging:event CapabilityStatement.rest.security:certificate CarePlan:definition,context ' +
      'CarePlan.activity.detail:category,definition,prohibited CareTeam:context ChargeItem:definition,participant ' +
      'Claim:organization,information,employmentImpacted,hospitalization ' +
      'Claim.item:careTeamLinkId,diagnosisLinkId,procedureLinkId,informationLinkId,service Claim.item.detail:service ' +
      'Claim.item.detail.subDetail:service ' +
      'ClaimResponse:requestProvider,requestOrganization,totalCost,unallocDeductable,totalBenefit,reserved ' +
      'ClaimResponse.addItem:sequenceLinkId,revenue,category,service,fee ClaimResponse.addItem.detail:revenue,category,service,fee ' +
      'ClaimResponse.error:sequenceLinkId,detailSequenceLinkId,subdetailSequenceLinkId ClaimResponse.insurance:preAuthRef ' +
      'ClaimResponse.item:sequenceLinkId ClaimResponse.item.detail:sequenceLinkId ClaimResponse.item.detail.subDetail:sequenceLinkId ' +
      'ClinicalImpression:context,action ClinicalImpression.finding:item Communication:definition,notDone,notDoneReason,context ' +
      'CommunicationRequest:topic,context CompartmentDefinition:title,jurisdiction Composition:class ' +
      'ConceptMap.group.element.target.dependsOn:code Condition:context,assertedDate ' +
      'Consent:period,consentingParty,actor,action,securityLabel,purpose,dataPeriod,data,except ' +
      'Contract:action,actionReason,decisionType,securityLabel,agent,valuedItem,binding Contract.term:actionReason,agent,valuedItem ' +
      'Coverage:grouping,sequence DetectedIssue:category,date Device:udi,model DeviceRequest:definition,context ' +
      'DeviceUseStatement:whenUsed,indication DiagnosticReport:context,image,codedDiagnosis DocumentReference:class,created,indexed ' +
      'Encounter:incomingReferral,reason Encounter.diagnosis:role EnrollmentRequest:organization,subject ' +
      'EnrollmentResponse:requestOrganization ' +
      'ExplanationOfBenefit:organization,information,employmentImpacted,hospitalization,totalCost,unallocDeductable,totalBenefit ' +
      'ExplanationOfBenefit.addItem:sequenceLinkId,revenue,category,service,fee ' +
      'ExplanationOfBenefit.addItem.detail:revenue,category,service,fee ExplanationOfBenefit.benefitBalance:subCategory ' +
      'ExplanationOfBenefit.item:careTeamLinkId,diagnosisLinkId,procedureLinkId,informationLinkId,service ' +
      'ExplanationOfBenefit.item.detail:type,service ExplanationOfBenefit.item.detail.subDetail:type,service ' +
      'FamilyMemberHistory:definition,notDone,notDoneReason,gender Goal:status GuidanceResponse:requestId,context,reason ' +
      'HealthcareService:eligibilityNote,programName ImagingStudy:uid,accession,availability,modalityList,patient,context,reason ' +
      'ImagingStudy.series:availability Immunization:notGiven,date,practitioner,explanation,vaccinationProtocol ' +
      'ImmunizationRecommendation.recommendation:date,protocol ImplementationGuide:dependency,package,binary,page Library:contributor ' +
      'Measure:contributor,set Measure.group:identifier,name Measure.group.population:identifier,name ' +
      'Measure.group.stratifier:identifier,path Measure.supplementalData:identifier,path ' +
      'MeasureReport:patient,reportingOrganization,evaluatedResources MeasureReport.group:identifier ' +
      'MeasureReport.group.population:identifier,patients MeasureReport.group.stratifier:identifier ' +
      'MeasureReport.group.stratifier.stratum.population:identifier,patients Media:subtype,context,occurrence ' +
      'Medication:isBrand,isOverTheCounter,package,image Medication.ingredient:amount ' +
      'MedicationAdministration:definition,notGiven,reasonNotGiven,prescription MedicationAdministration.performer:onBehalfOf ' +
      'MedicationDispense:notDone,notDoneReason MedicationDispense.performer:onBehalfOf MedicationRequest:definition,context ' +
      'MedicationStatement:taken,reasonNotTaken MessageHeader:receiver,timestamp NamingSystem:replacedBy ' +
      'Observation:context,comment,related OperationDefinition:idempotent OperationDefinition.parameter:profile Patient:animal ' +
      'PaymentNotice:target,organization PaymentReconciliation:organization,requestProvider,requestOrganization,form,total ' +
      'PlanDefinition:contributor PlanDefinition.action:label,triggerDefinition PlanDefinition.action.condition:description,language ' +
      'PlanDefinition.action.dynamicValue:description,language Procedure:definition,notDone,notDoneReason,context ' +
      'Procedure.performer:role Provenance:period Provenance.agent:relatedAgentType Questionnaire.item:options,option ' +
      'Questionnaire.item.enableWhen:hasAnswer QuestionnaireResponse:parent,context QuestionnaireResponse.item:subject ' +
      'RequestGroup:definition,context,reason RequestGroup.action:label RequestGroup.action.condition:description,language ' +
      'ResearchStudy:jurisdiction ResearchStudy.arm:code RiskAssessment:context,reason,comment StructureDefinition:contextType ' +
      'Subscription:tag SupplyRequest:orderedItem,reason Task:definition,context,reason TestScript:rule,ruleset ' +
      'TestScript.setup.action.assert:rule,ruleset ValueSet:extensible VisionPrescription:reason,dispense',
  },
  '4.3': {
    types:
      'AdministrableProductDefinition Citation ClinicalUseDefinition CodeableReference EvidenceReport Ingredient ' +
      'ManufacturedItemDefinition MedicinalProductDefinition NutritionProduct PackagedProductDefinition RegulatedAuthorization ' +
      'SubscriptionStatus SubscriptionTopic SubstanceDefinition',
    elements:
      'Evidence:citeAs,assertion,variableDefinition,synthesisType,studyType,statistic,certainty ' +
      'EvidenceVariable:actual,characteristicCombination,handling,category EvidenceVariable.characteristic:method,device ' +
      'Parameters.parameter:valueContactDetail,valueContributor,valueDataRequirement,valueParameterDefinition,valueRelatedArtifact,valueTriggerDefinition,valueUsageContext ' +
      'ResearchElementDefinition.characteristic:definitionDataRequirement ' +
      'StructureMap.group.rule.source:defaultValueContactDetail,defaultValueContributor,defaultValueDataRequirement,defaultValueParameterDefinition,defaultValueRelatedArtifact,defaultValueTriggerDefinition,defaultValueUsageContext ' +
      'Task.input:valueContactDetail,valueContributor,valueDataRequirement,valueParameterDefinition,valueRelatedArtifact,valueTriggerDefinition,valueUsageContext ' +
      'Task.output:valueContactDetail,valueContributor,valueDataRequirement,valueParameterDefinition,valueRelatedArtifact,valueTriggerDefinition,valueUsageContext',
  },
  '5.0': {
    types:
      'ActorDefinition AdministrableProductDefinition ArtifactAssessment Availability BiologicallyDerivedProductDispense ' +
      'CanonicalResource Citation ClinicalUseDefinition CodeableReference ConditionDefinition DeviceAssociation DeviceDispense ' +
      'DeviceUsage EncounterHistory EvidenceReport ExtendedContactDetail FormularyItem GenomicStudy ImagingSelection Ingredient ' +
      'InventoryItem InventoryReport ManufacturedItemDefinition MedicinalProductDefinition MetadataResource MonetaryComponent ' +
      'NutritionIntake NutritionProduct PackagedProductDefinition Permission RegulatedAuthorization RequestOrchestration Requirements ' +
      'SubscriptionStatus SubscriptionTopic SubstanceDefinition TestPlan Transport VirtualServiceDetail',
    elements:
      'Account:billingStatus,diagnosis,procedure,relatedAccount,currency,balance,calculatedAt ' +
      'ActivityDefinition:versionAlgorithm,copyrightLabel,asNeeded ActivityDefinition.participant:function,typeCanonical,typeReference ' +
      'AdverseEvent:status,code,occurrence,resultingEffect,participant,expectedInResearchStudy,contributingFactor,preventiveAction,mitigatingAction,supportingInfo,note ' +
      'AdverseEvent.suspectEntity.causality:assessmentMethod,entityRelatedness AllergyIntolerance:participant ' +
      'Appointment:cancellationReason,class,reason,replaces,virtualService,previousAppointment,originatingAppointment,account,cancellationDate,note,subject,recurrenceId,occurrenceChanged,recurrenceTemplate ' +
      'AppointmentResponse:proposedNewTime,recurring,occurrenceDate,recurrenceId ' +
      'AuditEvent:category,code,severity,occurred,authorization,basedOn,patient,encounter AuditEvent.agent:authorization ' +
      'AuditEvent.entity:agent ' +
      'BiologicallyDerivedProduct:biologicalSourceEvent,processingFacility,division,productStatus,expirationDate,storageTempRequirements,property ' +
      'BodyStructure:includedStructure,excludedStructure CapabilityStatement:identifier,versionAlgorithm,copyrightLabel,acceptLanguage ' +
      'CapabilityStatement.rest.resource:conditionalPatch CarePlan:custodian ' +
      'CarePlan.activity:performedActivity,plannedActivityReference CareTeam:reason CareTeam.participant:coverage ' +
      'ChargeItem:encounter,unitPriceComponent,totalPriceComponent ChargeItemDefinition:versionAlgorithm,name,purpose,copyrightLabel ' +
      'ChargeItemDefinition.applicability:condition,effectivePeriod,relatedArtifact ' +
      'Claim:traceNumber,encounter,diagnosisRelatedGroup,event,patientPaid Claim.careTeam:specialty ' +
      'Claim.item:traceNumber,productOrServiceEnd,request,patientPaid,tax ' +
      'Claim.item.detail:traceNumber,productOrServiceEnd,patientPaid,tax ' +
      'Claim.item.detail.subDetail:traceNumber,productOrServiceEnd,patientPaid,tax ' +
      'ClaimResponse:traceNumber,decision,event,encounter,diagnosisRelatedGroup ' +
      'ClaimResponse.addItem:traceNumber,revenue,productOrServiceEnd,request,tax,reviewOutcome ' +
      'ClaimResponse.addItem.detail:traceNumber,revenue,productOrServiceEnd,tax,reviewOutcome ' +
      'ClaimResponse.addItem.detail.subDetail:traceNumber,revenue,productOrServiceEnd,tax,reviewOutcome ClaimResponse.error:expression ' +
      'ClaimResponse.item:traceNumber,reviewOutcome ClaimResponse.item.adjudication:quantity ' +
      'ClaimResponse.item.detail:traceNumber,reviewOutcome ClaimResponse.item.detail.subDetail:traceNumber,reviewOutcome ' +
      'ClinicalImpression:performer,changePattern ClinicalImpression.finding:item ' +
      'CodeSystem:versionAlgorithm,copyrightLabel,approvalDate,lastReviewDate,effectivePeriod,topic,author,editor,reviewer,endorser,relatedArtifact ' +
      'CodeSystem.concept.designation:additionalUse Communication:reason CommunicationRequest:intent,informationProvider,reason ' +
      'CompartmentDefinition:versionAlgorithm,title CompartmentDefinition.resource:startParam,endParam ' +
      'Composition:url,version,useContext,name,note ' +
      'ConceptMap:versionAlgorithm,copyrightLabel,approvalDate,lastReviewDate,effectivePeriod,topic,author,editor,reviewer,endorser,relatedArtifact,property,additionalAttribute,sourceScope,targetScope ' +
      'ConceptMap.group.element:valueSet,noMap ConceptMap.group.element.target:valueSet,relationship,property ' +
      'ConceptMap.group.element.target.dependsOn:attribute,valueSet ConceptMap.group.unmapped:valueSet,relationship,otherMap ' +
      'Condition:participant ' +
      'Consent:subject,date,period,grantor,grantee,manager,controller,regulatoryBasis,policyBasis,policyText,decision ' +
      'Consent.provision:documentType,expression Consent.verification:verificationType,verifiedBy ' +
      'Coverage:kind,paymentBy,insurer,insurancePlan Coverage.costToBeneficiary:category,network,unit,term ' +
      'CoverageEligibilityRequest:event CoverageEligibilityResponse:event CoverageEligibilityResponse.error:expression ' +
      'DetectedIssue:category,subject,encounter DetectedIssue.mitigation:note ' +
      'Device:displayName,availabilityStatus,biologicalSourceEvent,name,category,conformsTo,mode,cycle,duration,endpoint,gateway ' +
      'Device.property:value Device.version:installDate ' +
      'DeviceDefinition:description,regulatoryIdentifier,partNumber,classification,conformsTo,hasPart,packaging,link,productionIdentifierInUDI,guideline,correctiveAction,chargeItem ' +
      'DeviceDefinition.property:value DeviceDefinition.udiDeviceIdentifier:marketDistribution DeviceMetric:device,measurementFrequency ' +
      'DeviceRequest:replaces,doNotPerform,quantity,reason,asNeeded,asNeededFor DiagnosticReport:note,study,supportingInfo,composition ' +
      'DocumentReference:version,basedOn,modality,event,bodySite,facilityType,practiceSetting,period,attester ' +
      'DocumentReference.content:profile ' +
      'Encounter:subjectStatus,careTeam,virtualService,actualPeriod,plannedStartDate,plannedEndDate,reason,dietPreference,specialArrangement,specialCourtesy,admission ' +
      'Encounter.location:form Encounter.participant:actor Endpoint:description,environmentType,payload EpisodeOfCare:reason,careTeam ' +
      'EpisodeOfCare.diagnosis:use EventDefinition:versionAlgorithm,copyrightLabel ' +
      'Evidence:versionAlgorithm,citeAs,experimental,purpose,copyrightLabel,assertion,variableDefinition,synthesisType,studyDesign,statistic,certainty ' +
      'EvidenceVariable:versionAlgorithm,experimental,purpose,copyrightLabel,actual,handling,category ' +
      'EvidenceVariable.characteristic:linkId,note,definitionByTypeAndValue,definitionByCombination,instances,duration,timeFromEvent ' +
      'ExampleScenario:versionAlgorithm,title,description,copyrightLabel ExampleScenario.actor:key,title ' +
      'ExampleScenario.instance:key,structureType,structureVersion,structureProfile,title,content ' +
      'ExampleScenario.instance.containedInstance:instanceReference,versionReference ExampleScenario.instance.version:key,title,content ' +
      'ExampleScenario.process.step:number,workflow ExampleScenario.process.step.operation:title ' +
      'ExplanationOfBenefit:traceNumber,event,encounter,decision,diagnosisRelatedGroup,patientPaid ' +
      'ExplanationOfBenefit.addItem:traceNumber,revenue,productOrServiceEnd,request,patientPaid,tax,reviewOutcome ' +
      'ExplanationOfBenefit.addItem.detail:traceNumber,revenue,productOrServiceEnd,patientPaid,tax,reviewOutcome ' +
      'ExplanationOfBenefit.addItem.detail.subDetail:traceNumber,revenue,productOrServiceEnd,patientPaid,tax,reviewOutcome ' +
      'ExplanationOfBenefit.careTeam:specialty ' +
      'ExplanationOfBenefit.item:traceNumber,productOrServiceEnd,request,patientPaid,tax,reviewOutcome ' +
      'ExplanationOfBenefit.item.adjudication:quantity ' +
      'ExplanationOfBenefit.item.detail:traceNumber,productOrServiceEnd,patientPaid,tax,reviewOutcome ' +
      'ExplanationOfBenefit.item.detail.subDetail:traceNumber,productOrServiceEnd,patientPaid,tax,reviewOutcome ' +
      'FamilyMemberHistory:participant,reason,procedure Goal:continuous,source,outcome ' +
      'GraphDefinition:identifier,versionAlgorithm,title,copyright,copyrightLabel,node GraphDefinition.link:sourceId,params,compartment ' +
      'Group:membership,description GuidanceResponse:reason HealthcareService:offeredIn,contact,availability ' +
      'ImagingStudy:partOf,procedure,reason Immunization:basedOn,administeredProduct,supportingInformation,informationSource,reason ' +
      'Immunization.reaction:manifestation ImplementationGuide:identifier,versionAlgorithm,purpose,copyrightLabel ' +
      'ImplementationGuide.definition.page:source ImplementationGuide.definition.resource:isExample,profile ' +
      'ImplementationGuide.dependsOn:reason ImplementationGuide.manifest.resource:isExample,profile Invoice:creation,period ' +
      'Invoice.lineItem:serviced Library:versionAlgorithm,copyrightLabel Location:contact,form,characteristic,virtualService ' +
      'Measure:versionAlgorithm,basis,copyrightLabel,scoringUnit,term ' +
      'Measure.group:linkId,type,subject,basis,scoring,scoringUnit,rateAggregation,improvementNotation,library ' +
      'Measure.group.population:linkId,groupDefinition,inputPopulationId,aggregateMethod ' +
      'Measure.group.stratifier:linkId,groupDefinition Measure.group.stratifier.component:linkId,groupDefinition ' +
      'Measure.supplementalData:linkId MeasureReport:dataUpdateType,reportingVendor,location,inputParameters,scoring,supplementalData ' +
      'MeasureReport.group:linkId,subject MeasureReport.group.population:linkId,subjectReport,subjects ' +
      'MeasureReport.group.stratifier:linkId MeasureReport.group.stratifier.stratum.component:linkId ' +
      'MeasureReport.group.stratifier.stratum.population:linkId,subjectReport,subjects ' +
      'Medication:marketingAuthorizationHolder,doseForm,totalVolume,definition ' +
      'MedicationAdministration:basedOn,encounter,occurence,recorded,isSubPotent,subPotentReason,reason ' +
      'MedicationDispense:basedOn,notPerformedReason,statusChanged,encounter,recorded,renderedDosageInstruction ' +
      'MedicationKnowledge:identifier,author,intendedJurisdiction,name,indicationGuideline,clinicalUseIssue,storageGuideline,definitional ' +
      'MedicationKnowledge.cost:effectiveDate MedicationKnowledge.medicineClassification:source ' +
      'MedicationKnowledge.packaging:cost,packagedProduct ' +
      'MedicationRequest:statusChanged,informationSource,device,reason,renderedDosageInstruction,effectiveDosePeriod ' +
      'MedicationRequest.dispenseRequest:dispenser,dispenserInstruction,doseAdministrationAid ' +
      'MedicationStatement:encounter,reason,relatedClinicalInformation,renderedDosageInstruction,adherence ' +
      'MessageDefinition:versionAlgorithm,copyrightLabel MolecularSequence:subject,focus,literal,formatted,relative ' +
      'NamingSystem:url,identifier,version,versionAlgorithm,title,experimental,purpose,copyright,copyrightLabel,approvalDate,lastReviewDate,effectivePeriod,topic,author,editor,reviewer,endorser,relatedArtifact ' +
      'NamingSystem.uniqueId:authoritative ' +
      'NutritionOrder:basedOn,groupIdentifier,priority,subject,supportingInformation,performer,outsideFoodAllowed ' +
      'NutritionOrder.enteralFormula:deliveryDevice,additive,routeOfAdministration Observation:instantiates,triggeredBy,bodyStructure ' +
      'Observation.referenceRange:normalValue ' +
      'ObservationDefinition:url,version,versionAlgorithm,name,title,status,experimental,date,publisher,contact,description,useContext,jurisdiction,purpose,copyright,copyrightLabel,approvalDate,lastReviewDate,effectivePeriod,subject,performerType,bodySite,specimen,device,permittedUnit,qualifiedValue,hasMember,component ' +
      'OperationDefinition:identifier,versionAlgorithm,copyright,copyrightLabel OperationDefinition.parameter:scope,allowedType ' +
      'Organization:description,qualification OrganizationAffiliation:contact ' +
      'Parameters.parameter:valueContactDetail,valueDataRequirement,valueParameterDefinition,valueRelatedArtifact,valueTriggerDefinition,valueUsageContext ' +
      'PaymentNotice:reporter ' +
      'PaymentReconciliation:type,kind,enterer,issuerType,date,location,method,cardBrand,accountNumber,expirationDate,processor,referenceNumber,authorization,tenderedAmount,returnedAmount,amount,allocation ' +
      'Person:deceased,maritalStatus,communication PlanDefinition:versionAlgorithm,copyrightLabel,actor,asNeeded ' +
      'PlanDefinition.action:linkId,location PlanDefinition.action.participant:actorId,function ' +
      'PlanDefinition.action.relatedAction:targetId,endRelationship Practitioner:deceased ' +
      'PractitionerRole:contact,characteristic,communication,availability ' +
      'Procedure:focus,occurrence,recorded,reported,reason,used,supportingInfo Procedure.performer:period ' +
      'Provenance:authorization,basedOn,patient,encounter Questionnaire:versionAlgorithm,copyrightLabel ' +
      'Questionnaire.item:disabledDisplay,answerConstraint ' +
      'ResearchStudy:url,version,name,label,date,studyDesign,region,descriptionSummary,classifier,associatedParty,progressStatus,whyStopped,recruitment,comparisonGroup,outcomeMeasure,result ' +
      'ResearchStudy.objective:description ResearchSubject:progress,subject,assignedComparisonGroup,actualComparisonGroup ' +
      'RiskAssessment:reason Schedule:name ' +
      'SearchParameter:identifier,versionAlgorithm,title,copyright,copyrightLabel,processingMode,constraint ' +
      'ServiceRequest:focus,location,reason,bodyStructure Specimen:combined,role,feature Specimen.collection:device,procedure ' +
      'Specimen.container:device,location Specimen.processing:method ' +
      'SpecimenDefinition:url,version,versionAlgorithm,name,title,status,experimental,subject,date,publisher,contact,description,useContext,jurisdiction,purpose,copyright,copyrightLabel,approvalDate,lastReviewDate,effectivePeriod ' +
      'SpecimenDefinition.typeTested:singleUse,testingDestination StructureDefinition:versionAlgorithm,copyrightLabel ' +
      'StructureMap:versionAlgorithm,copyrightLabel,const StructureMap.group.rule.dependent:parameter ' +
      'Subscription:identifier,name,topic,managingEntity,filterBy,channelType,endpoint,parameter,heartbeatPeriod,timeout,contentType,content,maxCount ' +
      'Substance:expiry,quantity SubstancePolymer:identifier SubstancePolymer.monomerSet.startingMaterial:code,category ' +
      'SubstancePolymer.repeat.repeatUnit:unit,orientation ' +
      'SubstancePolymer.repeat.repeatUnit.degreeOfPolymerisation:type,average,low,high ' +
      'SubstancePolymer.repeat.repeatUnit.structuralRepresentation:format SupplyRequest:basedOn,deliverFor,reason ' +
      'Task:doNotPerform,requestedPeriod,requestedPerformer,performer,reason ' +
      'Task.input:valueContactDetail,valueDataRequirement,valueParameterDefinition,valueRelatedArtifact,valueTriggerDefinition,valueUsageContext ' +
      'Task.output:valueContactDetail,valueDataRequirement,valueParameterDefinition,valueRelatedArtifact,valueTriggerDefinition,valueUsageContext ' +
      'TerminologyCapabilities:identifier,versionAlgorithm,copyrightLabel TerminologyCapabilities.codeSystem:content ' +
      'TestReport.setup.action.assert:requirement TestScript:versionAlgorithm,copyrightLabel,scope TestScript.destination:url ' +
      'TestScript.origin:url TestScript.setup.action.assert:defaultManualCompletion,stopTestOnFail,requirement ' +
      'ValueSet:versionAlgorithm,copyrightLabel,approvalDate,lastReviewDate,effectivePeriod,topic,author,editor,reviewer,endorser,relatedArtifact,scope ' +
      'ValueSet.compose:property ValueSet.compose.include:copyright ValueSet.compose.include.concept.designation:additionalUse ' +
      'ValueSet.expansion:next,property ValueSet.expansion.contains:property',
  },
}
