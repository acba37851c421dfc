import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { output, started } from './running-example.js'

describe.each(['node-http', 'express', 'koa', 'hono', 'fastify', 'nest'])('the %s example', (name) => {
  test('answers operations and user information, and asks for a token', async () => {
    const { url, headers } = await started(name)
    const expand = `${url}/fhir/R4/ValueSet/$expand?url=http://example.org/all-colours&filter=gre`
    const answer = await fetch(expand, { headers })
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({ expansion: { total: 1, contains: [{ code: 'g' }] } })
    expect((await fetch(expand)).status).toBe(401)
    expect(await (await fetch(`${url}/oauth2/userinfo`, { headers })).json()).toEqual({ sub: 'me' })
  })

  test('takes a body', async () => {
    const { url, headers } = await started(name)
    const answer = await fetch(`${url}/fhir/R4/Patient/p1`, {
      method: 'PUT',
      headers: { ...headers, 'content-type': 'application/fhir+json' },
      body: '{"resourceType":"Patient","id":"p1"}',
    })
    expect(answer.status).toBe(201)
  })
})

test.each(['express', 'koa', 'hono', 'fastify', 'nest'])('the %s example keeps the host’s own pages', async (name) => {
  const { url } = await started(name)
  expect(await (await fetch(url)).text()).toBe('the host’s own page')
})

test.each(['node-http', 'express', 'koa'])('the %s example answers what is not HTTP as it answers everything', async (name) => {
  const { url } = await started(name)
  const socket = connect(Number(new URL(url).port), '127.0.0.1').end('no HTTP\r\n\r\n')
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 Bad Request\r\nX-Content-Type-Options: nosniff\r\n/)
})

test('the upstream example reads from the other server and works here', async () => {
  const upstream = await started('node-http')
  const { url, headers } = await started('upstream-proxy', { UPSTREAM: `${upstream.url}/fhir/R4`, UPSTREAM_TOKEN: upstream.token })
  const answer = await fetch(`${url}/fhir/R4/ValueSet/$expand?url=http://example.org/all-colours`, { headers })
  expect(await answer.json()).toMatchObject({ expansion: { total: 2 } })
})

test('the tenants example keeps tenants apart', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fhir-ops-tenants-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const { url, headers } = await started('tenants', { FILE: join(folder, 'tenants.db') })
  const expand = '/fhir/R4/ValueSet/$expand?url=http://example.org/wards'
  expect(await (await fetch(`${url}${expand}`, { headers })).json()).toMatchObject({ expansion: { contains: [{ code: 'female' }] } })
  const body = JSON.stringify({ resourceType: 'Patient', id: 'p' })
  const stored = await fetch(`${url}/fhir/R4/Patient/p`, {
    method: 'PUT',
    headers: { ...headers, 'content-type': 'application/fhir+json' },
    body,
  })
  expect(stored.status).toBe(201)
  expect((await fetch(`${url.replace('north', 'south')}${expand}`, { headers })).status).toBe(401)
  expect((await fetch(url.replace('north', 'east'))).status).toBe(404)
})

test('the in-process example prints a translation and an expansion', async () => {
  expect(await output('in-process')).toBe("true [ 'female' ]\n1 [ 'female' ]\n")
})
