import { context, metrics, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor, type ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { createContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import type { Storage } from 'fhir-ops/storage'
import { observedStorage } from 'fhir-ops/telemetry'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { fhirHeaders, send, startServer, type Reply, type RunningServer } from './running-server.js'

const spans = new InMemorySpanExporter()
const measurements = new InMemoryMetricExporter(AggregationTemporality.DELTA)
const reader = new PeriodicExportingMetricReader({ exporter: measurements, exportIntervalMillis: 3_600_000 })
let running: RunningServer
let isDown = false

beforeAll(async () => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }))
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }))
  const telemetry = { tracer: trace.getTracer('fhir-ops'), meter: metrics.getMeter('fhir-ops') }
  const memory = memoryStorage()
  const failing: Storage = {
    ...memory,
    read: async (type, id) => (isDown ? Promise.reject(new Error('secret of the driver')) : memory.read(type, id)),
  }
  const storage = observedStorage(failing, telemetry)
  running = await startServer({ storage, context: createContext({ storage }), telemetry })
})
beforeEach(async () => {
  isDown = false
  await reader.forceFlush()
  spans.reset()
  measurements.reset()
})
afterAll(async () => {
  await running.stop()
  await reader.shutdown()
  for (const api of [context, trace, metrics]) api.disable()
})

const get = (path: string): Promise<Reply> => send(`${running.base}${path}`, { headers: fhirHeaders(running.token) })
const shown = ({ name, attributes, status }: ReadableSpan): unknown => [name, attributes, status.code]

/** Points of an instrument: attributes, and the number of values or the sum. */
async function pointsOf(name: string): Promise<unknown[]> {
  await reader.forceFlush()
  const all = measurements.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics))
  return all
    .filter(({ descriptor }) => descriptor.name === name)
    .flatMap(({ dataPoints }) => dataPoints.map(({ attributes, value }) => [attributes, typeof value === 'number' ? value : value.count]))
}

describe('OpenTelemetry', () => {
  it('gets a span of each request, with those of the storage below it', async () => {
    const reply = await get('/fhir/R4/Patient/1?_pretty=true')
    const [storage, request] = ['storage.read', 'GET /fhir/R4/:type/:id'].map((asked) =>
      spans.getFinishedSpans().find(({ name }) => name === asked),
    )
    expect([storage, request].map((span) => span && shown(span))).toEqual([
      ['storage.read', { 'db.operation.name': 'read', 'fhir.type': 'Patient' }, 0],
      [
        'GET /fhir/R4/:type/:id',
        {
          'http.request.method': 'GET',
          'http.route': '/fhir/R4/:type/:id',
          'http.response.status_code': 404,
          'error.type': 'not-found',
          'fhir_ops.request_id': reply.headers['x-request-id'],
        },
        0,
      ],
    ])
    expect(storage?.parentSpanContext?.spanId).toBe(request?.spanContext().spanId)
    expect(request?.parentSpanContext).toBeUndefined()
  })

  it('hangs its spans below that of the host', async () => {
    await trace.getTracer('host').startActiveSpan('host', async (host) => {
      await running.handler(new Request(`${running.base}/healthz`))
      host.end()
      expect(spans.getFinishedSpans().find(({ name }) => name === 'GET /healthz')?.parentSpanContext?.spanId).toBe(
        host.spanContext().spanId,
      )
    })
  })

  it('is told of failures by their code, and of nothing else', async () => {
    isDown = true
    expect((await get('/fhir/R4/Patient/secret-id?x=secret')).status).toBe(503)
    const finished = spans.getFinishedSpans()
    expect(finished.filter(({ status }) => status.code === 2).map(({ name, attributes }) => [name, attributes['error.type']])).toEqual([
      ['storage.read', 'unforeseen'],
      ['GET /fhir/R4/:type/:id', 'unforeseen'],
    ])
    expect(JSON.stringify(finished.map(({ name, attributes, events }) => [name, attributes, events]))).not.toContain('secret')
  })

  it('counts and measures requests and calls of the storage', async () => {
    await Promise.all([
      get('/healthz'),
      get('/healthz'),
      get('/fhir/R4/Patient/1'),
      send(`${running.base}/healthz`, { method: 'PROPFIND' }),
    ])
    const described = (method: string, status: number, route: string): object => ({
      'http.request.method': method,
      'http.response.status_code': status,
      'http.route': route,
    })
    expect(await pointsOf('fhir_ops.request.duration')).toEqual(
      expect.arrayContaining([
        [described('GET', 200, '/healthz'), 2],
        [{ ...described('GET', 404, '/fhir/R4/:type/:id'), 'error.type': 'not-found' }, 1],
        [expect.objectContaining({ 'http.request.method': '_OTHER', 'http.route': '/healthz' }), 1],
      ]),
    )
    expect(await pointsOf('fhir_ops.request.active')).toEqual([[{}, 0]])
    expect(await pointsOf('fhir_ops.storage.duration')).toContainEqual([{ 'db.operation.name': 'read', 'fhir.type': 'Patient' }, 1])
  })
})
