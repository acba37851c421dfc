/* global FHIR */
// Started with the address of a server, it sends the user to log in; when the user is back, it makes calls.
const started = new URLSearchParams(location.search)

/** What a call gives, or what it says. */
const told = async (call) => {
  try {
    return (await call()) ?? null
  } catch (error) {
    return { error: String(error.message ?? error) }
  }
}

async function calls() {
  const client = await FHIR.oauth2.ready()
  // Providers want to know which client without a secret asks.
  client.environment.options.refreshTokenWithClientId = true
  const result = {
    patient: client.patient.id,
    user: client.user.fhirUser,
    read: await told(() => client.patient.read().then(({ name }) => name?.[0]?.family)),
    observations: await told(() => client.patient.request('Observation').then(({ total }) => total)),
    other: await told(() => client.request('Patient/other')),
    write: await told(() => client.update({ resourceType: 'Patient', id: client.patient.id })),
  }
  const before = client.getState('tokenResponse.access_token')
  const refreshed = await told(() => client.refresh().then(() => true))
  const isRefreshed = before !== client.getState('tokenResponse.access_token')
  return { ...result, refreshed, isRefreshed, again: await told(() => client.patient.read().then(({ name }) => name?.[0]?.family)) }
}

async function begin() {
  const [iss, scope] = [started.get('server'), started.get('scope')]
  if (iss !== null) return FHIR.oauth2.authorize({ clientId: 'app', iss, scope, redirectUri: location.pathname })
  return calls()
}

void begin()
  .catch((error) => ({ error: String(error.message ?? error) }))
  .then((result) => {
    if (result !== undefined) document.getElementById('result').textContent = JSON.stringify(result)
  })
