"""Calls a server with pymedplum; writes a line `call<TAB>answer` for each call."""

import asyncio

from pymedplum import (
    AsyncMedplumClient,
    AuthenticationError,
    BadRequestError,
    GoneError,
    MedplumClient,
    NotFoundError,
    PreconditionFailedError,
)

from told import BASE, TOKEN, refused, told

HOST = BASE.removesuffix("fhir/R4")
SYSTEM, VALUE_SET = "http://a.example/cs", "http://a.example/vs"


def client(token=TOKEN):
    return MedplumClient(HOST, access_token=token, allow_insecure_http=True)


medplum = client()
made = {}


def create():
    made.update(medplum.create_resource({"resourceType": "Patient", "name": [{"family": "Made"}]}))
    return made["name"][0]["family"]


def create_if_none_exist():
    found = medplum.create_resource_if_none_exist({"resourceType": "Patient"}, "family=Lovell")
    return found["id"]


def update():
    made.update(medplum.update_resource({**made, "active": True}))
    return made["meta"]["versionId"]


def update_with_retry():
    result = medplum.update_with_retry("Patient", made["id"], lambda one: {**one, "gender": "female"})
    return result.resource["gender"]


def patch():
    operations = [{"op": "replace", "path": "/active", "value": False}]
    return medplum.patch_resource("Patient", made["id"], operations)["active"]


def conditional_create_batch():
    entries = [({"resourceType": "Patient", "identifier": [{"system": "urn:s", "value": "1"}]}, "identifier=urn:s|1")]
    first, second = (medplum.conditional_create_batch(entries) for _ in range(2))
    return len(first.created), len(second.existed)


def with_options():
    found = medplum.search_with_options(
        "Observation",
        {"subject": "Patient/p"},
        total="accurate",
        count=5,
        sort="-_lastUpdated",
        include="Observation:subject",
        return_bundle=True,
    )
    return found.get_total(), len(found)


def bundle(kind):
    return {
        "resourceType": "Bundle",
        "type": kind,
        "entry": [{"request": {"method": "GET", "url": "Patient/p"}}],
    }


def binary():
    sent = medplum.upload_binary(b"a letter", "text/plain")
    return medplum.download_binary(sent["id"])


def document():
    sent = medplum.upload_binary(b"a letter", "text/plain")
    made_of = medplum.create_document_reference("p", sent["id"], "text/plain", "A letter")
    return made_of["resourceType"]


def deleted():
    medplum.delete_resource("Patient", made["id"])
    return "done"


def parameter(answer, name):
    return next((one for one in answer["parameter"] if one["name"] == name), None)


async def read_async():
    async with AsyncMedplumClient(HOST, access_token=TOKEN, allow_insecure_http=True) as other:
        return (await other.read_resource("Patient", "p"))["name"][0]["family"]


told("create_resource", create)
told("create_resource_if_none_exist", create_if_none_exist)
told("read_resource", lambda: medplum.read_resource("Patient", "p")["name"][0]["family"])
told("update_resource", update)
told("update_resource of another version", refused(PreconditionFailedError, lambda: medplum.update_resource(made, if_match='W/"1"')))
told("update_with_retry", update_with_retry)
told("patch_resource", patch)
told("vread_resource", lambda: medplum.vread_resource("Patient", made["id"], "1")["name"][0]["family"])
told("clone_resource", refused(NotFoundError, lambda: medplum.clone_resource("Patient", "p")))
told("search_one", lambda: medplum.search_one("Patient", {"family": "Lovell"})["resourceType"])
told("search_resources", lambda: medplum.search_resources("Observation", {"subject": "Patient/p"})["type"])
told("search_resources, return_bundle", lambda: len(medplum.search_resources("Observation", "subject=Patient/p", return_bundle=True)))
told("search_resource_pages", lambda: len(list(medplum.search_resource_pages("Patient", {"_count": "1"}))) > 1)
told("search_with_options", with_options)
told("search_with_options, summary", lambda: medplum.search_with_options("Patient", summary="count", return_bundle=True).get_total() > 0)
told("search_with_options, offset", refused(BadRequestError, lambda: medplum.search_with_options("Patient", offset=1)))
told("search_with_options, at", refused(BadRequestError, lambda: medplum.search_with_options("Patient", at="2020")))
told("execute_batch", lambda: medplum.execute_batch(bundle("batch"))["entry"][0]["resource"]["id"])
told("execute_transaction", lambda: medplum.execute_transaction(bundle("transaction"))["entry"][0]["resource"]["id"])
told("conditional_create_batch", conditional_create_batch)
told("upload_binary, download_binary", binary)
told("create_document_reference", document)
told("expand_valueset", lambda: medplum.expand_valueset(VALUE_SET)["expansion"]["total"])
told("expand_valueset by id, filtered", lambda: len(medplum.expand_valueset(valueset_id="vs", filter="bet", count=5)["expansion"]["contains"]))
told("lookup_concept", lambda: parameter(medplum.lookup_concept("a", SYSTEM), "display")["valueString"])
told("validate_valueset_code", lambda: parameter(medplum.validate_valueset_code(VALUE_SET, code="a", system=SYSTEM), "result")["valueBoolean"])
told("validate_codesystem_code", lambda: parameter(medplum.validate_codesystem_code(SYSTEM, code="none"), "result")["valueBoolean"])
told("translate_concept", lambda: parameter(medplum.translate_concept("a", SYSTEM, "http://a.example/cm"), "result")["valueBoolean"])
told(
    "execute_operation $validate",
    lambda: medplum.execute_operation("Patient", "validate", params={"resourceType": "Patient"})["issue"][0]["severity"],
)
told(
    "execute_operation $evaluate-measure, GET",
    lambda: medplum.execute_operation(
        "Measure", "evaluate-measure", "m", {"periodStart": "2020", "periodEnd": "2021"}, method="GET"
    )["resourceType"],
)
told("execute_bot", lambda: medplum.execute_bot("echo", {"a": 1}))
told("list_bots", lambda: medplum.list_bots()["resourceType"])
told("get('auth/me')", lambda: medplum.get("auth/me") is not None)
told("AsyncMedplumClient", lambda: asyncio.run(read_async()))
told("delete_resource", deleted)
told("read_resource of what is deleted", refused(GoneError, lambda: medplum.read_resource("Patient", made["id"])))
told("read_resource of what is not there", refused(NotFoundError, lambda: medplum.read_resource("Patient", "none")))
told("an unknown search parameter", refused(BadRequestError, lambda: medplum.search_one("Patient", {"none": "1"})))
told("execute_graphql", refused(NotFoundError, lambda: medplum.execute_graphql("{ Patient(id: \"p\") { id } }")))
told("export_ccda", refused(NotFoundError, lambda: medplum.export_ccda("p")))
told("expunge_resource", refused(NotFoundError, lambda: medplum.expunge_resource("Patient", "p")))
told("a wrong token", refused(AuthenticationError, lambda: client("wrong").read_resource("Patient", "p")))
