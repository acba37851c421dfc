"""Evaluates expressions with fhirpathpy over what a server answers; writes a line `call<TAB>answer` for each call."""

import requests
from fhirpathpy import compile as compiled, evaluate
from fhirpathpy.models import models

from told import BASE, TOKEN, told

R4 = models["r4"]


def answered(path):
    return requests.get(f"{BASE}/{path}", headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60).json()


told("Patient.name.family", lambda: evaluate(answered("Patient/p"), "Patient.name.family", {}, R4))
told("entry.resource.ofType(Observation).count()", lambda: evaluate(answered("Observation"), "entry.resource.ofType(Observation).count()", {}, R4))
told("parameter.where(name = 'result').value", lambda: evaluate(answered("ConceptMap/$translate?url=http://a.example/cm&system=http://a.example/cs&code=a"), "parameter.where(name = 'result').value", {}, R4))
told("compile", lambda: compiled("expansion.contains.code", R4)(answered("ValueSet/vs/$expand")))
