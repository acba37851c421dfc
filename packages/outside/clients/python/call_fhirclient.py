"""Calls a server with fhirclient, SMART's client; writes a line `call<TAB>answer` for each call."""

from fhirclient import client
from fhirclient.models.bundle import Bundle, BundleEntry, BundleEntryRequest
from fhirclient.models.fhirdate import FHIRDate
from fhirclient.models.humanname import HumanName
from fhirclient.models.observation import Observation
from fhirclient.models.parameters import Parameters
from fhirclient.models.patient import Patient
from fhirclient.models.valueset import ValueSet
from fhirclient.server import FHIRNotFoundException, FHIRUnauthorizedException

from told import BASE, TOKEN, refused, told

smart = client.FHIRClient(settings={"app_id": "clinic", "api_base": BASE, "redirect_uri": "http://127.0.0.1/back"})
server = smart.server
made = Patient()


def prepared():
    smart.prepare()
    return server.capabilityStatement.fhirVersion


def provider():
    return smart.authorize_url.split("?")[0]


def signed():
    # What `handle_callback` sets once the provider has given a token.
    server.auth.access_token = TOKEN
    return smart.ready


def created():
    made.name = [HumanName({"family": "Made", "given": ["Ada"]})]
    made.birthDate = FHIRDate("1980-12-10")
    return made.create(server) is not None


def updated():
    found = Patient.read(server_id(), server)
    found.active = True
    return found.update(server)["meta"]["versionId"]


def server_id():
    return Patient.where({"family": "Made"}).perform_resources(server)[0].id


def paged():
    pages = Patient.where({"_count": "1"}).perform_resources_iter(server)
    return len({one.id for one in pages}) > 1


def transaction():
    entry = BundleEntry()
    entry.request = BundleEntryRequest({"method": "POST", "url": "Patient"})
    entry.resource = Patient({"name": [{"family": "Batch"}]})
    bundle = Bundle({"type": "transaction"})
    bundle.entry = [entry]
    answer = server.post_json("", bundle.as_json()).json()
    return Bundle(answer).entry[0].response.status


def translated():
    answer = server.request_json("ConceptMap/$translate?url=http://a.example/cm&system=http://a.example/cs&code=a")
    return Parameters(answer).parameter[0].valueBoolean


def wrong_token():
    other = client.FHIRClient(settings={"app_id": "clinic", "api_base": BASE})
    other.prepare()
    other.server.auth.access_token = "wrong"
    Patient.read("p", other.server)


def deleted():
    found = Patient.read(server_id(), server)
    found.delete(server)
    return "done"


told("prepare(), capabilityStatement", prepared)
told("authorize_url", provider)
told("ready, with a token", signed)
told("Patient.read()", lambda: Patient.read("p", server).name[0].family)
told("create()", created)
told("update()", updated)
told("where().perform_resources()", lambda: len(Observation.where({"subject": "Patient/p"}).perform_resources(server)))
told("where().perform_resources_iter(), all pages", paged)
told("where().include()", lambda: len(Observation.where({}).include("subject").perform(server).entry))
told("reference.resolved()", lambda: Observation.read("o", server).subject.resolved(Patient).name[0].family)
told("a transaction as Bundle", transaction)
told("ValueSet of $expand", lambda: ValueSet(server.request_json("ValueSet/vs/$expand")).expansion.total)
told("Parameters of $translate", translated)
told("delete()", deleted)
told("read() of what is not there", refused(FHIRNotFoundException, lambda: Patient.read("none", server)))
told("a wrong token", refused(FHIRUnauthorizedException, wrong_token))
