import fastify from 'fastify'
import { configureServer, toNodeListener } from '@fhir-ops/handler/node'
import { createService } from '@fhir-ops-examples/service'

const port = Number(process.env['PORT'] ?? 8080)
const url = `http://127.0.0.1:${port}`
const { handler, token } = await createService(url)
const listener = toNodeListener(handler)

const app = fastify()
app.get('/', async () => 'the host’s own page')
// Before Fastify's own parsers, which take JSON only: the handler reads bodies itself, after it has seen the token.
app.addHook('onRequest', (request, reply, next) => {
  if (!/^\/(?:fhir|oauth2|auth)\//.test(request.url)) return next()
  reply.hijack()
  listener(request.raw, reply.raw)
})
configureServer(app.server)
await app.listen({ port, host: '127.0.0.1' })
console.log(`listening on ${url} with token ${token}`)
