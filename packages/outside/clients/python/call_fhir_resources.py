"""Parses what a server answers with fhir.resources, and sends what that makes; writes a line `call<TAB>answer` for each call."""

from decimal import Decimal

import requests
from fhir.resources.R4B import get_fhir_model_class
from fhir.resources.R4B.bundle import Bundle
from fhir.resources.R4B.capabilitystatement import CapabilityStatement
from fhir.resources.R4B.observation import Observation
from fhir.resources.R4B.operationoutcome import OperationOutcome
from fhir.resources.R4B.parameters import Parameters
from fhir.resources.R4B.patient import Patient
from fhir.resources.R4B.structuredefinition import StructureDefinition
from fhir.resources.R4B.valueset import ValueSet

from told import BASE, TOKEN, told

calls = requests.Session()
calls.headers["Authorization"] = f"Bearer {TOKEN}"
FHIR = {"Content-Type": "application/fhir+json"}


def parsed(path):
    answer = calls.get(f"{BASE}/{path}")
    return get_fhir_model_class(answer.json()["resourceType"]).model_validate_json(answer.text)


def sent(resource, path=None):
    answer = calls.post(f"{BASE}/{resource.get_resource_type() if path is None else path}", data=resource.model_dump_json(), headers=FHIR)
    return answer.status_code, answer.text


def created():
    status, text = sent(Patient(name=[{"family": "Made", "given": ["Ada"]}], birthDate="1980-12-10"))
    return status, Patient.model_validate_json(text).birthDate.isoformat()


def precise():
    value = {"value": Decimal("3.14"), "unit": "mmol/L", "system": "http://unitsofmeasure.org", "code": "mmol/L"}
    _, text = sent(Observation(status="final", code={"text": "x"}, effectiveDateTime="2026-02-03T09:30:00+01:00", valueQuantity=value))
    return Observation.model_validate_json(text).valueQuantity.value


def translated():
    asked = [{"name": "url", "valueUri": "http://a.example/cm"}, {"name": "system", "valueUri": "http://a.example/cs"}, {"name": "code", "valueCode": "a"}]
    _, text = sent(Parameters(parameter=asked), "ConceptMap/$translate")
    return Parameters.model_validate_json(text).parameter[0].valueBoolean


def transaction():
    entry = {"request": {"method": "POST", "url": "Patient"}, "resource": Patient(name=[{"family": "Batch"}])}
    status, text = sent(Bundle(type="transaction", entry=[entry]), "")
    return status, Bundle.model_validate_json(text).entry[0].response.status


def outcome():
    status, text = sent(Patient(name=[{"family": "Made"}]), "Observation")
    return status, OperationOutcome.model_validate_json(text).issue[0].severity


def validated():
    _, text = sent(Patient(gender="unknown", active=True), "Patient/$validate")
    return OperationOutcome.model_validate_json(text).issue[0].severity


told("Patient", lambda: parsed("Patient/p").name[0].family)
told("Bundle of a search", lambda: parsed("Observation?_include=Observation:subject").total)
told("Bundle of a history", lambda: parsed("Patient/p/_history").type)
told("CapabilityStatement", lambda: isinstance(parsed("metadata"), CapabilityStatement))
told("StructureDefinition of R4", lambda: isinstance(parsed("StructureDefinition/Patient"), StructureDefinition))
told("ValueSet of $expand", lambda: isinstance(parsed("ValueSet/vs/$expand"), ValueSet))
told("MeasureReport of $evaluate-measure", lambda: parsed("Measure/m/$evaluate-measure?periodStart=2026&periodEnd=2026").status)
told("Library of $data-requirements", lambda: parsed("Measure/m/$data-requirements?periodStart=2026&periodEnd=2026").type.coding[0].code)
told("a Patient that is made and sent", created)
told("a decimal and an instant with an offset, sent and read", precise)
told("Parameters for $translate, and of its answer", translated)
told("a transaction", transaction)
told("$validate", validated)
told("OperationOutcome of a refusal", outcome)
