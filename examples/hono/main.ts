import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { createService } from '@fhir-ops-examples/service'

const port = Number(process.env['PORT'] ?? 8080)
const url = `http://127.0.0.1:${port}`
const { handler, token } = await createService(url)

const app = new Hono()
app.get('/', (c) => c.text('the host’s own page'))
app.all('*', (c) => handler(c.req.raw))
serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, () => console.log(`listening on ${url} with token ${token}`))
