/* global FHIR, LForms */
const { base, token, valueSet } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)))
const autocomplete = { coding: [{ system: 'http://hl7.org/fhir/questionnaire-item-control', code: 'autocomplete' }] }
const extension = [
  { url: 'http://hl7.org/fhir/StructureDefinition/questionnaire-itemControl', valueCodeableConcept: autocomplete },
  { url: 'http://hl7.org/fhir/uv/sdc/StructureDefinition/sdc-questionnaire-observationExtract', valueBoolean: true },
]
const code = [{ system: 'http://a.example/questions', code: 'q' }]
const item = [{ linkId: 'code', text: 'Code', type: 'choice', code, answerValueSet: valueSet, extension }]
LForms.Util.setFHIRContext(FHIR.client({ serverUrl: base, tokenResponse: { access_token: token } }))
LForms.Util.addFormToPage({ resourceType: 'Questionnaire', status: 'active', item }, 'form', { fhirVersion: 'R4' }).then(() => {
  document.title = 'ready'
})
