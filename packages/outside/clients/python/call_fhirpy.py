"""Calls a server with fhirpy; writes a line `call<TAB>answer` for each call."""

import asyncio

from fhirpy import AsyncFHIRClient, SyncFHIRClient
from fhirpy.base.exceptions import AuthorizationError, InvalidResponse, OperationOutcome, ResourceNotFound

from told import BASE, TOKEN, refused, told

client = SyncFHIRClient(BASE, authorization=f"Bearer {TOKEN}")


def patient(family):
    return client.resource("Patient", id=None, name=[{"family": family}], identifier=[{"value": family}])


def created():
    made = client.resource("Patient", name=[{"family": "Made"}], identifier=[{"value": "Made"}])
    made.save()
    return made


made = None


def save():
    global made
    made = created()
    return made.id is not None


def update():
    made["active"] = True
    made.save()
    return made["meta"]["versionId"]


def patched():
    made.patch(birthDate="1980-12-10")
    return made["birthDate"]


def json_patched():
    changed = client.execute(f"Patient/{made.id}", method="patch", data=[{"op": "replace", "path": "/active", "value": False}])
    return changed["active"]


def get_or_create():
    other = client.resource("Patient", name=[{"family": "Made"}], identifier=[{"value": "Made"}])
    _, is_new = client.resources("Patient").search(identifier="Made").get_or_create(other)
    return is_new


async def several():
    others = AsyncFHIRClient(BASE, authorization=f"Bearer {TOKEN}")
    return [item.id async for item in others.resources("Patient").search(family="Lovell")]


def deleted():
    made.delete()
    return "done"


def translated():
    answer = client.execute("ConceptMap/$translate", method="get", params={"url": "http://a.example/cm", "system": "http://a.example/cs", "code": "a"})
    return answer["parameter"][0]["valueBoolean"]


told("resource.save() of a new one", save)
told("resource.save() of one that is there", update)
told("resource.patch()", patched)
told("execute(method='patch')", json_patched)
told("reference().to_resource()", lambda: client.reference("Patient", "p").to_resource()["name"][0]["family"])
told("resources().get()", lambda: client.resources("Patient").search(_id="p").get()["name"][0]["family"])
told("resources().search().first()", lambda: client.resources("Patient").search(family="Lovell").first().id)
told("resources().search().fetch()", lambda: len(client.resources("Patient").search(family="Lovell").fetch()))
told("resources().limit(1).fetch_all()", lambda: len(client.resources("Patient").limit(1).fetch_all()) > 1)
told("resources().count()", lambda: client.resources("Patient").search(family="Lovell").count())
told("resources().search(_summary='count').fetch_raw()", lambda: client.resources("Patient").search(family="Lovell", _summary="count").fetch_raw()["total"])
told("resources().include().fetch_raw()", lambda: len(client.resources("Observation").include("Observation", "subject").fetch_raw()["entry"]))
told("get_or_create()", get_or_create)
told("resource.is_valid()", lambda: client.resource("Patient", active=True).is_valid())
told("resource.is_valid() of what is not", lambda: client.resource("Patient", gender="x").is_valid())
told("resource.execute('$expand')", lambda: client.resource("ValueSet", id="vs").execute("$expand", method="get")["expansion"]["total"])
told("execute('ConceptMap/$translate')", translated)
told("AsyncFHIRClient, async for", lambda: asyncio.run(several()))
told("resource.delete()", deleted)
told("reference().to_resource() of what is deleted", refused(ResourceNotFound, lambda: client.reference("Patient", made.id).to_resource()))
told("an unknown search parameter", refused(OperationOutcome, lambda: client.resources("Patient").search(colour="red").fetch()))
told("a wrong token", refused(AuthorizationError, lambda: SyncFHIRClient(BASE, authorization="Bearer wrong").resources("Patient").fetch()))
