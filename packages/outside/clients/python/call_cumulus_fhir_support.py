"""Calls a server with the client of the Cumulus project; writes a line `call<TAB>answer` for each call."""

import asyncio

from cumulus_fhir_support import FatalNetworkError, FhirClient

from told import BASE, TOKEN, refused, told


def answered(ask, token=TOKEN):
    """What a coroutine gives that has the client."""

    async def asking():
        async with FhirClient(BASE, ["Patient", "Observation"], bearer_token=token) as client:
            return await ask(client)

    return lambda: asyncio.run(asking())


async def read(client):
    return (await client.request("GET", "Patient/p")).json()["name"][0]["family"]


async def search(client):
    return (await client.request("GET", "Observation?patient=p&_count=1")).json()["total"]


async def streamed(client):
    response = await client.request("GET", "Patient/p", stream=True)
    text = "".join([line async for line in response.aiter_lines()])
    await response.aclose()
    return "Lovell" in text


async def capabilities(client):
    return client.capabilities["fhirVersion"]


async def absent(client):
    await client.request("GET", "Patient/none")


told("request('GET', 'Patient/p')", answered(read))
told("request('GET', 'Observation?patient=p')", answered(search))
told("request, streamed", answered(streamed))
told("capabilities", answered(capabilities))
told("request of what is not there", refused(FatalNetworkError, answered(absent)))
told("a wrong token", refused(FatalNetworkError, answered(read, "wrong")))
